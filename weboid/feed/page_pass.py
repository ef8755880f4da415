"""The pass over a wiki (P-5): meets all pages that match its criteria, then walks over all page records.

The criteria are in ``wiki/criteria`` (P-4), the position of the pass to ``store/pages/page_pass``.
Each step writes what it did together with its place, so a pass that is broken off anywhere goes on from there.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple

from weboid.core.url.farms import Farm
from weboid.errors import SourceError
from weboid.feed.intake import Judge, SpamFilters, judged, page_urls
from weboid.feed.reread import MARGIN_S
from weboid.mechanism.patience import Again, at_once
from weboid.remote.feed.batches import JudgedPages, Move
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.page import Intake
from weboid.store.pages.page_pass import SWEEP_DAYS, PageRecord, PassPosition
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.criteria import Criteria, Criterion
from weboid.wiki.source import WIKITEXT, PageLinks, PageState, WikiSource

_BATCH: Final = 500
_MOST_LINKS: Final = 20_000
"""Links that are recorded in one transaction, but for a single page that has more."""


@dataclass(slots=True)
class PassProgress:
    """The progress of a pass: pages met by its criteria, then `walked` of all `records`."""

    met: int = 0
    walked: int = 0
    records: int = 0
    intake: Intake = field(default_factory=Intake)


class PageFate(Enum):
    """The end of a page record in a pass."""

    KEPT = "kept"
    READ = "read"
    RELEASED = "released"


def is_swept(page: int, *, since: int | None, started: int) -> bool:
    """Returns whether a page's turn in the slow sweep is after day `since` (when the last pass began), up to `started`.

    `since` is None if there was no pass before: it reads all pages.
    """
    return since is not None and (started - page) % SWEEP_DAYS < started - since


def fate_of(
    record: PageRecord, state: PageState | None, *, started: int, oldest: int, since: int | None = None
) -> PageFate:
    """Decides what a pass begun on day `started` does with a page record; `since` as in `is_swept`.

    `state` is only used for pages that the pass did not meet. A page that was last met, or requested, before day
    `oldest` is released: it has matched no criterion for months, so a short re-categorisation or move costs nothing
    (P-9). An excluded one ages just so, but is not read, and no request keeps it (D-33).
    """
    is_read = record.flagged or is_swept(record.page, since=since, started=started)
    if record.touched >= started:
        return PageFate.READ if is_read else PageFate.KEPT
    wanted = record.touched if record.excluded else max(record.touched, record.asked or 0)
    if state is None or state.model != WIKITEXT or wanted < oldest:
        return PageFate.RELEASED
    if record.excluded:
        return PageFate.KEPT
    if is_read or state.mark is None or state.mark != record.mark:
        return PageFate.READ
    return PageFate.KEPT


async def _nothing() -> None:
    """Does nothing."""


@dataclass(eq=False)
class PagePass:
    """One pass over one wiki. `untouched_days`: how many days a page that no longer matches is kept (P-5).

    `between` is done after each batch of pages: whatever else is to be read from the source, one request at a time.
    """

    core: FeedStore
    source: WikiSource
    wiki: StoredWiki
    farm: Farm
    criteria: Criteria
    _: KW_ONLY
    today: Callable[[], int]
    now: Callable[[], datetime]
    untouched_days: int
    show: Callable[[PassProgress], None] = lambda progress: None
    between: Callable[[], Awaitable[None]] = _nothing
    again: Again = at_once

    def __post_init__(self) -> None:
        self._wiki = self.wiki.wiki
        self._spam = SpamFilters(self.core.lists).of(self.farm.code, self.wiki.dbname)
        self._progress = PassProgress()
        self._started = 0
        self._place = PassPosition()
        self._as_of: datetime | None = None
        """The moment of what was read last."""

    async def run(self) -> PassProgress:
        """Completes the pass under way, or a new one; returns what was done since the call.

        Raises SourceError if the wiki cannot be read now, and StoreError; after both, the next call goes on from there,
        and so does `again`.
        """
        await self.again(self._go_through)
        # By itself: done again, the rest would be a new pass.
        await self.again(lambda: self.core.passes.end(self._wiki, self._started, self.today()))
        return self._progress

    async def _go_through(self) -> None:
        self._started, self._place = await self.core.passes.start(self._wiki, self.criteria.plan, self.today())
        included = self.criteria.included
        steps = [*included, *self.criteria.excluded]
        while self._place.step < len(steps):
            await self._meet(steps[self._place.step], excludes=self._place.step >= len(included))
        await self._walk()

    async def _meet(self, criterion: Criterion, *, excludes: bool) -> None:
        async with aclosing(criterion.walk(self.source, self._place.place)) as stretches:
            async for stretch in stretches:
                pages = [page for page in stretch.pages if page.is_watchable]
                move = Move(self._place, self._place._replace(place=stretch.place))
                if excludes:
                    await self.core.passes.exclude(self._wiki, [page.page for page in pages], move)
                else:
                    await self.core.passes.meet(self._wiki, pages, self.today(), move)
                self._place = move.after
                self._progress.met += 0 if excludes else len(pages)
                self.show(self._progress)
                await self.between()
        move = Move(self._place, PassPosition(self._place.step + 1))
        await self.core.passes.end_step(self._wiki, self._started, {} if excludes else criterion.trees, move)
        self._place = move.after

    async def _walk(self) -> None:
        self._progress.records, met = await self.core.passes.count(self._wiki, self._started)
        if self._progress.records and not met:
            raise SourceError(
                "none of the pages that are watched matches any more: nothing was released. "
                "Correct the criteria, or the source, and start the pass again"
            )
        while True:
            after = int(self._place.place or 0)
            records = await self.core.passes.list_records(self._wiki, after, _BATCH)
            if not records:
                return
            found, released = await self._decided(records)
            for part in runs(records, found, released):
                await self._record(part)
                self._progress.walked += part.records
                self.show(self._progress)
            await self.between()

    async def _record(self, part: "Run") -> None:
        move = Move(self._place, self._place._replace(place=str(part.last)))

        async def by(judge: Judge) -> Intake | None:
            read = [page_urls(page, self.farm, judge.spam) for page in part.read]
            pages = JudgedPages(read, part.gone, judge.stamp, self._as_of)
            return await self.core.passes.record(self._wiki, pages, self.today(), move)

        self._progress.intake += await judged(self._spam, by)
        self._place = move.after

    async def _decided(self, records: Sequence[PageRecord]) -> tuple[list[PageLinks], list[int]]:
        unmet = [record.page for record in records if record.touched < self._started]
        states = {state.page: state for state in await self.source.find_states(unmet)} if unmet else {}
        oldest = self.today() - self.untouched_days
        fates = {
            record.page: fate_of(
                record, states.get(record.page), started=self._started, oldest=oldest, since=self.wiki.began
            )
            for record in records
        }
        wanted = [page for page, fate in fates.items() if fate is PageFate.READ]
        found = []
        if wanted:
            self._as_of = self.now() - timedelta(seconds=MARGIN_S + await self.source.find_lag_s())
            found = await self.source.find_pages(ids=wanted)
        gone = set(wanted) - {page.page for page in found}
        return found, [page for page, fate in fates.items() if fate is PageFate.RELEASED or page in gone]


class Run(NamedTuple):
    """Some page records in a row, up to the page `last`: the pages that are read, and those that are released."""

    records: int
    last: int
    read: Sequence[PageLinks]
    gone: Sequence[int]


def runs(records: Sequence[PageRecord], found: Sequence[PageLinks], gone: Sequence[int]) -> list[Run]:
    """Records in runs, of which each is recorded in one transaction: of so many links that it is done in seconds."""
    by_page, released = {page.page: page for page in found}, set(gone)
    parts: list[list[PageRecord]] = [[]]
    links = 0
    for record in records:
        more = len(by_page[record.page].urls) if record.page in by_page else 0
        if links and links + more > _MOST_LINKS:
            parts.append([])
            links = 0
        parts[-1].append(record)
        links += more
    return [
        Run(
            len(part),
            part[-1].page,
            [by_page[record.page] for record in part if record.page in by_page],
            [record.page for record in part if record.page in released],
        )
        for part in parts
    ]


async def refresh_namespaces(core: FeedStore, source: WikiSource, wiki: StoredWiki) -> None:
    """Records the names of a wiki's namespaces, for titles with their prefix while the wiki does not answer.

    Raises StoreError, and SourceError: without them no pass is begun over a wiki that is away.
    """
    if names := await source.find_namespaces():
        await core.wikis.record_namespaces(wiki.wiki, names)
