"""Bulkhead for several parties: none takes them all, none waits for ever."""

import asyncio
import random
from collections import Counter

import pytest

from weboid.mechanism.bulkhead import Bulkhead


async def test_a_party_has_only_few_while_less_than_half_are_free() -> None:
    slots, release = Bulkhead(40, each=8, scarce=2), asyncio.Event()
    got: Counter[int] = Counter()

    async def work(party: int) -> None:
        async with slots.slot(party, wait_s=0.0) as is_taken:
            got[party] += is_taken
            await release.wait()

    tasks = [asyncio.create_task(work(party)) for party in range(20) for _ in range(10)]
    await asyncio.sleep(0.05)
    assert [got[party] for party in range(20)] == [8, 8, 5, *[2] * 9, 1, *[0] * 7]
    release.set()
    await asyncio.gather(*tasks)
    async with slots.slot(19, wait_s=0.0) as is_taken:
        assert is_taken


async def test_who_waits_gets_a_slot_when_one_is_given_back_by_turns() -> None:
    slots, order = Bulkhead(1, each=1, scarce=1), []

    async def work(party: str) -> None:
        async with slots.slot(party, wait_s=10.0) as is_taken:
            assert is_taken
            order.append(party)
            await asyncio.sleep(0)

    async with slots.slot("first", wait_s=0.0):
        tasks = [asyncio.create_task(work(party)) for party in "aaaabb"]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert "".join(order) == "ababaa"


async def test_who_is_refused_or_has_waited_long_enough_gets_none() -> None:
    slots = Bulkhead(1, each=1, scarce=1)

    async def work(wait_s: float) -> bool:
        async with slots.slot("a", wait_s=wait_s) as is_taken:
            return is_taken

    async with slots.slot("a", wait_s=0.0):
        assert not await work(0.01)
        waiting = [asyncio.create_task(work(60.0)) for _ in range(3)]
        await asyncio.sleep(0)
        slots.refuse("b")
        slots.refuse("a")
        assert await asyncio.gather(*waiting) == [False] * 3
    assert await work(0.0)


@pytest.mark.parametrize("seed", range(5))
async def test_whether_callers_come_give_up_or_are_cancelled_all_slots_come_back(seed: int) -> None:
    slots, chance = Bulkhead(6, each=3, scarce=1), random.Random(seed)
    taken: Counter[int] = Counter()

    async def work(party: int) -> None:
        async with slots.slot(party, wait_s=chance.random() / 50) as is_taken:
            if not is_taken:
                return
            taken[party] += 1
            try:
                assert taken.total() <= 6
                assert taken[party] <= 3
                await asyncio.sleep(chance.random() / 100)
            finally:
                taken[party] -= 1

    tasks = []
    for _ in range(200):
        tasks.append(asyncio.create_task(work(chance.randrange(5))))
        if chance.random() < 0.3:
            chance.choice(tasks).cancel()
        if chance.random() < 0.1:
            slots.refuse(chance.randrange(5))
        await asyncio.sleep(chance.random() / 1_000)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert not [result for result in results if isinstance(result, Exception)]
    for party in range(5):
        async with slots.slot(party, wait_s=0.0) as is_taken:
            assert is_taken
    assert slots._taken.total() == 0
    assert not slots._waiting
