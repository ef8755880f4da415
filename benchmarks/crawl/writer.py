"""Results written as fast as they come: ``python -m benchmarks.crawl.writer DSN DAY SECONDS RATE [bare]``.

Takes due URLs from the store as a round does, judges a made-up answer for each and writes them by the crawler's own
`record_batch`, in batches of 500, RATE a second (0 = as fast as possible). ``bare`` writes the same rows by one plain
UPDATE a batch: no judgement, no leases, no hosts. Prints JSON: results and the seconds for them, URLs found due and
the seconds for that, CPU seconds.
"""

import asyncio
import json
import os
import sys
from time import perf_counter
from typing import Final

import psycopg

from benchmarks.crawl.machine import used
from weboid.cli.processes.process import run_async
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.verdict.judge import judge, judge_host
from weboid.store.db.pool import Pool, open_pool
from weboid.store.db.rows import StoredHost, StoredUrl
from weboid.store.results.record import Checked, record_batch
from weboid.store.schedule.lease import Held, lease_buckets, record_release
from weboid.store.urls.url import list_due_hosts, list_due_urls

_BATCH: Final = 500
_LEASED: Final = 512
_MOST_A_S: Final = 20_000
_BATCHES_A_S: Final = 10.0
"""Of results that come slowly: the crawler writes whatever waits as soon as the last batch is written."""
_LEASE_S: Final = 600.0
_SEEN: Final = tuple(
    seen
    for seen, times in (
        (Observation(Status.FINE, Reason.OK, http=200), 17),
        (
            Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, "https://www.example-host.demo/another/path", http=200),
            2,
        ),
        (Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=404), 1),
    )
    for _ in range(times)
)


async def write(dsn: str, day: int, seconds: float, rate: float) -> dict[str, float]:
    """Finds due URLs as a round does, then writes results for so long or until they are used up."""
    size = max(int(rate / _BATCHES_A_S), 1) if rate else _BATCH
    wanted = int(seconds * (rate or _MOST_A_S))
    held: dict[int, int] = {}
    due: list[tuple[StoredHost, StoredUrl]] = []
    async with open_pool(dsn, size=2, part="benchmark") as pool:
        begun = perf_counter()
        while len(due) < wanted:
            async with pool.connection() as conn:
                more = await lease_buckets(
                    conn, "benchmark", until=Moment(day), limit=_LEASED, lease_s=_LEASE_S, rest_s=0.0
                )
            if not more:
                break
            held |= more
            due += await _due(pool, more, day, wanted - len(due))
        found_s = perf_counter() - begun
        begun = perf_counter()
        done = 0
        while done < len(due) and perf_counter() - begun < seconds:
            batch = [_judged(host, url, day) for host, url in due[done : done + size]]
            if rate:
                await asyncio.sleep(begun + (done + len(batch)) / rate - perf_counter())
            async with pool.connection() as conn:
                await record_batch(conn, "benchmark", batch, held, DEFAULT)
            done += len(batch)
        took_s = perf_counter() - begun
        async with pool.connection() as conn:
            await record_release(conn, "benchmark", held)
    return {"results": done, "seconds": took_s, "found": len(due), "found_s": found_s}


async def _due(pool: Pool, held: Held, day: int, wanted: int) -> list[tuple[StoredHost, StoredUrl]]:
    """Due URLs of these buckets with their hosts, in the order in which a round would take them."""
    async with pool.connection() as conn:
        hosts = await list_due_hosts(conn, list(held), until=Moment(day), beside=[], limit=wanted)
        urls = await list_due_urls(conn, [host.key for host in hosts], day=day, per_host=60)
    return [(host, url) for host in hosts for url in urls[host.key]]


def _judged(host: StoredHost, url: StoredUrl, day: int) -> Checked:
    seen = _SEEN[url.key.url_key % len(_SEEN)]
    record, due = judge(url.record, seen, day)
    return Checked(
        url=url,
        host=host,
        day=day,
        seen=seen,
        record=record,
        due=due,
        host_before=host.record,
        host_after=judge_host(host.record, seen, day),
    )


def write_bare(dsn: str, day: int, seconds: float) -> dict[str, float]:
    """The floor: reads due keys and writes status, days and due, nothing else."""
    done = 0
    read = """SELECT bucket, host_key, url_key FROM url
        WHERE due <= %s AND orphaned IS NULL ORDER BY random() LIMIT %s"""
    write = """UPDATE url SET status = 1, since = %(day)s, asked = %(day)s, due = %(day)s + 7
        FROM unnest(%(bucket)s::smallint[], %(host)s::bigint[], %(url)s::bigint[]) AS given (bucket, host, url)
        WHERE url.bucket = given.bucket AND url.host_key = given.host AND url.url_key = given.url"""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(read, (day, int(5 * seconds * _MOST_A_S))).fetchall()
        connection.commit()
        begun = perf_counter()
        while done < len(rows) and perf_counter() - begun < seconds:
            bucket, host, url = zip(*sorted(rows[done : done + _BATCH]), strict=True)
            given = {"day": day, "bucket": list(bucket), "host": list(host), "url": list(url)}
            done += connection.execute(write, given).rowcount
            connection.commit()
    return {"results": done, "seconds": perf_counter() - begun}


def main(words: list[str]) -> None:
    """Writes and tells."""
    dsn, day, seconds, rate = words[0], int(words[1]), float(words[2]), float(words[3])
    before = used([os.getpid()])
    told = write_bare(dsn, day, seconds) if "bare" in words else run_async(write(dsn, day, seconds, rate))
    print(json.dumps(told | {"cpu_s": used([os.getpid()]).cpu_s - before.cpu_s}))


if __name__ == "__main__":
    main(sys.argv[1:])
