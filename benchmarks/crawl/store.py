"""Scenario store: results written into many URLs, at 200 a second and as fast as possible, beside page queries."""

import json
import subprocess
import sys
from time import perf_counter
from typing import Any

import psycopg

from benchmarks.crawl.links import LINKS_A_PAGE, Single
from benchmarks.crawl.machine import Cores
from benchmarks.crawl.program import Program, open_program
from benchmarks.crawl.server import ROOT
from benchmarks.crawl.table import Target, say, tell, tell_targets

_QUERIES_A_S = 200.0
_RESULTS_A_S = 200.0
_PORT = 8080
"""Nobody listens there: nothing is asked."""


def store(cores: Cores, urls: int, seconds: float, database: str = "") -> list[Target]:
    """Fills a store by the program's own intake, then measures; nobody is bound to a core."""
    available = len(cores.client | cores.others) or 1
    tell(f"store: {urls:,} URLs on as many hosts, {LINKS_A_PAGE} to a page; {available} cores for everything")
    with open_program(database) as program:
        say(f"taking in {urls:,} URLs")
        begun = perf_counter()
        program.take_in(Single(), "http", _PORT, range(urls))
        tell(f"  taken in: {urls / (perf_counter() - begun):,.0f} URLs/s, {_gib(program):.2f} GiB")
        program.rest()
        bench = _Bench(program, cores, urls, seconds)
        bare = bench.written("bare update of the same rows", 0.0, "bare")
        alone = bench.written("recorded, nothing beside", 0.0)
        quiet = bench.queried("page queries, nothing beside")
        steady = bench.both(f"recorded at {_RESULTS_A_S:.0f}/s", _RESULTS_A_S)
        full = bench.both("recorded as fast as possible", 0.0)
    targets = [
        Target("results recorded beside 200 page queries/s ≥ 10,000 a second", full, 10_000),
        Target("page queries beside 200 results/s: median ≤ 3 × the median alone", steady / quiet, 3, at_most=True),
    ]
    tell(f"  recording is {alone / bare:.2f} × a bare update")
    tell_targets(targets)
    tell()
    return targets


class _Bench:
    """The steps, each of which makes everything due again before it begins."""

    def __init__(self, program: Program, cores: Cores, urls: int, seconds: float) -> None:
        self._program = program
        self._cores = cores
        self._pages = urls // LINKS_A_PAGE
        self._seconds = seconds
        with psycopg.connect(program.dsn) as connection:
            row = connection.execute("SELECT wiki FROM wiki").fetchone()
        assert row
        self._wiki = row[0]

    def written(self, what: str, rate: float, *more: str) -> float:
        """Results a second, without queries."""
        say(what)
        self._again()
        return self._told_written(what, _output(self._writer(rate, *more)))

    def queried(self, what: str) -> float:
        """The median of the queries in milliseconds, without results."""
        say(what)
        return self._told_queried(what, _output(self._queries()))

    def both(self, what: str, rate: float) -> float:
        """Results a second beside queries; at a given rate the median of the queries instead."""
        say(f"{what}, beside page queries")
        self._again()
        writer, queries = self._writer(rate), self._queries()
        results = self._told_written(f"{what}, beside queries", _output(writer))
        median = self._told_queried("  page queries beside it", _output(queries))
        return median if rate else results

    def _again(self) -> None:
        self._program.rest()
        self._program.next_round()

    def _writer(self, rate: float, *more: str) -> "subprocess.Popen[str]":
        return self._start("writer", self._program.day, self._seconds, rate, *more)

    def _queries(self) -> "subprocess.Popen[str]":
        return self._start("queries", self._wiki, self._pages, self._seconds, _QUERIES_A_S)

    def _start(self, module: str, *words: object) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", f"benchmarks.crawl.{module}", self._program.dsn, *map(str, words)]
        with self._cores.on_all():
            return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def _told_written(self, what: str, told: dict[str, Any]) -> float:
        rate = float(told["results"] / told["seconds"])
        found = f", found due at {told['found'] / told['found_s']:,.0f}/s" if told.get("found") else ""
        tell(f"  {what:48}{rate:>9,.0f} results/s{found}")
        return rate

    def _told_queried(self, what: str, told: dict[str, Any]) -> float:
        times = f"median {told['p50']:.1f} ms, p99 {told['p99']:.1f} ms, longest {told['most']:.0f} ms"
        tell(f"  {what:48}{told['queries'] / self._seconds:>9,.0f} queries/s, {times}")
        return float(told["p50"])


def _output(process: "subprocess.Popen[str]") -> dict[str, Any]:
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args!r} failed")
    return dict(json.loads(output))


def _gib(program: Program) -> float:
    with psycopg.connect(program.dsn) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return float(row[0]) / (1 << 30) if row else 0.0
