"""A crawl and a feed on the store of a service: ``python -m benchmarks.load.others DSN``, until stdin is closed."""

import asyncio
import sys
from itertools import count

from benchmarks.harness import take_in
from benchmarks.pages.seed import TODAY
from benchmarks.storage import UNPACED, run_round
from weboid.cli.processes.process import run_async
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.mechanism.tasks import in_background
from weboid.remote.crawl.work import Work
from weboid.store.db.pool import Pool, open_pool


async def _crawl(pool: Pool) -> None:
    async def ask(_: CheckRequest) -> Observation:
        await asyncio.sleep(5)  # of a thousand at a time: two hundred checks a second
        return Observation(Status.FINE, Reason.OK)

    for day in count(TODAY):
        await run_round(Work(pool, "benchmark", UNPACED, DEFAULT), ask, day)


async def _feed(pool: Pool) -> None:
    for second in count():
        await take_in(pool, [f"http://www.fed-{second}.demo/{number}" for number in range(400)])
        await asyncio.sleep(1)


async def main(dsn: str) -> None:
    async with open_pool(dsn, size=6, part="others") as pool, in_background(_crawl(pool)), in_background(_feed(pool)):
        print("begun", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    run_async(main(sys.argv[1]))
