"""How many URLs a second expiry deletes and rekey moves: ``python -m benchmarks.upkeep [--urls N]``.

One law: all URLs are moved, there and back, then all are deleted, by the program's own functions; what is timed ends
with the last commit.
"""

import argparse
import asyncio
import resource
import shutil
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from time import perf_counter

from weboid.core.url import keys
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.urls import Url
from weboid.feed.intake import page_urls
from weboid.maintain.expiry import expire, planned
from weboid.store.db.key_scheme import KeyScheme
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded.server import open_server
from weboid.store.pages.page import record_pages, release_pages
from weboid.store.pages.wiki import record_wiki
from weboid.store.upkeep.rekey import rekey
from weboid.wiki.source import PageLinks

_URLS_A_HOST = 2.5
_LINKS_A_PAGE = 40
_PAGES_AT_ONCE = 500


def _other_key(url: Url) -> keys.UrlKey:
    """As if the suffix list had moved every domain to another bucket."""
    bucket, host_key, url_key = keys.key_of(url)
    return keys.UrlKey((bucket + 1) % keys.BUCKETS, host_key, url_key)


async def main(urls: int, dsn: str) -> dict[str, float]:
    """URLs a second of both; prints them."""
    async with open_pool(dsn, size=2, part="benchmark") as pool:
        async with pool.connection() as conn:
            await migrate(conn)
        wiki, pages = await take_in(pool, urls)
        form = KeyScheme(suffix_version="moved by one bucket", key=_other_key)
        moved = await _rate(2 * urls, _there_and_back(pool, form))
        for first in range(1, pages + 1, _PAGES_AT_ONCE):
            async with pool.connection() as conn:
                await release_pages(conn, wiki, range(first, first + _PAGES_AT_ONCE), 100)
        async with pool.connection() as conn:
            plan = await planned(conn, 200)
        assert plan.urls == urls
        deleted = await _rate(urls, expire(pool, plan, 200, allow_many=True))
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{urls} URLs on {pages} pages: {moved:,.0f} rekeyed a second, {deleted:,.0f} expired a second; "
        f"{memory_mib:.0f} MiB"
    )
    return {"rekeyed": moved, "expired": deleted}


async def _there_and_back(pool: Pool, form: KeyScheme) -> None:
    """All URLs to other keys, and to those of this program again, or it could not write any more."""
    await rekey(pool, 100, form)
    await rekey(pool, 100)


async def _rate(urls: int, work: Awaitable[object]) -> float:
    begun = perf_counter()
    await work
    return urls / (perf_counter() - begun)


async def take_in(pool: Pool, urls: int) -> tuple[int, int]:
    """Fills the store; returns the wiki and how many pages it has."""
    hosts = int(urls / _URLS_A_HOST) or 1
    async with pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, WikiName("upkeepwiki", "wmflabs"))
    firsts = range(0, urls, _LINKS_A_PAGE)
    links = [
        PageLinks(
            number,
            0,
            f"Page {number}",
            1,
            None,
            tuple(
                f"http://www.host-{url % hosts}.demo/{url}" for url in range(first, min(first + _LINKS_A_PAGE, urls))
            ),
        )
        for number, first in enumerate(firsts, start=1)
    ]
    for start in range(0, len(links), _PAGES_AT_ONCE):
        async with pool.connection() as conn:
            pages = [page_urls(page, WMFLABS) for page in links[start : start + _PAGES_AT_ONCE]]
            await record_pages(conn, wiki.wiki, pages, 100)
    return wiki.wiki, len(links)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=60_000)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="weboid-upkeep-"))
    folder.chmod(0o711)
    try:
        with open_server(folder / "data") as server:
            asyncio.run(main(given.urls, server.dsn))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
