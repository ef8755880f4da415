"""Sweeps: recording all pages of a wiki from a source that gives them in one go, a dump.

Live sources are read by ``feed/page_pass``.
One law: each batch of pages is one transaction; a sweep that is broken off has recorded complete pages only.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial

from weboid.core.url.farms import Farm
from weboid.feed.intake import page_urls
from weboid.feed.spam import SpamFilters
from weboid.mechanism.again import Again, at_once
from weboid.store.db.pool import Pool
from weboid.store.pages.page import Intake, record_pages
from weboid.store.pages.wiki import StoredWiki, record_pass
from weboid.wiki.source import PageLinks, Sweep


async def take_in(
    pool: Pool,
    source: Sweep,
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
    filters = SpamFilters()

    async def record(batch: Sequence[PageLinks]) -> Intake:
        async with pool.connection() as conn:
            spam = await filters.current(conn, farm.code, wiki.dbname)
            return await record_pages(conn, wiki.wiki, [page_urls(page, farm, spam) for page in batch], day)

    async def record_its_end() -> None:
        async with pool.connection() as conn:
            await record_pass(conn, wiki.wiki, day)

    async with aclosing(source.pages(namespaces)) as batches:
        async for batch in batches:
            total += await again(partial(record, batch))
            show(total)
    await again(record_its_end)
    return total
