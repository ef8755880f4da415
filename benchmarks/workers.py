"""Two workers next to one: ``python -m benchmarks.workers [--workers N] [--seconds S]``.

Prints answers a second and the processor time of ``weboid serve`` with one process and with N workers, in turn over the
same store; how the work was shared out among the workers; and what a worker that is killed under load costs: broken
answers, and the pause until it answers again. Callers and database need processors, too: where there are two for all of
them, two workers cannot answer twice as much.
"""

import argparse
import asyncio
import os
import signal
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Final

from benchmarks.harness import begin, open_migrated, open_serve, say, take_in, tell, temporary_store, used
from benchmarks.pages.load import rate_of, request_of
from benchmarks.pages.seed import prepare

_WIKI: Final = "benchwiki@wmflabs"
_PAGES: Final = 400
_LINKS: Final = 20
_CALLERS: Final = 16
_SLICES: Final = 5
_PATHS: Final = {
    f"JSON, {_LINKS} links": f"/api/page?dbname={_WIKI}&pageid={{page}}&all=1&format=json",
    f"HTML, {_LINKS} links": f"/externalLinkInfo?dbname={_WIKI}&pageid={{page}}&all=1",
}


async def _fill(dsn: str) -> None:
    await prepare(dsn)
    async with open_migrated(dsn) as pool:
        urls = [f"http://www.host-{n % _LINKS}.demo/path-{n // _LINKS}.html" for n in range(_PAGES * _LINKS)]
        await take_in(pool, urls, _LINKS)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _rates(places: dict[int, tuple[str, int]], seconds: float) -> None:
    for name, path in _PATHS.items():
        requests = [request_of(path.format(page=page)) for page in range(1, _PAGES + 1)]
        rates: dict[int, list[float]] = {count: [] for count in places}
        costs: dict[int, list[float]] = {count: [] for count in places}
        shares: list[float] = []
        for _ in range(_SLICES):
            for count, (url, pid) in places.items():
                before = used(pid).cpu_s
                each = {child: used(child).cpu_s for child in children_of(pid)}
                rate = asyncio.run(
                    rate_of(url, requests, expected=200, connections=_CALLERS, seconds=seconds / _SLICES)
                )
                spent = [used(child).cpu_s - cpu_s for child, cpu_s in each.items()]
                rates[count].append(rate)
                costs[count].append(1e3 * (used(pid).cpu_s - before) / (rate * seconds / _SLICES))
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


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--seconds", type=float, default=20, help="for each kind of answer and number of workers")
    given = options.parse_args()
    begin("workers")
    count = max(given.workers, 2)
    with temporary_store() as dsn:
        say("filling the store")
        asyncio.run(_fill(dsn))
        several_words = ("--workers", str(count))
        with (
            open_serve(dsn, WEBOID_WEB_RATE="0") as alone,
            open_serve(dsn, *several_words, WEBOID_WEB_RATE="0") as several,
        ):
            while len(children_of(several[1])) < count:
                sleep(0.02)
            say("answers a second")
            _rates({1: alone, count: several}, given.seconds)
            say("killing a worker")
            asyncio.run(_kill(*several))


if __name__ == "__main__":
    main()
