"""What the store keeps of copies, and how fast: ``python -m benchmarks.snapshots [--urls N] [--queue N]``.

Bytes a snapshot, indexes included, as look-ups and cited copies write them and after two quarters of visits; what an
intake costs with cited copies and without; a lease from a long queue.
One law: everything is written by the program's own functions but the long queue; sizes are PostgreSQL's.
"""

import argparse
import asyncio
import random
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

import psycopg

from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import parse
from weboid.feed.intake import page_urls
from weboid.store.archives.copy_queue import lease_wanted, record_done
from weboid.store.archives.snapshot import Origin, StoredSnapshot, lease_snapshots, record_snapshots, record_visit
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded.server import open_server
from weboid.store.pages.page import record_pages
from weboid.store.pages.wiki import record_wiki
from weboid.wiki.source import PageLinks

_LINKS_A_PAGE: Final = 40
_DAY: Final = 100
_BATCH: Final = 500
_QUARTER: Final = 91
_ARCHIVES: Final = (1, 6)
_LEASE: Final = 50
_QUEUE: Final = """INSERT INTO copy_queue (bucket, host_key, url_key, rank, day, due)
SELECT bucket, host_key, url_key + number, number %% 2, 100 + (url_key & 1023) %% 900, 100
FROM (SELECT * FROM url LIMIT 1000) AS url CROSS JOIN generate_series(1, %s::integer) AS number
ON CONFLICT DO NOTHING"""


async def main(urls: int, queue: int, dsn: str) -> None:
    """Measures one after the other."""
    chance = random.Random(1)
    async with open_pool(dsn, size=4, part="benchmark") as pool:
        async with pool.connection() as conn:
            await migrate(conn)
            wiki = (await record_wiki(conn, WMFLABS, WikiName("copieswiki", "wmflabs"))).wiki
        plain = [_plain(number) for number in range(urls)]
        print(f"intake of ordinary links: {await _take_in(pool, wiki, plain, 1):,.0f} a second")
        cited = [f"https://web.archive.org/web/20160102030405/{_plain(number)}" for number in range(0, urls, 5)]
        print(f"intake of cited copies: {await _take_in(pool, wiki, cited, urls):,.0f} a second")
        more = [_plain(number) for number in range(urls, 2 * urls)]
        print(f"intake of ordinary links beside {len(cited):,} cited copies: ", end="")
        print(f"{await _take_in(pool, wiki, more, 3 * urls):,.0f} a second")
        keys = [key_of(parse(url)) for url in plain]
        chance.shuffle(keys)
        await _look_up(pool, keys, chance)
        await asyncio.to_thread(_vacuum, dsn)
        await _print_size(pool, "as they were chosen")
        for quarter in (1, 2):
            for day in range(_DAY + (quarter - 1) * _QUARTER, _DAY + quarter * _QUARTER):
                await _visit_all(pool, day)
                await asyncio.to_thread(_vacuum, dsn)
            await _print_size(pool, f"after {quarter} quarter(s) of visits")
        await _queue(pool, queue, dsn)


def _plain(number: int) -> str:
    return f"http://www.host-{number // 3}.demo/a/path/of/usual/length-{number}.html"


async def _take_in(pool: Pool, wiki: int, urls: Sequence[str], first_page: int) -> float:
    """Links a second."""
    pages = [
        page_urls(PageLinks(first_page + place, 0, f"Page {first_page + place}", 1, None, tuple(some)), WMFLABS)
        for place in range(0, len(urls), _LINKS_A_PAGE)
        if (some := urls[place : place + _LINKS_A_PAGE])
    ]
    begun = perf_counter()
    for start in range(0, len(pages), _BATCH):
        async with pool.connection() as conn:
            await record_pages(conn, wiki, pages[start : start + _BATCH], _DAY)
    return len(urls) / (perf_counter() - begun)


async def _look_up(pool: Pool, keys: Sequence[UrlKey], chance: random.Random) -> None:
    """Chooses a copy for each of three URLs in four, and a second one for each in ten: in no order of keys."""
    chosen = [
        StoredSnapshot(key, archive, _stamp(chance), Origin.CHOSEN, _DAY + chance.randrange(_QUARTER), _DAY, 0, 60)
        for key in keys
        for archive in _ARCHIVES
        if chance.random() < (0.75 if archive == 1 else 0.1)
    ]
    for start in range(0, len(chosen), _BATCH):
        async with pool.connection() as conn:
            await record_snapshots(conn, chosen[start : start + _BATCH])


def _stamp(chance: random.Random) -> int:
    """New Year's Day of one of 25 years."""
    return 20000101000000 + chance.randrange(25) * 10**10


async def _visit_all(pool: Pool, day: int) -> None:
    """Visits all snapshots that are due; each is due again a quarter later."""
    while True:
        async with pool.connection() as conn:
            taken = await lease_snapshots(conn, day, _ARCHIVES, limit=_BATCH)
            for snapshot, _ in taken:
                await record_visit(conn, snapshot, asked=day, due=day + _QUARTER, strikes=0)
        if not taken:
            return


async def _queue(pool: Pool, rows: int, dsn: str) -> None:
    """How long leases take from a queue of so many rows, their URLs looked at and done."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_QUEUE, (rows // 1_000,))
    await asyncio.to_thread(_vacuum, dsn)
    times = []
    for _ in range(40):
        begun = perf_counter()
        async with pool.connection() as conn:
            found = await lease_wanted(conn, _DAY, limit=_LEASE, lease_s=60)
            await record_done(conn, {each.key: _DAY + 90 for each in found})
        times.append(1_000 * (perf_counter() - begun))
    print(f"a lease of {_LEASE} from a queue of {rows:,}: {statistics.median(times):.1f} ms, at most {max(times):.0f}")


async def _print_size(pool: Pool, when: str) -> None:
    async with pool.connection() as conn:
        statement = "SELECT pg_total_relation_size('snapshot'), pg_relation_size('snapshot'), count(*) FROM snapshot"
        row = await (await conn.execute(statement)).fetchone()
    assert row
    whole, table, count = row
    print(f"{count:,} snapshots {when}: {whole / count:.0f} bytes each, {table / count:.0f} of them without indexes")


def _vacuum(dsn: str) -> None:
    """What autovacuum does once a fiftieth of the table has been written (its setting in the schema)."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE snapshot, copy_queue")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--queue", type=int, default=1_000_000)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="weboid-snapshots-"))
    folder.chmod(0o711)
    try:
        with open_server(folder / "data") as server:
            asyncio.run(main(given.urls, given.queue, server.dsn))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
