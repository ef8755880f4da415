"""Goes through a site: loaders that drive the robot, and places of links as outcomes come."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from math import inf
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from weboid.config import CrawlConfig
from weboid.core.document.document import is_html
from weboid.core.observe.observation import RawResponse
from weboid.core.observe.retry_after import retry_after_s
from weboid.core.record.reasons import Reason
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url
from weboid.errors import OutputClosedError, WeboidError
from weboid.net.dns import LookupFailed
from weboid.net.fetch import Single, Turn, fetch_answer
from weboid.robot.orders import Orders
from weboid.robot.plugins import RobotLink
from weboid.robot.queues import QueueOrder, WantedDocument
from weboid.robot.robot import Robot
from weboid.robot.task import Loaded, OutgoingLink, Task
from weboid.site.externals import Externals, judged
from weboid.site.keep import RunMemory
from weboid.site.ledger import Ledger, LinkOutcome
from weboid.site.pace import HostPace
from weboid.site.place import Place, State, Summary
from weboid.site.reading import MOST_BYTES, SitePage, Target
from weboid.site.recall import Recall, SiteDocument
from weboid.site.rules import RulesOfOrigins, SiteRules, at_once
from weboid.site.spill import Spill
from weboid.site.start import LOCAL, SiteSessions

log = logging.getLogger(__name__)

_OTHER_BYTES: Final = 65_536
"""Of what is no page: its connection can be kept if there are no more."""
_TRIES: Final = 3
"""Of what answers 429 or 503, …"""
_PASSING: Final = (Reason.RESET, Reason.UNREACHABLE, Reason.PROTOCOL, Reason.DNS_ERROR)
"""… or fails in a way that may be the network's."""
_LONGEST_WAIT_S: Final = 60.0
_WAIT_S: Final = 1.0
_TEXT: Final = 200
"""Characters of a link's text that are reported, …"""
_FRAGMENT: Final = 1_000
"""… and of a fragment."""
_CUT: Final = "page-cut"
"""Pages that have more bytes or links than are read."""


@dataclass
class SiteWalk:
    """One run over a site; `emit` gets each place, as soon as its state is known."""

    sessions: SiteSessions
    orders: Orders
    crawl: CrawlConfig
    emit: Callable[[Place], object]
    externals: Externals | None = None
    rules: RulesOfOrigins = field(default_factory=RulesOfOrigins)
    memory: RunMemory | None = None
    fragments: bool = False
    """Whether what a # names is looked for."""
    loaders: int = 10
    queue: QueueOrder = "fair"
    turn: Turn = at_once
    """Waits for a host where others ask it, too; its pauses of its own the walk keeps itself."""
    slow: Callable[[str, float], object] = lambda host, pause_s: None
    """Gets the pause that a host wants."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What sitemaps list and is no start, and pages that were cut, by the reason."""
    new: int = 0
    """Places that are broken, and were not before."""
    own_faults: int = 0
    is_offline: bool = False
    """Name servers did not answer."""
    ended_by: WeboidError | None = None
    """What kept it from going on."""

    def __post_init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.pages = 0
        self.ledger = Ledger(self._emit)
        self.task: Task | None = None
        self._recall = Recall(self.memory, with_anchors=self.fragments)
        self._robot = Robot(self.queue, self._recall.has)
        self._paces: dict[Url, HostPace] = {}
        """Of each origin."""
        self._moved = asyncio.Event()
        self._spill = Spill()
        self._links: dict[str, int] = {}
        """Where the links of documents are, if they may be found again nearer to the start."""
        if self.externals:
            self.externals.settle = self.ledger.settle

    async def run(self, starts: Iterable[str]) -> Summary:
        """Goes through the site to its end; cancelled, or ended by an error of the store, it gives what it has."""
        begun = monotonic()
        starts = list(dict.fromkeys(map(self.sessions.start.asked, starts)))
        for start in starts:
            self.ledger.mention(str(self.sessions.start.parse(start)), Place(start, "", "", "start"))
        is_interrupted = False
        try:
            if self.orders.obeys_robots:
                for origin in {self.sessions.start.parse(start)._replace(path="/") for start in starts}:
                    await self._rules_of(origin)
            self.task = self._robot.start(starts, self.orders, {"robots": self._may_load}, self.sessions.start.bare)
            for host in self.sessions.start.hosts:
                self.task.scope.add(self.sessions.start.url._replace(host=host))
            async with asyncio.TaskGroup() as loaders:
                for _ in range(self.loaders):
                    loaders.create_task(self._serve(self.task))
            if self.externals:
                await self.externals.finish()
        except asyncio.CancelledError:
            is_interrupted = True
        except (WeboidError, ExceptionGroup) as error:
            first = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
            if not isinstance(first, WeboidError):
                raise first from None
            self.ended_by, is_interrupted = first, True
        finally:
            if self.externals:
                await self.externals.close()
        self.ledger.end()
        self._spill.close()
        filtered_by = +self.left_out
        if self.task:
            filtered_by += self.task.statistics.filtered_by + self.task.statistics.stopped_by
        return Summary(
            starts=tuple(starts[:_STARTS]),
            counts=dict(self.counts),
            statistics=self.statistics(),
            filtered_by=dict(filtered_by),
            seconds=monotonic() - begun,
            is_interrupted=is_interrupted,
            pages=self.pages,
        )

    def statistics(self) -> dict[str, int]:
        """The numbers of the robot."""
        numbers = asdict(self.task.statistics) if self.task else {}
        return {name: number for name, number in numbers.items() if isinstance(number, int)}

    @property
    def open_urls(self) -> list[str]:
        """The URLs that are being loaded."""
        return self._robot.open_urls

    def _emit(self, url: str, place: Place) -> None:
        self.counts[place.state] += 1
        if self.memory:
            place = self.memory.dated(url, place)
            self.new += place.is_new
        self.emit(place)

    async def _serve(self, task: Task) -> None:
        """Loads documents until there are none."""
        while not task.is_finished:
            now = monotonic()
            if (entry := self._robot.take(now)) is None:
                if not task.is_finished:  # the last may have been dropped
                    await self._wait(now)
                continue
            url = self.sessions.start.parse(entry.url)
            if not self._recall.has(entry) and (pause_s := self._pace(url).pause_s):
                self._robot.hold(url.host, now + pause_s, now)
            try:
                await self._load(entry, url)
            except (WeboidError, OutputClosedError):
                raise  # the store's, or that results cannot be written
            except Exception as error:
                self._note_own_fault(entry, error)
            self._moved.set()
        self._moved.set()

    async def _wait(self, now: float) -> None:
        """Waits until a document has ended, or a host may be asked again."""
        self._moved.clear()
        until = self._robot.next_moment(now)
        with suppress(TimeoutError):
            async with asyncio.timeout(None if until == inf else until - now):
                await self._moved.wait()

    def _note_own_fault(self, entry: WantedDocument, error: Exception) -> None:
        is_offline = isinstance(error, LookupFailed)
        self.is_offline |= is_offline
        if not is_offline:
            log.error("an error of our own at %r", entry.url, exc_info=error)
            self.own_faults += 1
        if self._robot.is_open(entry):
            self._robot.end(entry, Loaded("failed"))
        self.ledger.settle(entry.url, LinkOutcome("not-asked", reason="no-network" if is_offline else "own-fault"))

    def _hold(self, url: Url, pause_s: float) -> None:
        now = monotonic()
        self._robot.hold(url.host, now + pause_s, now)

    def _pace(self, url: Url) -> HostPace:
        """The pace at an origin: by its robots.txt slower than usual, at the start's also faster."""
        origin = url._replace(path="")
        if (pace := self._paces.get(origin)) is None:
            rules = self.rules.known(url)
            is_start = url.host in self.sessions.start.hosts
            usual_s = max(self.crawl.delay, (rules.robots.delay_s or 0.0) if rules else 0.0)
            named_s = rules.named_delay_s if rules and is_start else None
            pace = HostPace(usual_s, named_s, is_own=is_start and self.sessions.start.is_own)
            if rules or not self._orders.obeys_robots:
                self._paces[origin] = pace
                self.slow(url.host, pace.least_s)
        return pace

    def _single(self, url: Url, conditions: Mapping[str, str] | None = None) -> Single:
        start = self.sessions.start
        headers = {**(conditions or {}), **(start.headers if start.is_origin_of(url) else {})}
        return Single(headers, self._most_bytes, self._orders.most_seconds)

    @property
    def _orders(self) -> Orders:
        """Those of the task, which may be changed while it runs."""
        return self.task.orders if self.task else self.orders

    def _most_bytes(self, headers: Mapping[str, str]) -> int:
        kind = headers.get("content-type", "")
        return int(min(MOST_BYTES if not kind or is_html(kind, b"") else _OTHER_BYTES, self._orders.most_bytes))

    async def _rules_of(self, url: Url) -> SiteRules:
        """The rules of an origin; until they are there, its host is asked for nothing else."""
        if (rules := self.rules.known(url)) is None:
            self._hold(url, inf)
            try:
                rules = await self.rules.of(url, self.sessions.of(url), self._single(url))
            finally:
                self._hold(url, self._pace(url).pause_s)
                self._moved.set()
        return rules

    def _may_load(self, link: RobotLink) -> bool:
        """The filter by robots.txt, as far as it is known; else it is asked before the load."""
        rules = self.rules.known(link.url) if self._orders.obeys_robots else None
        return rules is None or rules.allows(str(link.url))

    async def _load(self, entry: WantedDocument, url: Url) -> None:
        if entry.url in entry.task.loaded:
            links = self._spill.get(self._links[entry.url])[0] if entry.url in self._links else ()
            self._robot.end(entry, Loaded("hits", [OutgoingLink(*link) for link in links]))
            return
        if self._orders.obeys_robots and not (await self._rules_of(url)).allows(entry.url):
            self._robot.end(entry, Loaded("failed"))
            self.ledger.settle(entry.url, LinkOutcome("robots", reason="robots"))
            return
        document = await self._recall.document(entry, lambda conditions: self._answer(entry, url, conditions))
        if document.location:
            self._end_at_redirect(entry, document)
        elif document.page:
            self._end_at_page(entry, document, document.page)
        else:
            self._robot.end(entry, Loaded(document.outcome))
            self.ledger.settle(entry.url, judged(document.seen.reason, document.code, ""))

    async def _answer(self, entry: WantedDocument, url: Url, conditions: Mapping[str, str]) -> RawResponse:
        """The answer for a URL; one that did not come, or comes from a server that wants a moment, is waited for."""
        pace, session, single = self._pace(url), self.sessions.of(url), self._single(url, conditions)
        single = replace(single, method="HEAD") if entry.task.orders.head_only else single
        left = _TRIES
        while True:
            left -= 1
            answer = await fetch_answer(session, entry.url, turn=self.turn, single=single)
            is_refused = answer.code in (429, 503)
            pace.note(answer.seconds, is_refused=is_refused)
            wait_s = retry_after_s(answer.headers) or max(_WAIT_S, pace.pause_s)
            if not (is_refused or answer.fault in _PASSING) or not left or wait_s > _LONGEST_WAIT_S:
                return answer
            if is_refused:
                self._hold(url, wait_s + pace.pause_s)
            await asyncio.sleep(wait_s)

    def _end_at_redirect(self, entry: WantedDocument, document: SiteDocument) -> None:
        code, location, outcome = document.code, document.location, document.outcome
        assert code is not None
        try:
            form = self.sessions.start.parse(location)
        except InvalidUrl:
            self._robot.end(entry, Loaded(outcome))
            self.ledger.settle(entry.url, LinkOutcome("doubtful", code, Reason.REDIRECT_TO_SCHEME.word, location))
            return
        target = str(form)
        self._robot.end(entry, Loaded(outcome, redirect=target))
        refused = entry.task.refusals[0] if entry.task.refusals else ""
        is_away = refused == "restriction" and self.externals and not entry.task.scope.has_server(form)
        if refused == "redirects":
            self.ledger.settle(entry.url, LinkOutcome("broken", code, Reason.TOO_MANY_REDIRECTS.word, target))
        elif is_away and form.host in self.sessions.start.bare:
            self.ledger.settle(entry.url, LinkOutcome("doubtful", code, Reason.NOT_PUBLIC.word, target))
        elif refused and not is_away:
            self.ledger.settle(entry.url, LinkOutcome("redirect", code, final=target))
        else:
            self.ledger.redirect(entry.url, code, target)
            if is_away and self.externals:
                self.externals.want(target)

    def _end_at_page(self, entry: WantedDocument, document: SiteDocument, page: SitePage) -> None:
        task = entry.task
        self.pages += 1
        self.left_out[_CUT] += page.is_cut
        if self.fragments and page.anchors is not None:
            self.ledger.note_anchors(entry.url, page.anchors)
        is_followed = page.is_followed or not task.orders.obeys_robots
        asked = self.sessions.start.asked
        links = [OutgoingLink(asked(target.form), link.text, link.rel) for link, target in page.links]
        followed = [link for link in links if link.url]
        if task.orders.depth != inf:
            self._links[entry.url] = self._spill.put(([tuple(link) for link in followed],))
        if not is_followed:
            task.statistics.stopped_by["nofollow"] += 1
        followed = followed if is_followed else []
        loaded = Loaded(document.outcome, followed, "", page.content_hash, document.not_modified, page.source)
        self._robot.end(entry, loaded)
        refusals = iter(list(task.refusals))
        self.ledger.settle(entry.url, _ok(document.code))
        for (link, target), outgoing in zip(page.links, links, strict=True):
            place = Place(
                target.url,
                target.fragment[:_FRAGMENT],
                entry.url,
                link.kind,
                depth=entry.distance + 1,
                line=link.line,
                column=link.column,
                text=link.text[:_TEXT],
            )
            if target.reason:
                state, reason = self._unfit(target)
                self._emit(target.url, place._replace(state=state, reason=reason))
            elif is_followed:
                self._mention(task, outgoing.url, place, next(refusals, ""))
            else:
                self.ledger.mention(outgoing.url, place._replace(state="nofollow", reason="nofollow"))

    def _mention(self, task: Task, url: str, place: Place, refused: str) -> None:
        """Takes a link, by what the robot made of it."""
        state: State
        match refused:
            case "restriction" if not task.scope.has_server(form := self.sessions.start.parse(url)):
                self._mention_external(form, url, place)
                return
            case "depth" | "restriction":
                state = "beyond"
            case "" | "same-content":
                state = "not-asked"
            case "robots":
                state = "robots"
            case _:
                state = "excluded"
        self.ledger.mention(url, place._replace(state=state, reason=refused) if refused else place)

    def _mention_external(self, form: Url, url: str, place: Place) -> None:
        if self.externals is None:
            self._emit(url, place._replace(state="external", reason=""))
        elif form.host in self.sessions.start.bare:
            self._emit(url, place._replace(state="doubtful", reason=Reason.NOT_PUBLIC.word))
        else:
            self.ledger.mention(url, place)
            self.externals.want(url)

    def _unfit(self, target: Target) -> tuple[State, str]:
        """State and reason of what is no URL that could be asked.

        A name without a dot is no fault where it may be one of the reader's machine, or of the start's own network.
        """
        if target.reason.endswith(":"):
            return "not-asked", target.reason
        if target.reason == "no-dot":
            if self.externals is None:
                return "external", ""
            start = self.sessions.start.url.host
            if urlsplit(target.url).hostname == LOCAL or not ("." in start or ":" in start or start == LOCAL):
                return "doubtful", Reason.NOT_PUBLIC.word
        return "broken", target.reason


_STARTS: Final = 20
"""Starts that a summary names."""


@cache
def _ok(code: int | None) -> LinkOutcome:
    """One for all pages: there are many."""
    return LinkOutcome("ok", code)
