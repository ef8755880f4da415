"""Detects whether our own connection is down (C-16): a host's failure is believed only while others answer.

A failure is held back until another host has answered since, or a witness does (``checking/online``); failures during
an outage of our own do not count, and while somebody answers for all hosts nothing does. A failure of a name needs an
answer by name, and none counts while name servers deny the name of a canary.
"""

import asyncio
import errno
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from typing import Final

from weboid.checking.online import CERTIFICATE, LOGIN, LOGIN_WANTED, Online, Reach
from weboid.checking.turns import NotAsked
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.observe.scheme_switch import BAD_CERTIFICATES
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import NO_CODE, Status
from weboid.core.url.hosts import is_ip, registrable_domain
from weboid.core.url.urls import Url
from weboid.core.verdict.judge import is_host_failure
from weboid.errors import WeboidError
from weboid.net.dns import LookupFailed

log = logging.getLogger(__name__)

SUSPECTS: Final = 20
"""Hosts that fail in a row before witnesses are asked, even while other checks are still under way."""
CANARIES: Final = 8
"""Number of watched URLs that answered lately and are kept as witnesses: not all of them die between two rounds."""

ALIKE: Final = 4
"""So many domains that answer from one place, among the newest answers, are suspicious."""
NEWEST: Final = 40

_DENIED_S: Final = 60.0
"""Seconds for which it is known whether name servers deny a canary, while names fail."""

_NAMES: Final = frozenset({Status.DNS_ERROR, Status.DNS_GONE})
_NO_ANSWERS: Final = BAD_CERTIFICATES | {Reason.NOT_PUBLIC, Reason.UNSAFE}
"""Doubts that are not the answer of a server to HTTP: nothing is proven by them."""
_STRANGERS: Final = frozenset(
    {Reason.CERTIFICATE_WRONG_HOST, Reason.CERTIFICATE_SELF_SIGNED, Reason.CERTIFICATE_UNKNOWN_ISSUER}
)

Ask = Callable[[CheckRequest], Awaitable[Observation]]
"""Makes one check; raises NotAsked, and errors of our own."""


def is_answer(seen: Observation) -> bool:
    """Returns whether a check shows that servers can be reached."""
    if seen.not_http:
        return seen.outcome is not Outcome.FAILING and seen.reason not in _NO_ANSWERS
    if is_host_failure(seen):
        return False
    return seen.on_other_host or not (seen.reason in _NO_ANSWERS or _is_doubt_without_answer(seen))


def is_unasked(host: str, seen: Observation) -> bool:
    """Returns whether rules of our own forbid to ask, which holds without any network: of an address or a port, say."""
    by_name = seen.reason is Reason.NOT_PUBLIC and not is_ip(host)
    return _is_doubt_without_answer(seen) and seen.reason not in BAD_CERTIFICATES and not by_name


def _is_doubt_without_answer(seen: Observation) -> bool:
    return seen.outcome is Outcome.DOUBTFUL and seen.http == NO_CODE


class Lookalikes:
    """The places of the newest answers of a round: unrelated hosts behind a captive portal answer from one (C-16).

    ``checking/online`` finds out whether it is one. A place is suspected by many domains only, and not again once it
    was cleared.
    """

    def __init__(self) -> None:
        self._newest: deque[tuple[str, str]] = deque(maxlen=NEWEST)
        self._cleared: set[str] = set()

    def suspected(self, host: str, seen: Observation) -> str | None:
        """The place that an answer makes suspicious, as in ``checking/online``; None if it does not."""
        place = _place(host, seen)
        if place is None or place in self._cleared:
            self._newest.append(("", ""))
            return None
        self._newest.append((registrable_domain(host), place))
        domains = {domain for domain, at in self._newest if at == place}
        return place if len(domains) >= ALIKE or seen.http == LOGIN_WANTED else None

    def clear(self, place: str) -> None:
        """Never suspects this place again."""
        self._cleared.add(place)


def _place(host: str, seen: Observation) -> str | None:
    if seen.http == LOGIN_WANTED:
        return LOGIN
    if seen.reason in _STRANGERS:
        return CERTIFICATE
    if not isinstance(seen.target, Url):
        return None
    there = registrable_domain(seen.target.host)
    return None if there == registrable_domain(host) else there


class Connectivity:
    """Makes checks and watches our own connection, for one round, say.

    Witnesses are those of `online` and the URLs that answered last. They are asked when no check is under way that may
    bring an answer, or when `suspects` hosts have failed in a row. `down` is called once our connection is found down.
    """

    def __init__(
        self, ask: Ask, online: Online, *, suspects: int = SUSPECTS, down: Callable[[], None] = lambda: None
    ) -> None:
        self._ask = ask
        self._online = online
        self._limit = suspects
        self._down = down
        self._lately: deque[str] = deque(maxlen=CANARIES)
        self._suspects: set[str] = set()
        self._waiting: list[tuple[asyncio.Future[bool], bool]] = []
        self._asking = 0
        self._deciding: asyncio.Task[None] | None = None
        self._lookalikes = Lookalikes()
        self._clearing = asyncio.Lock()
        self._denying = asyncio.Lock()
        self._denied_until = float("-inf")
        self.denied = ""
        """The canary whose name name servers denied when names failed last; empty if none."""
        self.reach = Reach.ONLINE
        """The last finding about our connection."""
        self.is_down = False
        """Set permanently when our connection is found to be down."""

    @property
    def explanation(self) -> str:
        return self._online.explanation_of(self.reach)

    @property
    def why_names_are_doubted(self) -> str:
        """The lie of name servers, for an operator; empty if none is known."""
        return self.denied and (
            f"name servers say that {self.denied} does not exist, which always answers: failures of names count "
            "against no link. Look at WEBOID_NET_DNS or resolv.conf; if it is really gone, take it out of "
            "WEBOID_CRAWL_CANARIES"
        )

    def know(self, lately: Iterable[str]) -> None:
        """Adds witnesses: URLs that answered when they were last checked."""
        self._lately.extend(lately)

    async def look(self) -> None:
        """Finds out whether somebody answers for all hosts; if so, we are down."""
        if not self.is_down and await self._online.is_captive(tuple(self._lately)):
            self._give_up(Reach.CAPTIVE)

    async def check(self, request: CheckRequest, ask: Ask | None = None, *, raises: bool = False) -> Observation | None:
        """The observation of one check, made by `ask` if that is given.

        None if nothing was requested, or if the result may be our own fault. With `raises` an exception that nobody
        expects (not of our sockets, name servers or store) is raised instead of being logged here.
        """
        seen, is_of_name = None, False
        self._asking += 1
        try:
            seen = await (ask or self._ask)(request)
        except NotAsked as why:
            log.debug("not checked now: %s", why)
            return None
        except Exception as error:
            if raises and not isinstance(error, OSError | WeboidError):
                raise
            # Failures of our own sockets and name servers need no stack trace; bugs do.
            log.warning("could not check %r: %r", request.url, error, exc_info=not isinstance(error, OSError))
            is_of_name = isinstance(error, LookupFailed)
            if not is_of_name and getattr(error, "errno", None) != errno.ENETDOWN:
                return None
        finally:
            self._asking -= 1
            self._consider()
        host = request.url.split("/", 3)[2]
        host = host if host.startswith("[") else host.partition(":")[0]
        if seen is None:
            await self._is_believed(host, of_name=is_of_name)
            return None
        place = self._lookalikes.suspected(host, seen)
        if place or self._clearing.locked():
            await self._clear(place)
        if self.reach is Reach.CAPTIVE:
            return None
        # A redirect may lead to a name that fails: then the host has answered, and the name is doubted all the same.
        of_name = seen.status in _NAMES
        if is_answer(seen):
            by_name = not is_ip(host.strip("[]"))
            # A host that requested a pause is not used as a witness.
            self._answered(None if seen.retry_after_s else request.url, by_name=by_name)
            if not of_name or (by_name and not await self._is_denied()):
                return seen
        if is_unasked(host, seen):
            return seen
        if of_name and await self._is_denied():
            return None
        return seen if await self._is_believed(host, of_name=of_name) else None

    def _answered(self, url: str | None, *, by_name: bool) -> None:
        """Ends all suspicion after an answer of any kind; `url` is None if it must not be used as a witness.

        One by an address proves nothing of name servers.
        """
        if url:
            self._lately.append(url)
        if by_name:
            self._suspects.clear()
        self._settle(Reach.ONLINE, with_names=by_name)

    async def _is_denied(self) -> bool:
        """Returns whether name servers deny the name of a canary, so that no name that fails is evidence."""
        async with self._denying:
            if monotonic() >= self._denied_until:
                self.denied = await self._online.denied()
                self._denied_until = monotonic() + _DENIED_S
        return bool(self.denied)

    async def _clear(self, place: str | None) -> None:
        """Finds out whether a place is that of somebody who answers for all hosts; waits while that is being done."""
        async with self._clearing:
            if place and not self.is_down:
                if await self._online.is_captive(tuple(self._lately), suspected=place):
                    self._give_up(Reach.CAPTIVE)
                self._lookalikes.clear(place)

    async def _is_believed(self, host: str, *, of_name: bool) -> bool:
        """Returns whether a failure is the host's own. Waits until another host or a witness answers (D-11)."""
        if self.is_down:
            return False
        self._suspects.add(host)
        verdict: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((verdict, of_name))
        self._consider()
        return await verdict

    async def close(self) -> None:
        """Cancels a decision under way."""
        if self._deciding:
            self._deciding.cancel()
            await asyncio.gather(self._deciding, return_exceptions=True)

    def _consider(self) -> None:
        """Starts a decision if no check under way can bring an answer, or if too many hosts have failed in a row."""
        if self._waiting and not self._deciding and (not self._asking or len(self._suspects) >= self._limit):
            self._deciding = asyncio.create_task(self._decide())

    async def _decide(self) -> None:
        reach = Reach.OFFLINE
        try:
            reach = await self._online.reach(tuple(self._lately), tuple(self._suspects))
        except Exception:
            log.exception("could not find out whether we are online")
        finally:
            self._deciding = None
        believed = all(self._online.believes(reach, of_name=of_name) for _, of_name in self._waiting)
        if believed and reach is not Reach.CAPTIVE:
            self._suspects.clear()
        else:
            self._give_up(reach)
        self._settle(reach)

    def _give_up(self, reach: Reach) -> None:
        if not self.is_down:
            self.is_down = True
            self.reach = reach
            log.debug("nothing is concluded: %s", self.explanation)
            self._down()
            if reach is Reach.CAPTIVE:
                self._settle(reach)

    def _settle(self, reach: Reach, *, with_names: bool = True) -> None:
        waiting, self._waiting = self._waiting, []
        for verdict, of_name in waiting:
            if of_name and not with_names:
                self._waiting.append((verdict, of_name))
            elif not verdict.done():
                verdict.set_result(self._online.believes(reach, of_name=of_name))
