"""Scenario store: results written into many URLs, at 200 a second and as fast as possible, next to page queries.

Each side runs in a process of its own: ``python -m benchmarks.crawl.store (write | bare | query) DSN …`` prints JSON.
"""

import asyncio
import json
import random
import subprocess
import sys
from time import perf_counter
from typing import Any, Final

import psycopg

from benchmarks.crawl.bench import Bench, Settings, open_bench
from benchmarks.crawl.links import LINKS_A_PAGE, single
from benchmarks.crawl.measure import bound
from benchmarks.harness import ROOT, Target, module, say, tell
from weboid.cli.processes.process import run_async
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.verdict.judge import judge, judge_host
from weboid.store.db.pool import Pool, open_pool
from weboid.store.db.rows import StoredHost, StoredUrl
from weboid.store.pages.stored_page import find_page
from weboid.store.results.record import Checked, record_batch
from weboid.store.schedule.lease import Held, lease_buckets, record_release
from weboid.store.urls.url import find_urls, list_due_hosts, list_due_urls

_QUERIES_A_S: Final = 200.0
_RESULTS_A_S: Final = 200.0
_CONNECTIONS: Final = 8
_BATCH: Final = 500
_LEASED: Final = 512
_MOST_A_S: Final = 20_000
_BATCHES_A_S: Final = 10.0
"""Of results that come slowly: the crawler writes whatever waits as soon as the last batch is written."""
_MOVED: Final = "https://www.example-host.demo/another/path"
_SEEN: Final = (
    *(Observation(Status.FINE, Reason.OK, http=200),) * 17,
    *(Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, _MOVED, http=200),) * 2,
    Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=404),
)
_DUE: Final = """SELECT bucket, host_key, url_key FROM url
    WHERE due <= %s AND orphaned IS NULL ORDER BY random() LIMIT %s"""
_BARE: Final = """UPDATE url SET status = 1, since = %(day)s, asked = %(day)s, due = %(day)s + 7
    FROM unnest(%(bucket)s::smallint[], %(host)s::bigint[], %(url)s::bigint[]) AS given (bucket, host, url)
    WHERE url.bucket = given.bucket AND url.host_key = given.host AND url.url_key = given.url"""


def store(settings: Settings, urls: int) -> list[Target]:
    """Fills a store by the program's own intake, then measures; nobody is bound to a core."""
    tell(f"store: {urls:,} URLs on as many hosts, {LINKS_A_PAGE} a page; {settings.cores.number} cores for everything")
    with open_bench(settings) as bench:
        took_s = bench.take_in(single, urls)
        with psycopg.connect(bench.dsn) as conn:
            row = conn.execute("SELECT wiki, pg_database_size(current_database()) FROM wiki").fetchone()
        assert row
        tell(f"  taken in: {urls / took_s:,.0f} URLs/s, {row[1] / (1 << 30):.2f} GiB")
        steps = _Steps(bench, row[0], urls // LINKS_A_PAGE)
        bare = steps.run("bare update of the same rows", kind="bare")
        alone = steps.run("recorded, nothing next to")
        quiet = steps.run("page queries, nothing next to", kind="query")
        steady = steps.both(f"recorded at {_RESULTS_A_S:.0f}/s", _RESULTS_A_S)
        full = steps.both("recorded as fast as possible", 0.0)
    tell(f"  recording is {alone / bare:.2f} × a bare update")
    return [
        Target("results recorded next to 200 page queries/s ≥ 10,000 a second", full, 10_000),
        Target("page queries next to 200 results/s: median ≤ 3 × the median alone", steady / quiet, 3, at_most=True),
    ]


class _Steps:
    """The steps, each of which makes everything due again before it begins."""

    def __init__(self, bench: Bench, wiki: int, pages: int) -> None:
        self._bench = bench
        self._wiki = wiki
        self._pages = pages

    def run(self, what: str, *, kind: str = "write") -> float:
        """Results a second, or the median of queries in milliseconds."""
        say(what)
        self._bench.next_round()
        return self._reported(what, self._start(kind, 0.0))

    def both(self, what: str, rate: float) -> float:
        """Results a second next to queries; at a given rate the median of the queries instead."""
        say(f"{what}, next to page queries")
        self._bench.next_round()
        writer = self._start("write", rate)
        assert writer.stdout
        writer.stdout.readline()  # what is due is found: queries before that would be next to nothing
        queries = self._start("query", 0.0)
        results = self._reported(f"{what}, next to queries", writer)
        median = self._reported("  page queries next to it", queries)
        return median if rate else results

    def _start(self, kind: str, rate: float) -> "subprocess.Popen[str]":
        seconds, cores = self._bench.settings.seconds, self._bench.settings.cores
        words = (self._wiki, self._pages, seconds) if kind == "query" else (self._bench.day, seconds, rate)
        command = [str(word) for word in module("crawl.store", kind, self._bench.dsn, *words)]
        with bound(cores.client | cores.others):
            return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def _reported(self, what: str, process: "subprocess.Popen[str]") -> float:
        output, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{process.args!r} failed")
        reported: dict[str, Any] = json.loads(output)
        if "p50" in reported:
            times = f"median {reported['p50']:.1f} ms, p99 {reported['p99']:.1f} ms, longest {reported['most']:.0f} ms"
            tell(f"  {what:48}{reported['queries'] / self._bench.settings.seconds:>9,.0f} queries/s, {times}")
            return float(reported["p50"])
        rate = float(reported["results"] / reported["seconds"])
        found = f", found due at {reported['found'] / reported['found_s']:,.0f}/s" if reported.get("found") else ""
        tell(f"  {what:48}{rate:>9,.0f} results/s{found}")
        return rate


async def query(dsn: str, wiki: float, pages: float, seconds: float) -> dict[str, float]:
    """Page queries at a steady rate: a page at random with all that is known of its URLs, as the webservice finds it.

    A query's time counts from the moment it was due, so that one that holds up the next ones is not forgiven.
    """
    chance = random.Random(1)
    times_ms: list[float] = []
    async with open_pool(dsn, size=_CONNECTIONS, part="benchmark") as pool:
        await asyncio.gather(*(_query(pool, int(wiki), 1, perf_counter(), []) for _ in range(_CONNECTIONS)))
        begun = perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(int(seconds * _QUERIES_A_S)):
                due = begun + number / _QUERIES_A_S
                await asyncio.sleep(due - perf_counter())
                group.create_task(_query(pool, int(wiki), chance.randint(1, int(pages)), due, times_ms))
    times_ms.sort()
    found = {"p50": times_ms[len(times_ms) // 2], "p99": times_ms[len(times_ms) * 99 // 100], "most": times_ms[-1]}
    return {"queries": len(times_ms), **found}


async def _query(pool: Pool, wiki: int, page: int, due: float, times_ms: list[float]) -> None:
    async with pool.connection() as conn:
        stored = await find_page(conn, wiki, page=page)
        assert stored
        known = await find_urls(conn, stored.urls)
    assert len(known) == len(stored.urls)
    times_ms.append(1e3 * (perf_counter() - due))


async def write(dsn: str, today: float, seconds: float, rate: float) -> dict[str, float]:
    """Finds due URLs as a round does, judges made-up answers for them and writes those by the crawler's `record_batch`.

    `rate` a second (0 = as fast as possible), for so long or until they are used up. Prints a line when they are found.
    """
    day, size = int(today), max(int(rate / _BATCHES_A_S), 1) if rate else _BATCH
    wanted = int(seconds * (rate or _MOST_A_S))
    held: dict[int, int] = {}
    due: list[tuple[StoredHost, StoredUrl]] = []
    async with open_pool(dsn, size=2, part="benchmark") as pool:
        begun = perf_counter()
        while len(due) < wanted:
            async with pool.connection() as conn:
                more = await lease_buckets(
                    conn, "benchmark", until=Moment(day), limit=_LEASED, lease_s=600.0, rest_s=0.0
                )
            if not more:
                break
            held |= more
            due += await _due(pool, more, day, wanted - len(due))
        found_s = perf_counter() - begun
        print(flush=True)
        begun, done = perf_counter(), 0
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
        hosts = await list_due_hosts(conn, list(held), until=Moment(day), without=[], limit=wanted)
        urls = await list_due_urls(conn, [host.key for host in hosts], day=day, per_host=60)
    return [(host, url) for host in hosts for url in urls[host.key]]


def _judged(host: StoredHost, url: StoredUrl, day: int) -> Checked:
    seen = _SEEN[url.key.url_key % len(_SEEN)]
    record, due = judge(url.record, seen, day)
    after = judge_host(host.record, seen, day)
    return Checked(
        url=url, host=host, day=day, seen=seen, record=record, due=due, host_before=host.record, host_after=after
    )


def write_bare(dsn: str, day: float, seconds: float) -> dict[str, float]:
    """The floor: writes status, days and due of due keys by a plain UPDATE a batch: no judgement, leases or hosts."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = connection.execute(_DUE, (day, int(5 * seconds * _MOST_A_S))).fetchall()
        begun, done = perf_counter(), 0
        while done < len(rows) and perf_counter() - begun < seconds:
            bucket, host, url = zip(*sorted(rows[done : done + _BATCH]), strict=True)
            given = {"day": int(day), "bucket": list(bucket), "host": list(host), "url": list(url)}
            done += connection.execute(_BARE, given).rowcount
    return {"results": done, "seconds": perf_counter() - begun}


def main(kind: str, dsn: str, *words: str) -> None:
    """Runs one side, and prints what came of it."""
    first, second, third = map(float, words)
    if kind == "bare":
        print(json.dumps(write_bare(dsn, first, second)))
    else:
        print(json.dumps(run_async((query if kind == "query" else write)(dsn, first, second, third))))


if __name__ == "__main__":
    main(*sys.argv[1:])
