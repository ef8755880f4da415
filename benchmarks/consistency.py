"""How many URLs a second a check of the store looks at: ``python -m benchmarks.consistency [--urls N]``.

One law: the store was filled by the program's own functions and contradicts itself nowhere.
"""

import asyncio
from statistics import median
from time import perf_counter

from benchmarks.harness import open_migrated, peak_mib, run_on_store, take_in, vacuum
from benchmarks.storage import UNPACED, run_round
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.maintain.consistency import check_store
from weboid.remote.crawl.work import Work
from weboid.store.db.pool import Pool

_DAYS = (100, 103, 106, 109, 112, 115, 118)


async def main(urls: int, rounds: int, dsn: str) -> dict[str, float]:
    """URLs a second, the median of some rounds; prints them."""
    hosts = int(urls / 2.5) or 1
    async with open_migrated(dsn) as pool:
        await take_in(pool, [f"http://www.host-{n % hosts}.demo/{n}" for n in range(urls)])
        for day in _DAYS:
            await _crawl(pool, day)
        await asyncio.to_thread(vacuum, dsn)
        checked = median([await _check(pool, urls) for _ in range(rounds)])
    print(f"{urls} URLs: {checked:,.0f} checked a second; {peak_mib():.0f} MiB")
    return {"checked": checked}


async def _crawl(pool: Pool, day: int) -> None:
    """A round in which one URL in 25 is missing."""

    async def ask(question: CheckRequest) -> Observation:
        is_lost = question.url.endswith(("00", "25", "50", "75"))
        return Observation(Status.NOT_FOUND, Reason.NOT_FOUND) if is_lost else Observation(Status.FINE, Reason.OK)

    await run_round(Work(pool, "benchmark", UNPACED, DEFAULT), ask, day)


async def _check(pool: Pool, urls: int) -> float:
    begun = perf_counter()
    assert not (done := await check_store(pool, 120)).found, done.described
    return urls / (perf_counter() - begun)


if __name__ == "__main__":
    run_on_store(__doc__, main, urls=60_000, rounds=3)
