import asyncio

import pytest

from weboid.mechanism.fair_slots import Capacity, FairSlots
from weboid.web.answer.large_answers import MANY_LINKS, LargeAnswers
from weboid.web.request.problem import Problem

LARGE = MANY_LINKS + 1


async def test_one_large_answer_is_made_at_a_time_and_small_ones_never_wait() -> None:
    large, done = LargeAnswers(), 0

    async def make(links: int) -> None:
        nonlocal done
        async with large.slot(links):
            await asyncio.sleep(0.02 if links == LARGE else 0)
            done += 1

    making = [asyncio.create_task(make(LARGE)) for _ in range(6)]
    await asyncio.sleep(0)
    async with asyncio.timeout(1.0):
        await make(MANY_LINKS)
    assert done == 1
    making[3].cancel()
    await asyncio.gather(*making, return_exceptions=True)
    assert done == 6
    async with large.slot(LARGE):
        waiting = [asyncio.create_task(make(LARGE)) for _ in range(16)]
        await asyncio.sleep(0)
        large.require_room(MANY_LINKS)
        with pytest.raises(Problem):
            large.require_room(LARGE)
        with pytest.raises(Problem) as refused:
            await make(LARGE)
        assert (refused.value.http, refused.value.key) == (503, "weboid-error-busy")
    await asyncio.gather(*waiting)
    assert done == 22


async def test_who_is_cancelled_on_the_way_back_to_its_lane_keeps_no_slot() -> None:
    large, lane = LargeAnswers(), FairSlots(Capacity(slots=1, places=4, wait_s=10.0, aside=4))

    async def make() -> None:
        turn = await lane.enter("somebody", lambda: False)
        try:
            async with large.slot(LARGE):
                raise AssertionError("it was cancelled before")
        finally:
            turn.end()

    async def hold(until: asyncio.Event) -> None:
        turn = await lane.enter("another", lambda: False)
        await until.wait()
        turn.end()

    done = asyncio.Event()
    async with large.slot(LARGE):
        making = asyncio.create_task(make())
        await asyncio.sleep(0)
        holding = asyncio.create_task(hold(done))
        await asyncio.sleep(0)
    # It has its slot for large answers by now, and waits for that of its lane.
    for _ in range(3):
        await asyncio.sleep(0)
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    async with asyncio.timeout(1.0), large.slot(LARGE):
        pass
    done.set()
    await holding
    assert lane.working == 0
