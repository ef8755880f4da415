"""Two workers beside one: ``python -m benchmarks.workers [--workers N] [--seconds S]``.

Prints answers a second and the processor time of ``weboid serve`` with one process and with N workers, in turn over the
same store; how the work was shared out among the workers; and what a worker that is killed under load costs: broken
answers, and the pause until it answers again. Callers and database need processors, too: where there are two for all of
them, two workers cannot answer twice as much.
"""

import argparse
import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Final

from benchmarks.crawl.machine import described, end_in_order, used
from benchmarks.crawl.server import ROOT
from benchmarks.crawl.table import say, tell
from benchmarks.pages.load import rate_of, request_of
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.intake import page_urls
from weboid.store.db.key_scheme import record_scheme
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import open_pool
from weboid.store.embedded.server import open_server
from weboid.store.pages.page import record_pages
from weboid.store.pages.wiki import record_wiki
from weboid.wiki.source import PageLinks

_WIKI: Final = WikiName("workerwiki", "wmflabs")
_PAGES: Final = 400
_LINKS: Final = 20
_CALLERS: Final = 16
_SLICES: Final = 5
_PATHS: Final = {
    f"JSON, {_LINKS} links": f"/api/page?dbname={_WIKI}&pageid={{page}}&all=1&format=json",
    f"HTML, {_LINKS} links": f"/externalLinkInfo?dbname={_WIKI}&pageid={{page}}&all=1",
}


async def _fill(dsn: str) -> None:
    async with open_pool(dsn, size=1, part="benchmark") as pool, pool.connection() as conn:
        await migrate(conn)
        await record_scheme(conn)
        wiki = await record_wiki(conn, WMFLABS, _WIKI)
        pages = []
        for page in range(1, _PAGES + 1):
            urls = tuple(f"http://www.host-{number}.demo/path-{page}.html" for number in range(_LINKS))
            pages.append(page_urls(PageLinks(page, 0, f"Page {page}", 1, None, urls), WMFLABS))
        await record_pages(conn, wiki.wiki, pages, 100)


@contextmanager
def _service(dsn: str, workers: int) -> Iterator[tuple[str, int]]:
    """Its address and its process."""
    environ = {**os.environ, "WEBOID_DATABASE": dsn, "WEBOID_WEB_RATE": "0"}
    command = [sys.executable, "-m", "weboid", "serve", "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            while not (found := re.search(r"answers at (\S+)/", line := process.stderr.readline())):
                if not line:
                    raise RuntimeError("the service did not start")
            while workers > 1 and len(children_of(process.pid)) < workers:
                os.sched_yield()
            yield found[1], process.pid
        finally:
            process.terminate()
            process.stderr.read()


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _rates(places: dict[int, tuple[str, int]], seconds: float) -> None:
    for name, path in _PATHS.items():
        requests = [request_of(path.format(page=page)) for page in range(1, _PAGES + 1)]
        rates: dict[int, list[float]] = {count: [] for count in places}
        costs: dict[int, list[float]] = {count: [] for count in places}
        shares: list[float] = []
        for _ in range(_SLICES):
            for count, (url, pid) in places.items():
                before = used([pid]).cpu_s
                each = {child: used([child]).cpu_s for child in children_of(pid)}
                rate = asyncio.run(
                    rate_of(url, requests, expected=200, connections=_CALLERS, seconds=seconds / _SLICES)
                )
                spent = [used([child]).cpu_s - cpu_s for child, cpu_s in each.items()]
                rates[count].append(rate)
                costs[count].append(1e3 * (used([pid]).cpu_s - before) / (rate * seconds / _SLICES))
                shares += [max(spent) / sum(spent)] if len(spent) > 1 else []
        one, many = (median(rates[count]) for count in places)
        one_ms, many_ms = (median(costs[count]) for count in places)
        tell(
            f"  {name}: one process {one:,.0f}/s, {max(places)} workers {many:,.0f}/s: {many / one:.2f} ×; "
            f"CPU an answer {one_ms:.2f} and {many_ms:.2f} ms; the busiest worker did {median(shares):.0%}"
        )


async def _kill(url: str, pid: int) -> None:
    """Kills one of the workers while callers, each with a new connection a request, ask on."""
    host, port = url.removeprefix("http://").split(":")
    request = request_of(_PATHS[f"JSON, {_LINKS} links"].format(page=1), Connection="close")
    answered = broken = 0
    killed = children_of(pid)[0]
    until = perf_counter() + 6

    async def ask() -> None:
        nonlocal answered, broken
        while perf_counter() < until:
            try:
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(request)
                is_whole = (await reader.read()).startswith(b"HTTP/1.1 200")
                writer.close()
            except OSError:
                is_whole = False
            answered, broken = answered + is_whole, broken + (not is_whole)

    asking = [asyncio.create_task(ask()) for _ in range(_CALLERS)]
    await asyncio.sleep(1)
    os.kill(killed, signal.SIGKILL)
    back_s = await asyncio.to_thread(_seconds_without, killed, pid)
    await asyncio.gather(*asking)
    tell(
        f"  a worker killed under {_CALLERS} callers: {broken} of {answered + broken:,} answers broken "
        f"(at most {_CALLERS} were under way); its successor was started after {back_s:.1f} s"
    )
    if broken > _CALLERS:
        raise RuntimeError("requests were lost that the killed worker had not accepted")


def _seconds_without(killed: int, parent: int) -> float:
    """How long it takes until another process stands in for the one that was killed."""
    begun, workers = perf_counter(), len(children_of(parent))
    while len(children_of(parent)) < workers or killed in children_of(parent):
        sleep(0.02)
    return perf_counter() - begun


def bench(folder: Path, workers: int, seconds: float) -> None:
    """All of it."""
    with open_server(folder / "data") as server:
        say("filling the store")
        asyncio.run(_fill(server.dsn))
        with _service(server.dsn, 1) as alone, _service(server.dsn, workers) as several:
            say("answers a second")
            _rates({1: alone, workers: several}, seconds)
            say("killing a worker")
            asyncio.run(_kill(*several))


def main() -> None:
    """Reads the options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--seconds", type=float, default=20, help="for each kind of answer and number of workers")
    given = options.parse_args()
    end_in_order()
    tell(described())
    folder = Path(tempfile.mkdtemp(prefix="weboid-workers-"))
    folder.chmod(0o711)
    try:
        bench(folder, max(given.workers, 2), given.seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
