"""Checks one URL with all that may belong to a check: the other scheme, a referrer, a made-up sibling (C-1 … C-11).

``net`` sends single requests and follows redirects; ``crawl/visit`` and ``core`` judge the results of several checks.
One law: every additional request waits for its host's turn and obeys robots.txt, and its failure does not affect the
check.
"""

import logging
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from weboid.checking.stop_list import StopList
from weboid.checking.turns import NotAsked, Turns
from weboid.config import CrawlConfig
from weboid.core.document.document import Document
from weboid.core.document.likeness import is_same_page, sibling_of
from weboid.core.document.portrait import BLANK, is_replaced, portrait_of
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.content import document_in
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.observe.robots import Robots
from weboid.core.observe.scheme_switch import BAD_CERTIFICATES, as_switched, calls_for_switch, switch_of, switched
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status
from weboid.core.url.archives import BARRED_HOSTS
from weboid.core.url.urls import Url, front_page, parse, parse_again
from weboid.mechanism.bounded import BoundedMap
from weboid.net.fetch import fetch_answer
from weboid.net.ftp import fetch_ftp
from weboid.net.guard import NotPublic
from weboid.net.outbound import Outbound, nothing_found
from weboid.net.robots import RobotsCache
from weboid.net.sftp import fetch_sftp

T = TypeVar("T")

log = logging.getLogger(__name__)

_DELAY_LIMIT_S: Final = 120.0
"""If a robots.txt demands longer pauses, the other URLs of its host are checked on other days."""
_BACK_OFF_LIMIT_S: Final = 60.0
_PASSED: Final = 10_000
"""Hosts that redirects have led to and that are remembered."""
_HTTP: Final = ("http:", "https:")
_OTHER_PROTOCOLS: Final = {"ftp": fetch_ftp, "ftps": fetch_ftp, "sftp": fetch_sftp}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found; `answer` is the response behind it, None for protocols other than HTTP."""

    seen: Observation
    answer: RawResponse | None = None


class Checker:
    """Checks URLs over one session. In strict mode, URLs that robots.txt disallows are not requested at all."""

    def __init__(self, session: Outbound, turns: Turns, config: CrawlConfig) -> None:
        self._session = session
        self._turns = turns
        self._robots = RobotsCache(session, self._plain_turn)
        self._stop_list = StopList((*config.stop, *BARRED_HOSTS), config.stop_file)
        self._passed: BoundedMap[str, str] = BoundedMap(_PASSED)
        """Hosts that redirects have led to, with a URL there; their rules are not known yet."""
        self._strict = config.strict

    async def check(self, question: CheckRequest) -> CheckResult:
        """The result of a check; raises NotAsked if nothing was requested (C-15, C-17), and errors of our own."""
        url = parse_again(question.url)
        if self._stop_list.holds(url.host):
            raise NotAsked(url.host)
        if url.scheme in _OTHER_PROTOCOLS:
            return CheckResult(await _OTHER_PROTOCOLS[url.scheme](self._session, question.url, turn=self.turn))
        if self._strict:
            robots = await self._rules_of(question.url)
            # A host that cannot be reached has forbidden nothing, and a dead host must be found dead.
            if robots.is_reached and not robots.allows(question.url):
                raise NotAsked(question.url)
        if question.follows:
            await self._slow_down(url)
        finding = await self._under_both_schemes(url, question)
        await self._back_off(url, finding.seen)
        return finding

    async def ask(self, question: CheckRequest) -> Observation:
        """The observation alone, for rounds."""
        return (await self.check(question)).seen

    async def fetch(self, url: str) -> RawResponse:
        """The plain answer of an HTTP URL in normal form, of a witness, say; raises like `check`."""
        return await fetch_answer(self._session, url, turn=self.turn, get_only=True)

    def find_address(self, host: str, limit_s: float) -> Awaitable[str | None]:
        """The address that a host would be requested at; None if it is not known soon, or the host is not requested."""
        if self._stop_list.holds(host):
            return nothing_found(host)
        return self._session.find_address(host, limit_s)

    async def turn(self, host: str) -> None:
        """Waits for a host's turn; raises NotPublic for one on the stop list, and NotAsked if the wait is too long.

        Where a redirect has led before, robots.txt is read first: one request for all that will come (C-15).
        """
        if self._stop_list.holds(host):
            raise NotPublic
        if (there := self._passed.take(host)) is None:
            await self._turns.turn(host)
            return
        await self._optional(self._rules_of(there))
        await self._plain_turn(host)

    async def _plain_turn(self, host: str) -> None:
        """The same without reading robots.txt first: where that redirects in a circle, it would wait for itself."""
        if self._stop_list.holds(host):
            raise NotPublic
        await self._turns.turn(host)

    async def _back_off(self, url: Url, seen: Observation) -> None:
        """Gives an overloaded host the pause that it requests, or else doubles the delay between requests (C-3)."""
        if seen.retry_after_s:
            await self._turns.rest(url.host, seen.retry_after_s)
        elif seen.reason in (Reason.RATE_LIMIT, Reason.UNAVAILABLE) and not seen.on_other_host:
            self._turns.slow(url.host, min(2 * self._turns.delay_of(url.host), _BACK_OFF_LIMIT_S))

    async def _slow_down(self, url: Url) -> None:
        """Obeys a crawl delay before further requests to a host (C-15)."""
        robots = await self._optional(self._rules_of(str(url)))
        if robots and robots.delay_s and robots.delay_s > _DELAY_LIMIT_S:
            raise NotAsked(url.host)

    async def _rules_of(self, url: str) -> Robots:
        """The rules for a URL; a crawl delay among them holds from the next request on, whatever they are read for."""
        robots = await self._robots.robots_of(url)
        if robots.delay_s:
            host = parse(url).host
            self._turns.slow(host, max(min(robots.delay_s, _DELAY_LIMIT_S), self._turns.delay_of(host)))
        return robots

    def _note_passed(self, url: Url, answer: RawResponse) -> None:
        """Remembers the hosts that redirects have led to, if their rules are not known."""
        for hop in answer.hops:
            is_other = hop.location.startswith(_HTTP) and parse(hop.location).host != url.host
            if is_other and not self._robots.knows(hop.location):
                self._passed[parse(hop.location).host] = hop.location

    async def _under_both_schemes(self, url: Url, question: CheckRequest) -> CheckResult:
        """The result under the URL's own scheme or, if known or found to be needed, under the other one (63)."""
        other = switched(url, self._session.settings.web_ports)
        need = switch_of(url)
        if other and need in question.needs:
            there = await self._with_referrer(other, question)
            if there.seen.outcome is Outcome.WORKING:
                return replace(there, seen=as_switched(None, there.seen, need, question.warned))
        here = await self._with_referrer(url, question)
        if other and need not in question.needs and calls_for_switch(here.seen, thorough=question.tries(need)):
            there = await self._with_referrer(other, question)
            if there.seen.outcome is Outcome.WORKING:
                return replace(there, seen=as_switched(here.seen, there.seen, need))
        return await self._behind(url, question, here) if here.seen.reason in BAD_CERTIFICATES else here

    async def _behind(self, url: Url, question: CheckRequest, warned: CheckResult) -> CheckResult:
        """The result that people get who ignore the warning of a bad certificate: only a failure there counts."""
        answer = await self._optional(self._answer(url, question, trusting=True))
        if answer is None or answer.code is None:
            return warned
        seen = observation_of(answer, read_body=False)
        return CheckResult(seen, answer) if seen.outcome is Outcome.FAILING else warned

    async def _with_referrer(self, url: Url, question: CheckRequest) -> CheckResult:
        """The result without a Referer or, if that helps, with the site's own front page as Referer (C-7)."""
        if Special.NEEDS_REFERRER in question.needs:
            answer = await self._answer(url, question, str(front_page(url)))
            return await self._looked_at(url, question, answer)
        finding = await self._looked_at(url, question, await self._answer(url, question))
        if question.tries(Special.NEEDS_REFERRER) and finding.seen.reason is Reason.FORBIDDEN:
            inside = await self._optional(self._answer(url, question, str(front_page(url))))
            if inside and (seen := observation_of(inside)).outcome is Outcome.WORKING:
                needs = seen.needs | {Special.NEEDS_REFERRER}
                seen = replace(seen, status=Status.CORRECTED, reason=Reason.NEEDS_REFERRER, needs=needs)
                return CheckResult(seen, inside)
        return finding

    async def _answer(
        self, url: Url, question: CheckRequest, referrer: str | None = None, *, trusting: bool = False
    ) -> RawResponse:
        answer = await fetch_answer(
            self._session,
            str(url),
            turn=self.turn,
            get_only=question.looks or Special.NEEDS_GET in question.needs,
            referrer=referrer,
            trusting=trusting,
        )
        self._note_passed(url, answer)
        return answer

    async def _looked_at(self, url: Url, question: CheckRequest, answer: RawResponse) -> CheckResult:
        """The result with the document examined as well, as far as robots.txt allows (C-11, C-15)."""
        seen = observation_of(answer)
        match seen.outcome:
            case Outcome.DOUBTFUL if seen != observation_of(answer, read_body=False):
                if not await self._may_look(answer.final):
                    seen = observation_of(answer, read_body=False)
            case Outcome.WORKING if question.examines:
                if (document := document_in(answer)).is_page and await self._may_look(answer.final):
                    seen = await self._compared(url, question, document, seen)
        return CheckResult(seen, answer)

    async def _may_look(self, url: str) -> bool:
        robots = await self._optional(self._rules_of(url))
        return robots is not None and robots.allows(url)

    async def _compared(self, url: Url, question: CheckRequest, document: Document, seen: Observation) -> Observation:
        """The observation after comparing the document with its earlier portrait and with a made-up sibling."""
        if question.portrays or question.compares:
            portrait, earlier = portrait_of(document), question.earlier
            is_other = earlier is not None and is_replaced(earlier, portrait)
            if is_other and question.compares:
                return replace(seen, reason=Reason.REPLACED)
            if question.portrays and not is_other and (earlier is None or portrait != BLANK):
                seen = replace(seen, portrait=portrait)
        if Special.HONEST in question.needs or (sibling := sibling_of(url, 0)) is None:
            return seen
        made_up = await self._optional(fetch_answer(self._session, str(sibling), turn=self.turn, get_only=True))
        if made_up is None:
            return seen
        if observation_of(made_up).outcome is Outcome.FAILING:
            honest = made_up.code in (404, 410)
            return replace(seen, needs=seen.needs | {Special.HONEST}) if honest else seen
        if is_same_page(document, document_in(made_up)):
            return replace(seen, reason=Reason.SOFT_404, portrait=None)
        return seen

    async def _optional(self, request: Awaitable[T]) -> T | None:
        """The result of an additional request, None if it fails in any way: the check itself remains valid."""
        try:
            return await request
        except NotAsked:
            return None
        except Exception as error:
            log.info("an additional request of a check failed: %r", error)
            return None
