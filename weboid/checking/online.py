"""Finds out whether we are online by asking others: canaries, the APIs of the watched wikis, name servers (C-16).

``checking/connectivity`` holds failures back until that is known. A witness is known by what only it can answer.
"""

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from hashlib import blake2b
from string import ascii_lowercase
from time import monotonic
from typing import Final

from weboid.core.observe.observation import RawResponse
from weboid.core.observe.scheme_switch import BAD_CERTIFICATES
from weboid.core.record.reasons import Reason
from weboid.core.url.hosts import is_ip, registrable_domain
from weboid.core.url.urls import parse
from weboid.net.dns import NameAnswer

log = logging.getLogger(__name__)

ASKED_FIRST: Final = 3
"""So many witnesses are asked at first, all others only if none of these answers as itself."""
ASKED: Final = 12
"""Witnesses of one kind that are asked at most."""
NAMES_ASKED: Final = 3
"""Hosts whose names are looked up to see whether name servers know anything at all."""
LOOK_S: Final = 300.0
"""Seconds between two looks whether somebody answers for all hosts."""
LOGIN_WANTED: Final = 511
"""The code by which a network says that somebody has to log in first (RFC 6585)."""

_LETTERS: Final = 20
_ROOT: Final = "."
_SITEINFO: Final = "?action=query&meta=siteinfo&format=json&formatversion=2"
CERTIFICATE: Final = "a certificate of another host"
LOGIN: Final = "a login to the network"

Fetch = Callable[[str], Awaitable[RawResponse]]
"""The answer to GET of a URL in normal form, redirects followed, certificates verified; raises errors of our own."""
LookUp = Callable[[str], Awaitable[NameAnswer]]
"""Asks name servers for a name now, past all caches; never raises for their failures."""


class Reach(StrEnum):
    """The state of our own connection, as far as it can be known."""

    ONLINE = "online"
    """A server has answered as itself, or at least nothing says that another one answered in its place."""
    NAMES = "names"
    """Name servers answer and know names, but no server does."""
    CONTACT = "contact"
    """A server has answered by its address, but no name server says anything."""
    OFFLINE = "offline"
    CAPTIVE = "captive"
    """Somebody on the way answers for all hosts, such as a network that wants a login first."""


class Voice(Enum):
    """The answer of a witness: as only it can, in some way, or another server in its place, or nobody."""

    ITSELF = "itself"
    SOMEHOW = "somehow"
    OTHER = "other"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Witness:
    """A URL that answers unless we are cut off. `is_ours` = only one of the watched links, that answered lately."""

    url: str
    is_api: bool = False
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer: whose voice it is, from which `place` if not the host's own, and the `likeness` of what it says."""

    voice: Voice
    place: str = ""
    likeness: bytes = b""
    is_ours: bool = False
    by_name: bool = True
    """Its name was looked up, so that name servers can be reached, too."""


def heard_of(witness: Witness, answer: RawResponse | None) -> Heard:
    """Interprets an answer to a witness's URL; None = nobody answered."""
    place = place_of(answer) if answer else ""
    if answer is None or (answer.code is None and not answer.hops and not place):
        return Heard(Voice.NOBODY)
    likeness = blake2b(b"%d " % (answer.code or 0) + answer.body, digest_size=8).digest()
    by_name = not is_ip(parse(witness.url).host)
    # A certificate was verified: it is the host itself, wherever it sends us.
    is_itself = place != CERTIFICATE and witness.url.startswith("https:")
    if is_itself or (witness.is_api and not place and _is_siteinfo(answer)):
        return Heard(Voice.ITSELF, by_name=by_name)
    return Heard(Voice.OTHER if place else Voice.SOMEHOW, place, likeness, witness.is_ours, by_name)


def place_of(answer: RawResponse) -> str:
    """From where an answer comes if not from the URL's own domain: another domain, or what gives a stranger away."""
    if answer.fault in BAD_CERTIFICATES and answer.fault is not Reason.CERTIFICATE_EXPIRED and not answer.hops:
        return CERTIFICATE
    if answer.code == LOGIN_WANTED:
        return LOGIN
    asked, final = (registrable_domain(parse(url).host) for url in (answer.url, answer.final))
    return final if final != asked else ""


def _is_siteinfo(answer: RawResponse) -> bool:
    """Returns whether this is what a MediaWiki says of itself; a long one is cut off."""
    if answer.code != 200:
        return False
    try:
        found = json.loads(answer.body)
    except ValueError:
        return answer.body.startswith(b"{") and b'"generator":"MediaWiki' in answer.body
    return isinstance(found, dict) and "general" in found.get("query", {})


def reach_of(
    heard: Iterable[Heard], stranger: Heard | None, names: Reach, suspected: str = "", *, deny_all: bool = False
) -> Reach:
    """Concludes from all answers together.

    `stranger` is what a host that does not exist has answered, `names` the Reach by name servers alone, `suspected`
    the place at which many watched hosts seem to have been met (D-102). `deny_all`: name servers deny all.
    """
    voices = [each for each in heard if each.voice is not Voice.NOBODY]
    if any(each.voice is Voice.ITSELF for each in voices):
        return Reach.ONLINE if names is Reach.NAMES else Reach.CONTACT
    alike = [each for each in voices if stranger and _is_alike(each, stranger)]
    if met := [each for each in voices if not each.place and each not in alike]:
        return Reach.CONTACT if deny_all and not any(each.by_name for each in met) else Reach.ONLINE
    at = [each.place for each in voices if not each.is_ours]
    is_one_place = any(place and (place == suspected or at.count(place) > 1) for place in at)
    is_strangers = any(each.place or not each.is_ours for each in alike)
    is_everywhere = bool(suspected) and all(
        each.place == suspected for each in [*voices, *([stranger] if stranger else [])]
    )
    if is_one_place or is_strangers or (is_everywhere and (voices or stranger)):
        return Reach.CAPTIVE
    return Reach.ONLINE if len(voices) > len(alike) else names


def _is_alike(heard: Heard, stranger: Heard) -> bool:
    if heard.place or stranger.place:
        return heard.place in (stranger.place, CERTIFICATE)
    return heard.likeness == stranger.likeness


def _made_up() -> str:
    return f"{''.join(random.choices(ascii_lowercase, k=_LETTERS))}.com"


class Online:
    """Asks the witnesses: canaries that always answer, and the APIs (``api.php``) of wikis."""

    def __init__(
        self,
        fetch: Fetch,
        look_up: LookUp,
        *,
        canaries: Sequence[str] = (),
        apis: Sequence[str] = (),
        http_port: int = 80,
    ) -> None:
        self._fetch = fetch
        self._look_up = look_up
        self._witnesses = [
            *(Witness(str(parse(url))) for url in canaries),
            *(Witness(str(parse(api + _SITEINFO)), is_api=True) for api in apis),
        ]
        self._http_port = http_port
        self._free_until = float("-inf")

    def believes(self, reach: Reach, *, of_name: bool) -> bool:
        """Returns whether a failure to reach a host is the host's own; `of_name` = it is one of its name.

        Where there is no witness whose silence would say anything, name servers that answer suffice (D-100).
        """
        match reach:
            case Reach.ONLINE:
                return True
            case Reach.NAMES:
                return of_name or not self._witnesses
            case Reach.CONTACT:
                return not of_name
            case Reach.OFFLINE | Reach.CAPTIVE:
                return False

    async def reach(self, lately: Iterable[str] = (), hosts: Sequence[str] = (), suspected: str = "") -> Reach:
        """Finds out the state now. `lately`: watched URLs that answered when they were last checked.

        `hosts` are some that cannot be reached: if name servers know their names, that is a real answer.
        """
        made_up = _made_up()
        asking = asyncio.create_task(self._names(made_up, hosts))
        try:
            heard: list[Heard] = []
            for witnesses in self._turns(lately):
                heard += await self._heard(witnesses)
                if found := [each for each in heard if each.voice is Voice.ITSELF]:
                    if any(each.by_name for each in found):
                        return Reach.ONLINE
                    break
            names, of_made_up = await asking
            stranger = await self._stranger(made_up) if of_made_up is NameAnswer.ADDRESSES else None
            deny_all = names is Reach.OFFLINE and of_made_up is NameAnswer.NO_NAME
            return reach_of(heard, stranger, names, suspected, deny_all=deny_all)
        finally:
            asking.cancel()

    async def is_captive(self, lately: Iterable[str] = (), suspected: str = "") -> bool:
        """Returns whether somebody answers for all hosts; as a rule one look-up every five minutes suffices to know."""
        if not suspected:
            if monotonic() < self._free_until:
                return False
            if await self._look_up(_made_up()) is not NameAnswer.ADDRESSES:
                self._free_until = monotonic() + LOOK_S
                return False
        return await self.reach(lately, suspected=suspected) is Reach.CAPTIVE

    async def denied(self) -> str:
        """The host of a canary (without any, of a wiki's API) whose name does not exist as name servers say now.

        Empty if there is none. Asked past all caches: links may work by address, or by a name that is remembered.
        """
        named = [witness for witness in self._witnesses if not is_ip(parse(witness.url).host)]
        chosen = [witness for witness in named if not witness.is_api] or named
        hosts = list(dict.fromkeys(parse(witness.url).host for witness in chosen))[:ASKED]
        answers = await asyncio.gather(*map(self._look_up, hosts))
        return next((host for host, answer in zip(hosts, answers, strict=True) if answer is NameAnswer.NO_NAME), "")

    def explanation_of(self, reach: Reach) -> str:
        """Explains to an operator what is wrong, and what to do."""
        named = ", ".join(sorted({parse(witness.url).host for witness in self._witnesses})[:ASKED_FIRST])
        wanted = (
            "nothing but the watched links themselves could show more: set WEBOID_CRAWL_CANARIES to some https URLs of "
            "different hosters that always answer"
        )
        match reach:
            case Reach.CAPTIVE:
                witnesses = f", {named} among them" if named else ""
                return (
                    f"another server answers in place of all hosts{witnesses}. If this network wants a login, log in "
                    "there, or use another network"
                )
            case Reach.CONTACT:
                return (
                    "servers can be reached, but no name server knows any name; look at WEBOID_NET_DNS or resolv.conf"
                )
            case Reach.NAMES:
                witnesses = f", not even {named}" if named else ""
                return f"name servers answer, but no server does{witnesses}; look at firewall and routes"
            case _ if self._witnesses:
                return f"neither name servers nor {named} answer; look at this machine's network"
            case _:
                return f"no host and no name server answers; look at this machine's network. If that is well, {wanted}"

    def _turns(self, lately: Iterable[str]) -> list[list[Witness]]:
        own = random.sample(self._witnesses, min(ASKED, len(self._witnesses)))
        watched = [Witness(str(parse(url)), is_ours=True) for url in dict.fromkeys(lately)][:ASKED]
        return [turn for turn in (own[:ASKED_FIRST], own[ASKED_FIRST:] + watched) if turn]

    async def _heard(self, witnesses: Sequence[Witness]) -> list[Heard]:
        """Asks these witnesses; no more is waited for once one answers as itself."""
        tasks = [asyncio.create_task(self._asked(witness)) for witness in witnesses]
        heard: list[Heard] = []
        try:
            for answer in asyncio.as_completed(tasks):
                heard.append(await answer)
                if heard[-1].voice is Voice.ITSELF:
                    break
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return heard

    async def _asked(self, witness: Witness) -> Heard:
        try:
            return heard_of(witness, await self._fetch(witness.url))
        except Exception as error:
            log.info("could not ask the witness %r: %r", witness.url, error)
            return Heard(Voice.NOBODY)

    async def _names(self, made_up: str, hosts: Sequence[str]) -> tuple[Reach, NameAnswer]:
        """The Reach by name servers alone, and their answer for a name that nobody has.

        A name that does not exist must be unknown, which nobody can know without asking others, and one that exists
        must be known: where no name at all is, the one that answers is no name server of the world's (D-101).
        """
        names = [host for host in hosts if not is_ip(host)][:NAMES_ASKED]
        answer, *others = await asyncio.gather(*map(self._look_up, (made_up, _ROOT, *names)))
        if answer is NameAnswer.ADDRESSES:
            return Reach.NAMES, answer
        knows = NameAnswer.ADDRESSES in others or NameAnswer.NO_ADDRESS in others
        return Reach.NAMES if answer is NameAnswer.NO_NAME and knows else Reach.OFFLINE, answer

    async def _stranger(self, made_up: str) -> Heard | None:
        """Asks a host that does not exist; None if it does not answer."""
        port = "" if self._http_port == 80 else f":{self._http_port}"
        heard = await self._asked(Witness(f"http://{made_up}{port}/"))
        return None if heard.voice is Voice.NOBODY else heard
