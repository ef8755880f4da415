"""At least so many seconds between two requests to one host (C-3)."""

import asyncio
from itertools import pairwise
from time import monotonic

from weboid.crawl.slots import Slots


async def _times(slots: Slots, host: str, count: int) -> list[float]:
    times: list[float] = []

    async def one() -> None:
        await slots.turn(host)
        times.append(monotonic())

    await asyncio.gather(*(one() for _ in range(count)))
    return times


async def test_requests_to_one_host_are_a_pause_apart_even_if_all_come_at_once() -> None:
    times = await _times(Slots(0.05), "a.demo", 5)
    # An event loop's timer may fire a clock tick early.
    assert all(later - earlier >= 0.045 for earlier, later in pairwise(sorted(times)))


async def test_different_hosts_do_not_wait_for_each_other() -> None:
    slots = Slots(10.0)
    begun = monotonic()
    await asyncio.gather(*(_times(slots, f"h{number}.demo", 1) for number in range(100)))
    assert monotonic() - begun < 5


async def test_hosts_whose_pause_is_over_are_forgotten() -> None:
    slots = Slots(0.0)
    for number in range(100_050):
        await slots.turn(f"h{number}.demo")
    assert len(slots) < 100_001
