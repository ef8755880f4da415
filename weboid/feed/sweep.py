"""Sweeps: recording all pages of a wiki from a source that gives them in one go, a dump.

Live sources are read by ``feed/page_pass``.
One law: each batch of pages is one transaction; a sweep that is broken off has recorded complete pages only.
"""

from collections.abc import Callable

from weboid.core.url.farms import Farm
from weboid.feed.intake import page_urls
from weboid.feed.spam import SpamFilters
from weboid.store.db.pool import Pool
from weboid.store.pages.page import Intake, record_pages
from weboid.store.pages.wiki import StoredWiki, record_pass
from weboid.wiki.source import Sweep


async def take_in(
    pool: Pool,
    source: Sweep,
    wiki: StoredWiki,
    farm: Farm,
    *,
    namespaces: frozenset[int],
    day: int,
    show: Callable[[Intake], None] = lambda so_far: None,
) -> Intake:
    """Records every page of the namespaces and returns what has changed; raises SourceError if the source fails."""
    total = Intake()
    filters = SpamFilters()
    async for batch in source.pages(namespaces):
        async with pool.connection() as conn:
            spam = await filters.current(conn, farm.code, wiki.dbname)
            pages = [page_urls(page, farm, spam) for page in batch]
            total += await record_pages(conn, wiki.wiki, pages, day)
        show(total)
    async with pool.connection() as conn:
        await record_pass(conn, wiki.wiki, day)
    return total
