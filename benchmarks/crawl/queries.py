"""Page queries at a steady rate: ``python -m benchmarks.crawl.queries DSN WIKI PAGES SECONDS RATE``.

Each finds a page at random with all that is known of its URLs, as the webservice does for a stored page. A query's time
counts from the moment it was due, so that one that holds up the next ones is not forgiven. Prints JSON: how many, and
the median, 99th percentile and longest time in milliseconds.
"""

import asyncio
import json
import random
import sys
from time import perf_counter
from typing import Final

from weboid.cli.processes.process import run_async
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.stored_page import find_page
from weboid.store.urls.url import find_urls

_CONNECTIONS: Final = 8


async def main(dsn: str, wiki: int, pages: int, seconds: float, rate: float) -> None:
    """Asks and tells."""
    chance = random.Random(1)
    times_ms: list[float] = []
    async with open_pool(dsn, size=_CONNECTIONS, part="benchmark") as pool:
        await asyncio.gather(*(_query(pool, wiki, 1, perf_counter(), []) for _ in range(_CONNECTIONS)))
        begun = perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(int(seconds * rate)):
                due = begun + number / rate
                await asyncio.sleep(due - perf_counter())
                group.create_task(_query(pool, wiki, chance.randint(1, pages), due, times_ms))
    times_ms.sort()
    found = {"p50": times_ms[len(times_ms) // 2], "p99": times_ms[len(times_ms) * 99 // 100], "most": times_ms[-1]}
    print(json.dumps({"queries": len(times_ms), **found}))


async def _query(pool: Pool, wiki: int, page: int, due: float, times_ms: list[float]) -> None:
    async with pool.connection() as conn:
        stored = await find_page(conn, wiki, page=page)
        assert stored
        known = await find_urls(conn, stored.urls)
    assert len(known) == len(stored.urls)
    times_ms.append(1e3 * (perf_counter() - due))


if __name__ == "__main__":
    words = sys.argv[1:]
    run_async(main(words[0], int(words[1]), int(words[2]), float(words[3]), float(words[4])))
