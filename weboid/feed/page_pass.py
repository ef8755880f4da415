"""The pass over a wiki (P-5): meets all pages that match its criteria, then walks over all page records.

Which pages match belongs to ``wiki/criteria`` (P-4), the position of the pass to ``store/pages/page_pass``.
One law: each step writes what it did together with its place; a pass that is broken off anywhere goes on from there.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from weboid.core.url.farms import Farm
from weboid.errors import SourceError
from weboid.feed.intake import page_urls
from weboid.feed.spam import SpamFilters
from weboid.mechanism.again import Again, at_once
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.page_pass import (
    PageRecord,
    PassPosition,
    count_records,
    list_records,
    record_end,
    record_exclusions,
    record_place,
    record_start,
    record_touches,
    record_trees,
)
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.criteria import Criteria, Criterion
from weboid.wiki.source import WIKITEXT, PageLinks, PageState, WikiSource

_BATCH: Final = 500


@dataclass(slots=True)
class PassProgress:
    """How far a pass has come: pages met by its criteria, then `walked` of all `records`."""

    met: int = 0
    walked: int = 0
    records: int = 0
    intake: Intake = field(default_factory=Intake)


class PageFate(Enum):
    """What becomes of a page record."""

    KEPT = "kept"
    READ = "read"
    RELEASED = "released"


def fate_of(record: PageRecord, state: PageState | None, *, started: int, oldest: int) -> PageFate:
    """What a pass begun on day `started` does with a page record.

    `state` is only used for pages that the pass did not meet. A page that was last met before day `oldest` is released:
    it has matched no criterion for months, so a short re-categorisation or move costs nothing (P-9).
    """
    if record.touched >= started:
        return PageFate.READ if record.flagged else PageFate.KEPT
    if state is None or state.model != WIKITEXT or record.touched < oldest:
        return PageFate.RELEASED
    if record.flagged or state.mark is None or state.mark != record.mark:
        return PageFate.READ
    return PageFate.KEPT


class PagePass:
    """One pass over one wiki. `untouched_days`: how many days a page that no longer matches is kept (P-5)."""

    def __init__(
        self,
        pool: Pool,
        source: WikiSource,
        wiki: StoredWiki,
        farm: Farm,
        criteria: Criteria,
        *,
        today: Callable[[], int],
        untouched_days: int,
        show: Callable[[PassProgress], None] = lambda progress: None,
        again: Again = at_once,
    ) -> None:
        self._pool = pool
        self._source = source
        self._wiki = wiki.wiki
        self._dbname = wiki.dbname
        self._spam = SpamFilters()
        self._farm = farm
        self._criteria = criteria
        self._today = today
        self._untouched_days = untouched_days
        self._show = show
        self._again = again
        self._progress = PassProgress()
        self._started = 0
        self._place = PassPosition()

    async def run(self) -> PassProgress:
        """Completes the pass under way, or a new one; returns what was done since the call.

        Raises SourceError if the wiki cannot be read now, and StoreError; after both, the next call goes on from there,
        and so does `again`.
        """
        await self._again(self._go_through)
        # By itself: done again, the rest would be a new pass.
        await self._again(self._record_end)
        return self._progress

    async def _go_through(self) -> None:
        """Does all that is left of the pass but its end."""
        async with self._pool.connection() as conn:
            self._started, self._place = await record_start(conn, self._wiki, self._criteria.plan, self._today())
        included = self._criteria.included
        steps = [*included, *self._criteria.excluded]
        while self._place.step < len(steps):
            await self._meet(steps[self._place.step], excludes=self._place.step >= len(included))
        await self._walk()

    async def _record_end(self) -> None:
        async with self._pool.connection() as conn:
            await record_end(conn, self._wiki, self._started, self._today())

    async def _meet(self, criterion: Criterion, *, excludes: bool) -> None:
        """Records all pages of a criterion, from the place at which the pass was broken off."""
        async with aclosing(criterion.walk(self._source, self._place.place)) as stretches:
            async for stretch in stretches:
                pages = [page for page in stretch.pages if page.is_watchable]
                async with self._pool.connection() as conn:
                    if excludes:
                        await record_exclusions(conn, self._wiki, [page.page for page in pages])
                    else:
                        await record_touches(conn, self._wiki, pages, self._today())
                    await self._go(conn, self._place._replace(place=stretch.place))
                self._progress.met += 0 if excludes else len(pages)
                self._show(self._progress)
        async with self._pool.connection() as conn:
            if not excludes:
                await record_trees(conn, self._wiki, self._started, criterion.trees)
            await self._go(conn, PassPosition(self._place.step + 1))

    async def _walk(self) -> None:
        """Goes through all page records by id and releases, reads or keeps each."""
        async with self._pool.connection() as conn:
            self._progress.records, met = await count_records(conn, self._wiki, self._started)
            if self._progress.records and not met:
                raise SourceError(
                    "none of the pages that are watched matches any more: nothing was released. "
                    "Correct the criteria, or the source, and start the pass again"
                )
        while True:
            after = int(self._place.place or 0)
            async with self._pool.connection() as conn:
                records = await list_records(conn, self._wiki, after=after, limit=_BATCH)
            if not records:
                return
            found, released = await self._decided(records)
            async with self._pool.connection() as conn:
                spam = await self._spam.current(conn, self._farm.code, self._dbname)
                read = [page_urls(page, self._farm, spam) for page in found]
                changes = PageChanges(read=read, gone=released, touches=False)
                self._progress.intake += await record_intake(conn, {self._wiki: changes}, self._today())
                await self._go(conn, self._place._replace(place=str(records[-1].page)))
            self._progress.walked += len(records)
            self._show(self._progress)

    async def _decided(self, records: Sequence[PageRecord]) -> tuple[list[PageLinks], list[int]]:
        """From some records: the pages that were read again, and the ids of those to release."""
        unmet = [record.page for record in records if record.touched < self._started]
        states = {state.page: state for state in await self._source.find_states(unmet)} if unmet else {}
        oldest = self._today() - self._untouched_days
        fates = {
            record.page: fate_of(record, states.get(record.page), started=self._started, oldest=oldest)
            for record in records
        }
        wanted = [page for page, fate in fates.items() if fate is PageFate.READ]
        found = await self._source.find_pages(ids=wanted) if wanted else []
        gone = set(wanted) - {page.page for page in found}
        return found, [page for page, fate in fates.items() if fate is PageFate.RELEASED or page in gone]

    async def _go(self, conn: Connection, place: PassPosition) -> None:
        # If the transaction fails, the pass ends, and the next call begins at the recorded place again.
        await record_place(conn, self._wiki, self._place, place)
        self._place = place
