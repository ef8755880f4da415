"""How long a round waits for the next due hosts in a large store: ``python -m benchmarks.due [--urls N] [--hosts N]``.

All hosts are due, over four weeks: the worst case, in which all of them would have to be sorted.
One law: leases, hosts and URLs are read by the program's own functions; the peer is a bare scan of the same index.
"""

import asyncio
import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Final

import psycopg

from benchmarks.harness import open_migrated, run_on_store, vacuum
from benchmarks.pages.seed import without_indexes
from weboid.core.record.moment import Moment
from weboid.core.url.keys import BUCKETS
from weboid.store.db.pool import Pool
from weboid.store.db.rows import HostKey
from weboid.store.schedule.lease import find_free_day, lease_buckets
from weboid.store.urls.url import list_due_hosts, list_due_urls

DAY: Final = 1_000
_DAYS: Final = 28
_WANTED: Final = 1_500
"""Hosts of one read: what a worker with a thousand connections has open."""
_OPEN: Final = 4
"""So many times as many hosts are open or were read already, and are passed over."""
_LEASED: Final = 512
_TIMES: Final = 9
_TARGET_MS: Final = 50.0

_HOSTS: Final = """
INSERT INTO host (bucket, host_key, host, reversed, next_day)
SELECT (hashint8extended(number / 2, 1) & 4095)::smallint AS bucket, hashint8extended(number, 0) AS host_key,
    'www' || number || '.host-' || number / 2 || '.demo', 'demo.host-' || number / 2 || '.www' || number || '.',
    %(day)s - (hashint8extended(number, 2) & 1048575) %% %(days)s
FROM generate_series(1, %(hosts)s) AS number
ORDER BY 1, 2
"""
_URLS: Final = """
INSERT INTO url (bucket, host_key, url_key, scheme, port, path, due, status, since, asked, reason, http)
SELECT bucket, host_key, hashint8extended(number, host_key), 1, 443, '/a/path/of/usual/length-' || number || '.html',
    next_day + (number - 1) * 3, 1, 900, 990, 1, 200
FROM host CROSS JOIN generate_series(1, %(each)s) AS number
ORDER BY 1, 2, 3
"""
_BARE: Final = """
SELECT bucket, host_key, next_day FROM host
WHERE bucket = ANY(%(buckets)s::smallint[]) AND next_day <= %(day)s AND next_day IS NOT NULL
ORDER BY bucket, next_day
LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Due:
    """Milliseconds, medians: a lease, the next hosts as a round reads them (in leased buckets, none newer than the
    oldest in free ones), in all buckets, the same with others open already, their URLs, and the bare scan."""

    lease: float
    in_round: float
    everything: float
    next_to_open: float
    urls: float
    bare: float


def fill(dsn: str, urls: int, hosts: int) -> None:
    """Fills an empty store, each table in the order of its keys, its indexes afterwards."""
    row = {"hosts": hosts, "each": max(1, urls // hosts), "day": DAY, "days": _DAYS}
    with psycopg.connect(dsn) as connection, without_indexes(connection, ("host", "url")):
        connection.execute(_HOSTS, row)
        connection.execute(_URLS, row)
    vacuum(dsn)


async def due(dsn: str, urls: int, hosts: int) -> Due:
    """Fills the store, measures, and prints the figures."""
    async with open_migrated(dsn) as pool:
        begun = perf_counter()
        await asyncio.to_thread(fill, dsn, urls, hosts)
        print(f"{urls:,} URLs on {hosts:,} hosts, all of them due, made in {perf_counter() - begun:.0f} s")
        wanted = min(_WANTED, hosts // 10)
        found = await _measured(pool, wanted)
    met = "met" if found.in_round <= _TARGET_MS else "MISSED"
    print(f"the next {wanted:,} hosts of a round: {found.in_round:.0f} ms (target {_TARGET_MS:.0f} ms: {met})")
    print(f"  {found.in_round / found.bare:.1f} times a bare scan of the index for as many rows ({found.bare:.1f} ms)")
    print(f"  by a worker that holds all buckets: {found.everything:.0f} ms, ", end="")
    print(f"next to {_OPEN * wanted:,} open hosts {found.next_to_open:.0f} ms")
    print(f"their URLs: {found.urls:.0f} ms; a lease of {_LEASED} buckets: {found.lease:.0f} ms")
    return found


async def _measured(pool: Pool, wanted: int) -> Due:
    until = Moment(DAY, 12)
    async with pool.connection() as conn:
        all_buckets = list(range(BUCKETS))
        first = await list_due_hosts(conn, all_buckets, until=until, without=[], limit=_OPEN * wanted)
        keys: list[HostKey] = [host.key for host in first]

        async def lease() -> list[int]:
            return list(await lease_buckets(conn, "one", until=until, limit=_LEASED, lease_s=0, rest_s=-1))

        async def bare() -> None:
            row = {"buckets": all_buckets, "day": DAY, "limit": wanted}
            await (await conn.execute(_BARE, row)).fetchall()

        async def read(buckets: list[int], others: list[HostKey]) -> None:
            found = await list_due_hosts(conn, buckets, until=until, without=others, limit=wanted)
            assert len(found) == wanted

        async def in_round() -> None:
            await find_free_day(conn, until, rest_s=-1)
            await read(buckets, [])

        buckets = await lease()
        return Due(
            lease=await _median_ms(lease),
            in_round=await _median_ms(in_round),
            everything=await _median_ms(lambda: read(all_buckets, [])),
            next_to_open=await _median_ms(lambda: read(all_buckets, keys)),
            urls=await _median_ms(lambda: list_due_urls(conn, keys[:wanted], day=DAY, per_host=60)),
            bare=await _median_ms(bare),
        )


async def _median_ms(work: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(_TIMES):
        begun = perf_counter()
        await work()
        times.append(1_000 * (perf_counter() - begun))
    return statistics.median(times)


if __name__ == "__main__":
    run_on_store(__doc__, due, urls=5_000_000, hosts=1_000_000)
