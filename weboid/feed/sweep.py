"""Sweeps: recording all pages of a wiki from a source that gives them in one go, a dump.

``feed/page_pass`` reads live sources. Each batch of pages is one transaction, so a sweep that is broken off has
recorded complete pages only.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial

from weboid.core.url.farms import Farm
from weboid.feed.intake import Judge, SpamFilters, judged, page_urls
from weboid.mechanism.patience import Again, at_once
from weboid.remote.feed.calls import SpamLists
from weboid.store.db.pool import Pool
from weboid.store.db.transactions import repeated
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.spam import are_in_force
from weboid.store.pages.wiki import StoredWiki, record_pass
from weboid.wiki.dump import DumpSource
from weboid.wiki.source import PageLinks


async def take_in(
    pool: Pool,
    source: DumpSource,
    wiki: StoredWiki,
    farm: Farm,
    *,
    namespaces: frozenset[int],
    day: int,
    show: Callable[[Intake], None] = lambda so_far: None,
    again: Again = at_once,
) -> Intake:
    """Records every page of the namespaces and returns what has changed; raises SourceError if the source fails.

    `again` does a batch; the source is read on only after that, so nothing is read twice or left out.
    """
    total = Intake()
    spam = SpamFilters(SpamLists(pool)).of(farm.code, wiki.dbname)

    async def record(batch: Sequence[PageLinks]) -> Intake:
        @repeated
        async def by(judge: Judge) -> Intake | None:
            changes = PageChanges(read=[page_urls(page, farm, judge.spam) for page in batch])
            async with pool.connection() as conn:
                if not await are_in_force(conn, {wiki.wiki: judge.stamp}):
                    return None
                return await record_intake(conn, {wiki.wiki: changes}, day)

        return await judged(spam, by)

    async with aclosing(source.pages(namespaces)) as batches:
        async for batch in batches:
            total += await again(partial(record, batch))
            show(total)

    @repeated
    async def end() -> None:
        async with pool.connection() as conn:
            await record_pass(conn, wiki.wiki, day)

    await again(end)
    return total
