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
from weboid.remote.feed.batches import JudgedPages
from weboid.remote.feed.calls import SpamLists
from weboid.remote.feed.pages import DumpPasses
from weboid.store.db.pool import Pool
from weboid.store.pages.page import Intake
from weboid.store.pages.wiki import StoredWiki
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
    store = DumpPasses(pool)
    spam = SpamFilters(SpamLists(pool)).of(farm.code, wiki.dbname)

    async def record(batch: Sequence[PageLinks]) -> Intake:
        async def by(judge: Judge) -> Intake | None:
            read = [page_urls(page, farm, judge.spam) for page in batch]
            return await store.record(wiki.wiki, JudgedPages(read, stamp=judge.stamp), day)

        return await judged(spam, by)

    async with aclosing(source.pages(namespaces)) as batches:
        async for batch in batches:
            total += await again(partial(record, batch))
            show(total)
    await again(partial(store.end, wiki.wiki, day))
    return total
