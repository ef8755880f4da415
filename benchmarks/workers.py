"""A worker of ``weboid serve`` that is killed under load: ``python -m benchmarks.workers``.

Prints what that costs: broken answers, and the pause until it answers again. Two workers next to one under load are
variants of ``benchmarks.load``.
"""

import asyncio
import os
import signal
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

from benchmarks.harness import begin, open_migrated, open_serve, say, take_in, tell, temporary_store
from benchmarks.pages.load import request_of
from benchmarks.pages.seed import prepare

_LINKS: Final = 20
_CALLERS: Final = 16
_REQUEST: Final = request_of("/api/page?dbname=benchwiki@wmflabs&pageid=1&all=1&format=json", Connection="close")


async def _fill(dsn: str) -> None:
    await prepare(dsn)
    async with open_migrated(dsn) as pool:
        await take_in(pool, [f"http://www.host-{n}.demo/path.html" for n in range(_LINKS)], _LINKS)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def _kill(url: str, pid: int) -> None:
    """Kills one of the workers while callers, each with a new connection a request, ask on."""
    host, port = url.removeprefix("http://").split(":")
    answered = broken = 0
    killed = children_of(pid)[0]
    until = perf_counter() + 6

    async def ask() -> None:
        nonlocal answered, broken
        while perf_counter() < until:
            try:
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(_REQUEST)
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
    begin("workers")
    with temporary_store() as dsn:
        say("filling the store")
        asyncio.run(_fill(dsn))
        with open_serve(dsn, "--workers", "2", WEBOID_WEB_RATE="0") as (url, pid):
            while len(children_of(pid)) < 2:
                sleep(0.02)
            say("killing a worker")
            asyncio.run(_kill(url, pid))


if __name__ == "__main__":
    main()
