"""Page information next to the bare query for the same links: ``python -m benchmarks.pages [--urls N]``.

Prints, as ratios in one run: how long pages with 500 links take next to the statement that finds their URLs, warm and
cold; answers a second and CPU time an answer next to a bare aiohttp handler; the size of a gadget's answer, and whether
it is cacheable.
The whole of it: ``--urls 5000000``.
One law: the database's buffers hold a quarter of the store at the most, and every request is for another page.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final

import psycopg
import uvloop

from benchmarks.harness import (
    Target,
    begin,
    database_pid,
    module,
    open_process,
    say,
    tell,
    tell_targets,
    temporary_folder,
    used,
)
from benchmarks.pages.load import Caller, Reply, plain_body, rate_of, request_of
from benchmarks.pages.seed import LINKS_A_PAGE, LIVES, World, fill, prepare
from benchmarks.pages.service import FEW_FROM, FEW_LINKS
from weboid.core.url.farms import WikiName
from weboid.core.url.keys import key_of
from weboid.store.db.connection import ArrayDumper
from weboid.store.db.rows import key_columns
from weboid.store.embedded import open_server
from weboid.store.urls.url import SQL

_WIKI: Final = WikiName("benchwiki", "wmflabs")
_MOST_BUFFERS_KIB: Final = 128 * 1024
_SHARE: Final = 4
_WARM_UP: Final = 30
_FEW_PAGES: Final = 400
_COLD_A_RESTART: Final = 10
_CONNECTIONS: Final = 8
_AGAIN_LIMIT: Final = 0.5
_P99_LIMIT: Final = 5.0
_SIZES: Final = (
    "SELECT pg_total_relation_size('url') + pg_total_relation_size('host'), current_setting('shared_buffers')"
)
_KINDS: Final = {
    "HTML, findings": "/externalLinkInfo?dbname={wiki}&pageid={page}",
    "HTML, all=1": "/externalLinkInfo?dbname={wiki}&pageid={page}&all=1",
    "JSON, all=1": "/api/page?dbname={wiki}&pageid={page}&all=1&format=json",
}
_MEDIAN_LIMITS: Final = {"HTML, findings": 2.0, "HTML, all=1": 3.0, "JSON, all=1": 3.0}
_MADE, _AGAIN = f"JSON, {FEW_LINKS} links", "JSON, 304"
_VARIANTS: Final = 50
"""Of each page with few links, so that hardly one is asked for twice."""
_JSON: Final = "/api/page?dbname={wiki}&pageid={page}&format=json"
_GADGET: Final = "/externalLinkProblem?dbname={wiki}&pageid={page}&callback=weboid"


@dataclass(slots=True)
class Times:
    """Milliseconds by what was asked; None is the bare query."""

    ms: dict[str | None, list[float]] = field(default_factory=dict)

    def add(self, kind: str | None, begun: float) -> None:
        self.ms.setdefault(kind, []).append(1e3 * (perf_counter() - begun))

    def p(self, kind: str | None, share: float) -> float:
        """The median (0.5), the 99th percentile (0.99)."""
        times = sorted(self.ms[kind])
        return median(times) if share == 0.5 else times[min(int(share * len(times)), len(times) - 1)]


class Bench:
    """The store, the service and the pages that are still to be asked for."""

    def __init__(self, world: World, dsn: str, url: str, bare_url: str, service_pid: int) -> None:
        self.world = world
        self.dsn = dsn
        self.url = url
        self.bare_url = bare_url
        self.service_pid = service_pid
        self._fresh = iter(range(1, FEW_FROM))

    def compared(self, samples: int, times: Times) -> None:
        """Asks for so many pages of each kind and as many bare queries, in turn."""
        caller = Caller(self.url)
        with psycopg.connect(self.dsn, autocommit=True, prepare_threshold=2) as conn:
            conn.adapters.register_dumper(list, ArrayDumper)
            conn.execute("SELECT")
            for _ in range(_CONNECTIONS):  # so that neither side pays for connections anew
                _require(caller.ask(_JSON.format(wiki=_WIKI, page=FEW_FROM)))
            for _ in range(samples):
                self._bare(conn, times)
                for kind, path in _KINDS.items():
                    begun = perf_counter()
                    reply = caller.ask(path.format(wiki=_WIKI, page=next(self._fresh)))
                    times.add(kind, begun)
                    _require(reply)
        caller.close()

    def _bare(self, conn: psycopg.Connection[tuple[object, ...]], times: Times) -> None:
        columns = self._columns()
        begun = perf_counter()
        rows = conn.execute(SQL["find_urls"], columns).fetchall()
        times.add(None, begun)
        assert len(rows) == len(columns["url_key"])

    def _columns(self) -> dict[str, Any]:
        """What the statement is given for the next page: of no wiki, which is what all answers know of URLs."""
        numbers = self.world.numbers_of(next(self._fresh), LINKS_A_PAGE)
        return {**key_columns(sorted(key_of(self.world.url(number)) for number in numbers)), "wiki": None}

    def cpu(self, samples: int) -> None:
        """CPU time of service and database, or of the bare query and the database: what a busy machine cannot blur."""
        costs: dict[str | None, float] = {}
        caller = Caller(self.url)
        with psycopg.connect(self.dsn, autocommit=True, prepare_threshold=2) as conn:
            conn.adapters.register_dumper(list, ArrayDumper)
            database = database_pid(self.dsn)
            columns = [self._columns() for _ in range(samples)]
            before, own = used(database).cpu_s, process_time()
            for each in columns:
                conn.execute(SQL["find_urls"], each).fetchall()
            costs[None] = used(database).cpu_s - before + process_time() - own
            for kind, path in _KINDS.items():
                before = used(database, self.service_pid).cpu_s
                for _ in range(samples):
                    _require(caller.ask(path.format(wiki=_WIKI, page=next(self._fresh))))
                costs[kind] = used(database, self.service_pid).cpu_s - before
        caller.close()
        each_ms = {kind: 1e3 * cost / samples for kind, cost in costs.items()}
        reported = ", ".join(
            f"{kind} {cost:.1f} ms: {cost / each_ms[None]:.2f} ×" for kind, cost in each_ms.items() if kind is not None
        )
        tell(f"  CPU time with the database, warm: bare query {each_ms[None]:.1f} ms, {reported}")

    def warm(self, samples: int) -> Times:
        """Latencies once all caches have what they can hold."""
        self.compared(_WARM_UP, Times())
        times = Times()
        self.compared(samples, times)
        return times

    def cold(self, samples: int, restarted: Callable[[], None]) -> Times:
        """Latencies of the first requests after a restart of the database with nothing of it in memory."""
        times = Times()
        for _ in range(-(-samples // _COLD_A_RESTART)):
            restarted()
            self.compared(_COLD_A_RESTART, times)
        return times

    def rates(self, seconds: float, slices: int) -> list[Target]:
        """Answers a second and CPU time an answer, next to the bare handler with the same bytes.

        Made anew is each for another day of citation, or another callback; kept are those that were made before.
        """
        caller = Caller(self.url)
        pages = [FEW_FROM + number for number in range(_FEW_PAGES)]
        cpu_ms = {}
        for name, path, variants, again in (
            (_MADE, f"{_JSON}&at=1{{n:03}}-01-01", _VARIANTS, False),
            (f"gadget, {FEW_LINKS} links", f"{_GADGET}{{n}}", _VARIANTS, False),
            ("JSON, kept", _JSON, 1, False),
            ("gadget, kept", _GADGET, 1, False),
            (_AGAIN, _JSON, 1, True),
        ):
            paths = [path.format(wiki=_WIKI, page=page, n=n) for page in pages for n in range(variants)]
            replies = [caller.ask(each) for each in (paths if variants == 1 else paths[:1])]
            bare = name.encode().hex()
            _require(Caller(self.bare_url).ask(f"/bare/{bare}", method="PUT", body=replies[0].body), 204)
            tags = [{"If_None_Match": reply.headers["etag"]} for reply in replies] if again else [{} for _ in paths]
            asked = [request_of(each, "GET", b"", **tag) for each, tag in zip(paths, tags, strict=True)]
            cpu_ms[name] = self._reported_rate(
                name, asked, 304 if again else 200, request_of(f"/bare/{bare}"), seconds, slices
            )
        caller.close()
        share = cpu_ms[_AGAIN] / cpu_ms[_MADE]
        return [
            Target(f"CPU of a 304 next to an answer made anew, 20 links: ≤ {_AGAIN_LIMIT:g}", share, _AGAIN_LIMIT, True)
        ]

    def _reported_rate(
        self, name: str, ours: list[bytes], expected: int, bare: bytes, seconds: float, slices: int
    ) -> float:
        """Tells a rate; returns the CPU time of service and database for an answer of ours, in milliseconds."""
        found: dict[str, list[tuple[float, float, float]]] = {"ours": [], "bare": []}
        database = database_pid(self.dsn)
        for _ in range(slices):
            for side, url, requests, status in (
                ("ours", self.url, ours, expected),
                ("bare", self.bare_url, [bare], 200),
            ):
                before, stored = used(self.service_pid).cpu_s, used(database).cpu_s
                rate = uvloop.run(
                    rate_of(url, requests, expected=status, connections=_CONNECTIONS, seconds=seconds / slices)
                )
                each_ms = 1e3 / (rate * seconds / slices)
                cpu_ms = each_ms * (used(self.service_pid).cpu_s - before)
                found[side].append((rate, cpu_ms, each_ms * (used(database).cpu_s - stored)))
        (rate, cpu, stored), (bare_rate, bare_cpu, _) = (
            [median(values) for values in zip(*found[side], strict=True)] for side in ("ours", "bare")
        )
        tell(
            f"  {name:20}{rate:>8,.0f}/s, bare {bare_rate:>8,.0f}/s: ratio {rate / bare_rate:.2f}; "
            f"CPU {cpu:.2f} ms, bare {bare_cpu:.2f}: {cpu / bare_cpu:.1f} ×; the database's {stored:.2f} ms"
        )
        return float(cpu + stored)

    def gadget(self) -> None:
        """How large the gadget's answer is, and what a second request costs."""
        caller = Caller(self.url)
        for page in (FEW_FROM, next(self._fresh)):
            path = _GADGET.format(wiki=_WIKI, page=page)
            reply = caller.ask(path)
            _require(reply)
            compressed = reply.headers.get("content-encoding")
            body = plain_body(reply)
            again = caller.ask(path, If_None_Match=reply.headers.get("etag", '""'))
            tell(
                f"  gadget, {'20' if page == FEW_FROM else LINKS_A_PAGE} links: {len(body):,} bytes, "
                f"{len(reply.body):,} as sent ({compressed or 'not compressed'}); "
                f"Cache-Control: {reply.headers['cache-control']}; "
                f"asked again with its ETag: {again.status}, {len(again.body)} bytes"
            )
        caller.close()


def _require(reply: Reply, status: int = 200) -> None:
    if reply.status != status:
        raise RuntimeError(f"an answer has the status {reply.status} instead of {status}: {reply.body[:300]!r}")


def _buffers_kib(size: int) -> int:
    return max(128, min(_MOST_BUFFERS_KIB, size // 1024 // _SHARE))


def _evict(data: Path) -> int:
    """Takes the files of a database that has stopped out of the system's cache; returns their bytes."""
    total = 0
    for path in data.rglob("*"):
        if path.is_file() and not path.is_symlink():
            file = os.open(path, os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            total += os.fstat(file).st_size
            os.close(file)
    return total


def _tell_times(name: str, times: Times) -> list[Target]:
    bare, bare_p99 = times.p(None, 0.5), times.p(None, 0.99)
    tell(f"  {name}, {len(times.ms[None])} of each: bare query median {bare:.2f} ms, p99 {bare_p99:.2f} ms")
    targets = []
    for kind, limit in _MEDIAN_LIMITS.items():
        ours, p99 = times.p(kind, 0.5), times.p(kind, 0.99)
        tell(
            f"    {kind:18}median {ours:>6.2f} ms: {ours / bare:>5.2f} ×;  p99 {p99:>6.2f} ms: {p99 / bare_p99:>5.2f} ×"
        )
        targets += [
            Target(f"{name}, {kind}: median ≤ {limit:g} × the bare query", ours / bare, limit, True),
            Target(f"{name}, {kind}: p99 ≤ {_P99_LIMIT:g} × the bare query", p99 / bare_p99, _P99_LIMIT, True),
        ]
    return targets


def bench(folder: Path, urls: int, lives: int, samples: int, cold: int, seconds: float) -> None:
    data = folder / "data"
    world = World(urls)
    with open_server(data) as server:
        uvloop.run(prepare(server.dsn, _WIKI.dbname))
        say(f"filling the store with {urls:,} URLs")
        begun = perf_counter()
        fill(server.dsn, world, lives)
        say(f"filled in {perf_counter() - begun:.0f} s")
        with psycopg.connect(server.dsn.replace("user=weboid", "user=postgres"), autocommit=True) as conn:
            row = conn.execute(_SIZES.encode()).fetchone()
            assert row
            conn.execute(f"ALTER SYSTEM SET shared_buffers = '{_buffers_kib(row[0])}kB'".encode())
    server = open_server(data)
    try:
        with psycopg.connect(server.dsn) as conn:
            row = conn.execute(_SIZES.encode()).fetchone()
            assert row
        kib = _buffers_kib(row[0])
        tell(
            f"store: {urls:,} URLs, {row[0] / (1 << 20):,.0f} MiB with indexes; shared_buffers {row[1]}: "
            f"the store is {row[0] / 1024 / kib:.1f} times that; pages of {LINKS_A_PAGE} links drawn at random, "
            "read live from a wiki in the same process"
        )
        pages = 4 * (_WARM_UP + 2 * samples + cold + _COLD_A_RESTART) + 1
        with open_process(module("pages.service", server.dsn, urls, pages, _FEW_PAGES)) as (process, line):
            url, bare_url = line.split()
            ran = Bench(world, server.dsn, url, bare_url, process.pid)

            def restarted() -> None:
                nonlocal server
                server.close()
                _evict(data / "postgres")
                server = open_server(data)

            say("warm")
            targets = _tell_times("warm", ran.warm(samples))
            ran.cpu(samples)
            if cold:
                say("cold")
                targets += _tell_times("cold", ran.cold(cold, restarted))
            say("rates")
            targets += ran.rates(seconds, 5)
            ran.gadget()
        tell_targets(targets)
    finally:
        server.close()


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    options.add_argument("--urls", type=int, default=100_000)
    options.add_argument("--lives", type=int, default=LIVES, help="so many different ones have the URLs")
    options.add_argument("--samples", type=int, default=100, help="pages of each kind, warm")
    options.add_argument("--cold", type=int, default=40, help="pages of each kind, cold; 0 = none")
    options.add_argument("--seconds", type=float, default=5.0, help="for each rate, ours and the bare one")
    asked = options.parse_args()
    begin("pages")
    with temporary_folder() as folder:
        bench(folder, asked.urls, asked.lives, asked.samples, asked.cold, asked.seconds)


if __name__ == "__main__":
    main()
