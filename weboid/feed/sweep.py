"""Sweeps: recording all pages of a wiki from a source that gives them in one go, a dump.

``feed/page_pass`` reads live sources. Each batch of pages is one transaction, so a sweep that is broken off has
recorded complete pages only. While the database records one, the links of the next are judged.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial

from weboid.core.url.farms import Farm
from weboid.core.url.spam_lines import SpamFilter
from weboid.feed.intake import Judge, SpamFilters, judged, page_urls
from weboid.mechanism.patience import Again, at_once
from weboid.mechanism.slices import Steps, in_slices
from weboid.mechanism.tasks import cancel
from weboid.remote.feed.calls import SpamLists
from weboid.store.db.pool import Pool
from weboid.store.db.transactions import repeated
from weboid.store.pages.page import Intake, PageChanges, PageUrls, record_intake
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
    again: Again = at_once,
) -> Intake:
    """Records every page of the namespaces and returns what has changed; raises SourceError if the source fails.

    `again` does a batch, in a task that the source does not wait for, so nothing is read twice or left out.
    """
    total = Intake()
    spam = SpamFilters(SpamLists(pool)).of(farm.code, wiki.dbname)

    async def record(batch: Sequence[PageLinks]) -> Intake:
        @repeated
        async def by(judge: Judge) -> Intake | None:
            changes = PageChanges(read=await in_slices(_read(batch, farm, judge.spam)))
            async with pool.connection() as conn:
                if not await are_in_force(conn, {wiki.wiki: judge.stamp}):
                    return None
                return await record_intake(conn, {wiki.wiki: changes}, day)

        return await judged(spam, by)

    under_way: deque[asyncio.Task[Intake]] = deque()
    try:
        async with aclosing(source.pages(namespaces)) as batches:
            async for batch in batches:
                under_way.append(asyncio.create_task(again(partial(record, batch))))
                if len(under_way) == 2:  # one is recorded, as the store takes one intake at a time; one is judged
                    total += await under_way.popleft()
        while under_way:
            total += await under_way.popleft()
    finally:
        await cancel(*under_way)

    @repeated
    async def end() -> None:
        async with pool.connection() as conn:
            await record_pass(conn, wiki.wiki, day)

    await again(end)
    return total


def _read(batch: Sequence[PageLinks], farm: Farm, spam: SpamFilter) -> Steps[list[PageUrls]]:
    read = []
    for page in batch:
        read.append(page_urls(page, farm, spam))
        yield
    return read
