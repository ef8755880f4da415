"""Rounds of several crawlers on one store, by the program's own command: whether transactions wait for each other.

    python -m benchmarks.deadlocks [--rounds 30] [--hosts 1000] [--crawlers 3] [--lease-s 9]

Three URLs a host, all on loopback. Leases are renewed every third of their time, so that short ones are renewed in the
middle of many batches. It prints for each round the seconds and how many deadlocks the server has counted
(``pg_stat_database``), and in the end those lines of the crawlers that tell of a database that is away.
"""

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.commands import Place, open_place

from weboid.demo.world import Behaviour, Host, Life, Page, Spell, World
from weboid.store.embedded.server import open_server

_PATHS: Final = 3
_FIRST: Final = 100
_WEEK: Final = 7


async def _round(place: Place, day: int, crawlers: int) -> list[str]:
    """What crawlers say on their standard error in one round."""
    started = [await place.start("crawl", "--once", "--day", str(day)) for _ in range(crawlers)]
    ended = await asyncio.gather(*(process.communicate() for process in started))
    said = [line for _, err in ended for line in err.decode().splitlines()]
    return [*said, *(f"a crawler has ended with {each.returncode}" for each in started if each.returncode)]


def _counted(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()
    assert row
    return int(row[0])


async def _run(rounds: int, hosts: int, crawlers: int, lease_s: float) -> None:
    fine: Life[Behaviour] = (Spell(0, Page()),)
    world = World({f"h{host}.demo": Host(paths={f"/{path}": fine for path in range(_PATHS)}) for host in range(hosts)})
    urls = [f"http://h{host}.demo/{path}" for host in range(hosts) for path in range(_PATHS)]
    said: list[str] = []
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        async with open_place(Path(folder), world, {"All": urls}) as place:
            place.environ |= {"WEBOID_CRAWL_DELAY": "0", "WEBOID_CRAWL_LEASE_S": str(lease_s)}
            with open_server(place.folder / "data") as server:
                assert (await place.run("feed", "pass", "--day", str(_FIRST))).status == 0
                for number in range(rounds):
                    begun = time.perf_counter()
                    said += await _round(place, _FIRST + _WEEK * number, crawlers)
                    took_s = time.perf_counter() - begun
                    print(f"round {number + 1}: {took_s:.1f} s, {_counted(server.dsn)} deadlocks so far", flush=True)
    for line in said:
        if any(word in line for word in ("away", "deadlock", "it is over", "has ended")):
            print(line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--crawlers", type=int, default=3)
    parser.add_argument("--lease-s", type=float, default=9.0)
    given = parser.parse_args()
    asyncio.run(_run(given.rounds, given.hosts, given.crawlers, given.lease_s))
