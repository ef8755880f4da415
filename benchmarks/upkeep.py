"""How many URLs a second expiry deletes and rekey moves: ``python -m benchmarks.upkeep [--urls N]``.

One law: all URLs are moved, there and back, then all are deleted, by the program's own functions; what is timed ends
with the last commit.
"""

from collections.abc import Awaitable
from time import perf_counter

from benchmarks.harness import open_migrated, peak_mib, run_on_store, take_in
from weboid.core.url import keys
from weboid.core.url.urls import Url
from weboid.maintain.expiry import expire, planned
from weboid.store.db.key_scheme import KeyScheme
from weboid.store.db.pool import Pool
from weboid.store.pages.page import PageChanges, record_intake
from weboid.store.upkeep.rekey import rekey

_URLS_A_HOST = 2.5
_PAGES_AT_ONCE = 500


def _other_key(url: Url) -> keys.UrlKey:
    """As if the suffix list had moved every domain to another bucket."""
    bucket, host_key, url_key = keys.key_of(url)
    return keys.UrlKey((bucket + 1) % keys.BUCKETS, host_key, url_key)


async def main(urls: int, dsn: str) -> dict[str, float]:
    """URLs a second of both; prints them."""
    hosts = int(urls / _URLS_A_HOST) or 1
    async with open_migrated(dsn) as pool:
        wiki, pages = await take_in(pool, [f"http://www.host-{n % hosts}.demo/{n}" for n in range(urls)])
        form = KeyScheme(suffix_version="moved by one bucket", key=_other_key)
        moved = await _rate(2 * urls, _there_and_back(pool, form))
        for first in range(1, pages + 1, _PAGES_AT_ONCE):
            async with pool.connection() as conn:
                await record_intake(conn, {wiki: PageChanges(gone=range(first, first + _PAGES_AT_ONCE))}, 100)
        async with pool.connection() as conn:
            plan = await planned(conn, 200)
        assert plan.urls() == urls
        deleted = await _rate(urls, expire(pool, plan, 200, allow_many=True))
    print(
        f"{urls} URLs on {pages} pages: {moved:,.0f} rekeyed a second, {deleted:,.0f} expired a second; "
        f"{peak_mib():.0f} MiB"
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


if __name__ == "__main__":
    run_on_store(__doc__, main, urls=60_000)
