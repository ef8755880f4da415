"""Checks one URL with all that may belong to a check: the other scheme, a referrer, the host's face (C-1 … C-11).

``net`` sends single requests and follows redirects; ``crawl/visit`` and ``core`` judge the results of several checks.
Every additional request waits for its host's turn and obeys robots.txt, and its failure does not affect the check.
"""

import asyncio
import logging
from collections.abc import Awaitable, Collection
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weboid.checking.other_places import OtherPlaces
from weboid.checking.stop_list import StopList
from weboid.checking.turns import LocalTurns, NotAsked
from weboid.config import CrawlConfig
from weboid.core.document.document import Document
from weboid.core.document.face import NO_FACE, Face, Kind, Look, Seen
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.facing import Asking, Likeness, answer_of, face_suspicion, likeness_of
from weboid.core.observe.failing_codes import REFUSING, calls_for_second_asking, takes_place
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.observe.recognition import new_portrait
from weboid.core.observe.robots import Robots
from weboid.core.observe.scheme_switch import (
    BAD_CERTIFICATES,
    as_switched,
    calls_for_switch,
    lives,
    switch_of,
    switched,
)
from weboid.core.record.reasons import Outcome, Reason, code_reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status, status_of
from weboid.core.url.archives import BARRED_HOSTS
from weboid.core.url.farms import Farm
from weboid.core.url.made_up import MadeUp, Probes, probes_of
from weboid.core.url.urls import Url, front_page, parse, parse_again
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.loop_lag import LATE_S, LoopLag
from weboid.net.exchange import Sending
from weboid.net.fetch import Manner, fetch_answer
from weboid.net.ftp import fetch_ftp
from weboid.net.guard import NotPublic
from weboid.net.outbound import Outbound
from weboid.net.robots import RobotsCache
from weboid.net.sftp import fetch_sftp

log = logging.getLogger(__name__)

BY_TIME: Final = frozenset({Reason.DNS_ERROR, Reason.RESET, Reason.TIMEOUT})
"""Failures that a server, a name server or our own clock causes for somebody who is too slow; 408 is a timeout, too."""
BEFORE_END_S: Final = 10.0
"""A lag in the last so many seconds of a check may have caused its failure; an earlier one was followed by others
(D-93)."""
FACES: Final = 20_000
"""Hosts whose faces are kept, at most; the least recently used are dropped first. One takes a kilobyte or two."""
_DELAY_LIMIT_S: Final = 120.0
"""If a robots.txt demands longer pauses, the other URLs of its host are checked on other days."""
_BACK_OFF_LIMIT_S: Final = 60.0
_PASSED: Final = 10_000
"""Hosts that redirects have led to and that are remembered."""
_HTTP: Final = ("http:", "https:")
_OTHER_PROTOCOLS: Final = {"ftp": fetch_ftp, "ftps": fetch_ftp, "sftp": fetch_sftp}
_Page = tuple[Seen, Probes]
_Result = TypeVar("_Result")


class CheckResult(Struct, frozen=True):
    """The result of a check; `answer` is the response behind it, None for protocols other than HTTP.

    `signals` say why a comparison led to a doubt: stable words, as in Suspicion.
    """

    seen: Observation
    answer: RawResponse | None = None
    signals: tuple[str, ...] = ()


@dataclass(slots=True)
class _KeptFace:
    """The face of one host. It is learned by one check at a time, so that no answer is asked for twice."""

    face: Face = NO_FACE
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Checker:
    """Checks URLs over one session. In strict mode, URLs that robots.txt disallows are not requested at all.

    With `lag`, rounds get no failures by time from a time in which our own event loop lagged; where time is simulated,
    the lag says nothing. With `keeps_faces`, the faces of hosts are kept from check to check, whatever the requests
    say: for runs without a store (C-11). No redirect is followed to a host of `own_farms` (C-13).
    """

    def __init__(
        self,
        session: Outbound,
        turns: LocalTurns,
        config: CrawlConfig,
        *,
        lag: LoopLag | None = None,
        keeps_faces: bool = False,
        own_farms: Collection[Farm] = (),
    ) -> None:
        self._session = session
        self._own_domains = frozenset[str]().union(*(farm.domains for farm in own_farms))
        self._turns = turns
        self._robots = RobotsCache(session, self._foreign_turn)
        self._stop_list = StopList((*config.stop, *BARRED_HOSTS), config.stop_file)
        self._passed: BoundedMap[str, str] = BoundedMap(_PASSED)
        """Hosts that redirects have led to, with a URL there; their rules are not known yet."""
        self._strict = config.strict
        self._lag = lag if session.now is monotonic else None
        self._other_places = OtherPlaces(self._asked_politely, self.may_look, session.now)
        self._faces: BoundedMap[str, _KeptFace] | None = BoundedMap(FACES) if keeps_faces else None

    async def check(self, request: CheckRequest) -> CheckResult:
        """The result of a check; raises NotAsked if nothing was requested (C-15, C-17), and errors of our own."""
        url = request.parts or parse_again(request.url)
        if self._stop_list.holds(url.host):
            raise NotAsked(url.host)
        if url.scheme in _OTHER_PROTOCOLS:
            return CheckResult(await _OTHER_PROTOCOLS[url.scheme](self._session, request.url, turn=self.turn))
        if self._strict:
            robots = await self._rules_of(request.url)
            # A host that cannot be reached has forbidden nothing, and a dead host must be found dead.
            if robots.is_reached and not robots.allows(request.url):
                raise NotAsked(request.url)
        if request.follows:  # Not before the first URL of a visit (D-16).
            rules = await self._optional(self._rules_of(request.url))
            if rules and rules.delay_s and rules.delay_s > _DELAY_LIMIT_S:
                raise NotAsked(url.host)
        finding = await self._under_both_schemes(url, request)
        await self._back_off(url, finding.seen)
        return finding

    async def ask(self, request: CheckRequest) -> Observation:
        """The observation alone, for rounds; raises NotAsked as well if a failure may be due to our own slowness."""
        begun = monotonic()
        seen = (await self.check(request)).seen
        if self._lag and seen.reason in BY_TIME:
            # What came too late, we may have read too late.
            late_s = self._lag.worst_since(max(begun, monotonic() - BEFORE_END_S))
            if late_s > LATE_S:
                raise NotAsked(f"{request.url}: {seen.reason.word} while this program was {late_s:.1f} s late")
        return seen

    async def fetch(self, url: str) -> RawResponse:
        """The plain answer of an HTTP URL in normal form, of a witness, say; raises like `check`."""
        return await fetch_answer(self._session, url, turn=self._plain_turn, get_only=True)

    async def find_address(self, host: str) -> str | None:
        """The address that a host would be requested at; None if it has none, or the host is not requested."""
        return None if self._stop_list.holds(host) else await self._session.resolver.find_address(host)

    async def turn(self, host: str) -> Sending | None:
        """Waits for a host's turn; raises NotPublic for one on the stop list or of an own farm, and NotAsked if the
        wait is too long.

        Where a redirect has led before, robots.txt is read first: one request for all that will come (C-15).
        """
        if (there := self._passed.take(host)) is not None:
            await self._optional(self._rules_of(there))
        return await self._foreign_turn(host)

    def _is_own(self, host: str) -> bool:
        while self._own_domains and host and host not in self._own_domains:
            host = host.partition(".")[2]
        return bool(host and self._own_domains)

    def _foreign_turn(self, host: str) -> Awaitable[Sending | None]:
        """The same without reading robots.txt first: where that redirects in a circle, it would wait for itself."""
        if self._is_own(host):
            raise NotPublic
        return self._plain_turn(host)

    def _plain_turn(self, host: str) -> Awaitable[Sending | None]:
        """The same for a host of an own farm as well."""
        if self._stop_list.holds(host):
            raise NotPublic
        return self._turns.turn(host)

    async def _back_off(self, url: Url, seen: Observation) -> None:
        """Gives an overloaded host the pause that it requests, or else doubles the delay between requests (C-3)."""
        if seen.retry_after_s:
            await self._turns.rest(url.host, seen.retry_after_s)
        elif seen.reason in (Reason.RATE_LIMIT, Reason.UNAVAILABLE) and not seen.on_other_host:
            self._turns.slow(url.host, min(2 * self._turns.delay_of(url.host), _BACK_OFF_LIMIT_S))

    async def _rules_of(self, url: str) -> Robots:
        """The rules for a URL; a crawl delay among them holds from the next request on, whatever they are read for."""
        robots = await self._robots.robots_of(url)
        if robots.delay_s:
            host = parse(url).host
            self._turns.slow(host, max(min(robots.delay_s, _DELAY_LIMIT_S), self._turns.delay_of(host)))
        return robots

    async def _under_both_schemes(self, url: Url, request: CheckRequest) -> CheckResult:
        """The result under the URL's own scheme or, if known or found to be needed, under the other one (63)."""
        other, need, there = switched(url, self._session.settings.web_ports), switch_of(url), None
        if other and need in request.needs:
            there = await self._with_referrer(other, request)
            if there.seen.outcome is Outcome.WORKING:
                return replace(there, seen=as_switched(None, there.seen, need, request.warned))
        here = await self._with_referrer(url, request)
        if other and need not in request.needs and calls_for_switch(here.seen, thorough=request.tries(need)):
            spent_s = here.answer.seconds if here.answer else 0.0
            asks_again = request.asks_again and not here.seen.http  # what answered was asked once more already
            there = await self._with_referrer(other, replace(request, asks_again=asks_again), spent_s=spent_s)
            if there.seen.outcome is Outcome.WORKING:
                return replace(there, seen=as_switched(here.seen, there.seen, need))
        if here.seen.reason in BAD_CERTIFICATES:
            return await self._despite_certificate(url, request, here)
        return there if there and not here.seen.http and lives(there.seen) else here

    async def _despite_certificate(self, url: Url, request: CheckRequest, warned: CheckResult) -> CheckResult:
        """The result that people get who ignore the warning of a bad certificate: only a failure there counts."""
        answer = await self._optional(self._answer(url, request, trusting=True))
        if answer is None or answer.code is None:
            return warned
        found = CheckResult(observation_of(answer, read_body=False), answer)
        found = await self._asked_again(url, request, found, trusting=True)
        return found if found.seen.outcome is Outcome.FAILING else warned

    async def _with_referrer(self, url: Url, request: CheckRequest, spent_s: float = 0.0) -> CheckResult:
        """The result without a Referer or, if that helps, with the site's own front page as Referer (C-7)."""
        front = str(front_page(url))
        referrer = front if Special.NEEDS_REFERRER in request.needs else None
        finding = await self._examined(url, request, await self._answer(url, request, referrer, spent_s=spent_s))
        finding = await self._asked_again(url, request, finding, referrer)
        if not referrer and request.tries(Special.NEEDS_REFERRER) and finding.seen.reason is Reason.FORBIDDEN:
            inside = await self._optional(self._answer(url, request, front))
            if inside and inside.code not in REFUSING and (seen := observation_of(inside)).outcome is Outcome.WORKING:
                seen = replace(seen, needs=seen.needs | {Special.NEEDS_REFERRER})
                if Special.NEEDS_REFERRER not in request.known:
                    # Only its discovery is news: at later retries the history would hold nothing else (U-3).
                    seen = replace(seen, status=Status.CORRECTED, reason=Reason.NEEDS_REFERRER)
                return CheckResult(seen, inside)
        return finding

    async def _asked_again(
        self, url: Url, request: CheckRequest, finding: CheckResult, referrer: str | None = None, trusting: bool = False
    ) -> CheckResult:
        """The result once nothing of ours can be the reason of a failure: our headers, or that we are a program.

        The URL is asked once more from its first hop, as a browser would (after a 431 with the fewest headers), then
        other places of the host that answered (C-2, D-2).
        """
        answer, may_ask = finding.answer, request.asks_again or Special.NEEDS_BROWSER in request.known
        if answer is None or not may_ask or not calls_for_second_asking(answer, finding.seen):
            return finding
        if finding.seen.reason is Reason.UNAVAILABLE and not request.thorough:
            return finding  # It proves nothing, and it asks for fewer requests (D-78).
        is_plain = Special.NEEDS_BROWSER not in request.needs
        manner = Manner.FEWEST if answer.code == 431 else Manner.BROWSER if is_plain else Manner.PLAIN
        asking = self._answer(url, request, referrer, trusting=trusting, manner=manner, spent_s=answer.seconds)
        if (again := await self._optional(asking)) is not None:
            found = await self._examined(url, request, again)
            await self._back_off(url, found.seen)
            if found.seen.outcome is Outcome.WORKING and manner is Manner.BROWSER:
                return replace(found, seen=replace(found.seen, needs=found.seen.needs | {Special.NEEDS_BROWSER}))
            if takes_place(again, found.seen, answer):
                finding, answer = found, again
        if finding.seen.outcome is not Outcome.FAILING:
            return finding
        shown = again if is_plain else answer
        if doubt := await self._other_places.suspicion(answer, shown, request.others, trusting=trusting):
            return replace(finding, seen=replace(finding.seen, reason=doubt.reason), signals=doubt.signals)
        return finding

    async def _asked_politely(self, url: str, trusting: bool) -> RawResponse | None:
        """The answer of another URL of a host, as browsers ask; None if it could not be asked now (C-3, C-15)."""
        if not await self.may_look(url):
            return None
        turn, manner = self.turn, Manner.BROWSER
        asking = fetch_answer(self._session, url, turn=turn, get_only=True, trusting=trusting, manner=manner)
        if answer := await self._optional(asking):
            await self._back_off(parse(url), observation_of(answer, read_body=False))
        return answer

    async def _answer(
        self,
        url: Url,
        request: CheckRequest,
        referrer: str | None = None,
        *,
        trusting: bool = False,
        manner: Manner | None = None,
        spent_s: float = 0.0,
    ) -> RawResponse:
        """The answer of the URL itself; `manner` is given where it is asked once more."""
        answer = await fetch_answer(
            self._session,
            url,
            turn=self._plain_turn if self._is_own(url.host) else self.turn,
            get_only=request.looks or manner is not None or Special.NEEDS_GET in request.needs,
            referrer=referrer,
            trusting=trusting,
            manner=manner or (Manner.BROWSER if Special.NEEDS_BROWSER in request.needs else Manner.PLAIN),
            spent_s=spent_s,
            may_read=self.may_look,
        )
        for hop in answer.hops:
            is_other = hop.location.startswith(_HTTP) and parse(hop.location).host != url.host
            if is_other and not self._robots.knows(hop.location):
                self._passed[parse(hop.location).host] = hop.location
        return answer

    async def _examined(self, url: Url, request: CheckRequest, answer: RawResponse) -> CheckResult:
        """The result with the document examined as well, as far as robots.txt allows (C-11, C-15)."""
        seen = observation_of(answer)
        match seen.outcome:
            case Outcome.REFUSED if not answer.code or answer.code > 299:
                pass
            case Outcome.DOUBTFUL | Outcome.REFUSED if seen != observation_of(answer, read_body=False):
                if not await self.may_look(answer.final):
                    seen = observation_of(answer, read_body=False)
            case Outcome.WORKING if answer.code in REFUSING:
                # A document came with the refusal: it is the picture of a wall if others are like it (U-5).
                if not await self._other_places.is_own(url, answer):
                    refusal = Observation(status_of(answer.code), code_reason(answer.code), http=answer.code)
                    seen = replace(refusal, on_other_host=seen.on_other_host)
            case Outcome.WORKING if request.examines and (document := answer.document).is_page:
                portrait = new_portrait(request, document)
                request = request.after_look(portrait)
                page = _judged(url, request, document, answer)
                if (portrait or page) and await self.may_look(answer.final):
                    found = CheckResult(replace(seen, portrait=portrait), answer)
                    return await self._against_face(url, request, page, found) if page else found
        return CheckResult(seen, answer)

    async def may_look(self, url: str) -> bool:
        robots = await self._optional(self._rules_of(url))
        return robots is not None and robots.allows(url)

    async def _against_face(self, url: Url, request: CheckRequest, page: _Page, found: CheckResult) -> CheckResult:
        """The result after comparing a document with its host's face, which is learned as far as needed."""
        known, body = request.face, found.answer.body if found.answer else b""
        assert known is not None
        if self._faces is None:
            likeness, face = await self._likeness(*page, known, request.day)
        else:
            if (kept := self._faces.use(url.host)) is None:
                kept = self._faces[url.host] = _KeptFace()
            async with kept.lock:
                likeness, face = await self._likeness(*page, kept.face, request.day)
                kept.face = face
        seen = found.seen if face == known else replace(found.seen, face=face)
        is_newcomer = request.meets_newcomer(found.seen.portrait)
        if suspicion := face_suspicion(url, *page, likeness, body, is_newcomer=is_newcomer):
            seen = replace(seen, reason=suspicion.reason, portrait=None)
            return replace(found, seen=seen, signals=suspicion.signals)
        return replace(found, seen=seen)

    async def _likeness(self, page: Seen, probes: Probes, face: Face, day: int) -> tuple[Likeness, Face]:
        """Returns the likeness of a page, and its host's face afterwards."""
        while isinstance(found := likeness_of(page, probes, face, day), Asking):
            look = await self._made_up_look(found.made_up)
            if look is None:
                return Likeness.NONE, face
            face = face.with_answer(found.made_up, found.role, look, day)
        return found, face

    async def _made_up_look(self, made_up: MadeUp) -> Look | None:
        """Looks at a host's answer for a made-up URL; None if it could not be asked now (C-3, C-15)."""
        robots = await self._optional(self._robots.robots_of(str(made_up.url)))
        if robots is None or not robots.allows(str(made_up.url)) or (robots.delay_s or 0) > _DELAY_LIMIT_S:
            return Look(Kind.UNCLEAR)
        self._turns.slow(made_up.url.host, robots.delay_s or 0)
        answer = await self._optional(fetch_answer(self._session, str(made_up.url), turn=self.turn, get_only=True))
        if answer is None:
            return None
        await self._back_off(made_up.url, observation_of(answer, read_body=False))
        return answer_of(answer, made_up)

    async def _optional(self, result: Awaitable[_Result]) -> _Result | None:
        """The result of an additional request, None if it fails in any way: the check itself remains valid."""
        try:
            return await result
        except NotAsked:
            return None
        except Exception as error:
            log.info("an additional request of a check failed: %r", error)
            return None


def _judged(url: Url, request: CheckRequest, document: Document, answer: RawResponse) -> _Page | None:
    """A document that is to be judged by its host's face; None if it is not, or cannot be like any answer."""
    if not request.faces or not Seen(document, str(url), (), answer.body).is_comparable:
        return None
    probes = probes_of(url)
    return (Seen(document, str(url), probes.named, answer.body), probes) if probes else None
