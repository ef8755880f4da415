"""Turns at slots: fair between accounts, bounded in number and time, and nothing is lost when callers go."""

import asyncio
from collections import Counter
from collections.abc import Callable
from time import sleep
from typing import Any

import pytest

from weboid.mechanism.fair_slots import Capacity, FairSlots, aside


async def held(slots: FairSlots, account: str, done: list[str], name: str = "", hold_s: float = 0.0) -> None:
    turn = await slots.enter(account, lambda: False)
    try:
        await asyncio.sleep(hold_s)
        done.append(name or account)
    finally:
        turn.end()


async def alongside(slots: FairSlots, account: str, answered: asyncio.Event, done: list[str]) -> None:
    turn = await slots.enter(account, lambda: False)
    try:
        async with aside():
            await answered.wait()
        assert slots.working == 1
        done.append(account)
    finally:
        turn.end()


async def came(*tasks: asyncio.Task[Any]) -> list[str]:
    """What became of them: "in", or the name of the exception."""
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    return [type(end).__name__ if isinstance(end, BaseException) else "in" for end in ends]


def begin(slots: FairSlots, account: str, done: list[str], name: str = "", hold_s: float = 0.0) -> asyncio.Task[None]:
    return asyncio.create_task(held(slots, account, done, name, hold_s))


async def let_run() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_each_account_has_its_turns_in_the_order_in_which_it_came() -> None:
    slots, done = FairSlots(Capacity(1, places=100, wait_s=30)), list[str]()
    tasks = [begin(slots, name[0], done, name) for name in ("a1", "a2", "a3", "b1", "b2", "c1")]
    await asyncio.gather(*tasks)
    assert done == ["a1", "a2", "b1", "c1", "a3", "b2"]


async def test_who_asks_now_and_then_does_not_wait_for_a_round_of_those_who_always_do() -> None:
    slots, done = FairSlots(Capacity(1, places=2_000, wait_s=30)), list[str]()
    crowd = [begin(slots, f"crowd {number % 10}", done) for number in range(300)]
    while len(done) < 50:
        await asyncio.sleep(0)
    await asyncio.gather(*crowd, *(begin(slots, "calm", done) for _ in range(2)))
    first, second = (place for place, account in enumerate(done) if account == "calm")
    assert first < 54
    assert 9 <= second - first <= 11


@pytest.mark.parametrize("is_late", [False, True])
async def test_who_waits_for_something_else_takes_no_slot_from_others_unless_the_loop_is_late(is_late: bool) -> None:
    slots, done = FairSlots(Capacity(1, places=9, wait_s=30, aside=9, spared=2)), list[str]()
    tasks = [begin(slots, "a", done, hold_s=1.5) for _ in range(4)]
    for _ in range(12):
        await asyncio.sleep(0 if is_late else 0.03)
        asyncio.get_running_loop().call_soon(sleep, 0.03 if is_late else 0)
    assert (slots.working, slots.waiting) == (1, 3 if is_late else 1)
    assert (await came(*tasks), slots.working, slots.waiting) == (["in"] * 4, 0, 0)


async def test_who_waits_too_long_is_refused_and_the_others_are_not() -> None:
    slots, done = FairSlots(Capacity(1, places=100, wait_s=0.05)), list[str]()
    holder = begin(slots, "a", done, hold_s=0.3)
    await let_run()
    late = [begin(slots, str(number), done) for number in range(20)]
    assert await came(*late) == ["Full"] * 20
    assert (await came(holder), slots.waiting, slots.working) == (["in"], 0, 0)
    assert await came(begin(slots, "b", done)) == ["in"]


async def test_a_full_queue_refuses_at_once_but_not_for_the_sake_of_one_accounts_crowd() -> None:
    slots, done = FairSlots(Capacity(1, places=4, wait_s=30)), list[str]()
    crowd = [begin(slots, "crowd", done, hold_s=0.01) for _ in range(7)]
    await let_run()
    assert sorted(await came(*crowd, begin(slots, "calm", done))) == ["Full"] * 2 + ["in"] * 6
    assert "calm" in done


async def test_an_account_takes_more_than_its_share_of_places_while_there_are_some() -> None:
    slots, done = FairSlots(Capacity(1, places=8, wait_s=30)), list[str]()
    assert await came(*(begin(slots, name, done, hold_s=0.01) for name in "abcaaaa")) == ["in"] * 7


async def test_who_would_wait_too_long_is_refused_before_it_waits_and_who_had_no_turn_is_not() -> None:
    slots, done, answered = FairSlots(Capacity(1, places=100, wait_s=0.3, aside=9)), list[str](), asyncio.Event()
    back = [asyncio.create_task(alongside(slots, str(number), answered, done)) for number in range(9)]
    assert await came(*(begin(slots, "crowd", done, hold_s=0.1) for _ in range(2))) == ["in"] * 2
    crowd = [begin(slots, "crowd", done, hold_s=0.1) for _ in range(60)]
    await let_run()
    assert 40 < sum(task.done() for task in crowd) < 60
    await asyncio.sleep(0.35)
    answered.set()
    crowd += [begin(slots, "crowd", done, hold_s=0.1) for _ in range(9)]
    await let_run()
    assert await came(*(begin(slots, name, done) for name in ("calm", "other"))) == ["in"] * 2
    await came(*crowd, *back)


async def test_of_a_crowd_that_comes_at_once_nobody_waits_in_vain() -> None:
    slots, done = FairSlots(Capacity(2, places=4_000, wait_s=0.5)), list[str]()
    crowd = [begin(slots, "crowd", done, hold_s=0.001) for _ in range(1_000)]
    await let_run()
    refused = sum(task.done() and task.exception() is not None for task in crowd)
    assert refused > 700
    assert Counter(await came(*crowd)) == {"Full": refused, "in": 1_000 - refused}


async def test_in_one_turn_of_the_loop_no_more_work_begins_than_there_are_slots() -> None:
    slots, turn_of_loop, begun = FairSlots(Capacity(2, places=100, wait_s=30)), 0, list[int]()

    async def work() -> None:
        turn = await slots.enter("a", lambda: False)
        begun.append(turn_of_loop)
        turn.end()

    tasks = [asyncio.create_task(work()) for _ in range(20)]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0)
        turn_of_loop += 1
    assert max(begun.count(each) for each in begun) == 2


async def test_who_has_gone_takes_no_slot_and_keeps_no_place() -> None:
    slots, done, gone = FairSlots(Capacity(1, places=2, wait_s=30)), list[str](), False
    holder = begin(slots, "a", done, hold_s=0.2)
    await let_run()
    leaving = [asyncio.create_task(slots.enter(name, lambda: gone)) for name in "bc"]
    await let_run()
    gone = True
    assert await came(holder, *(begin(slots, name, done) for name in "de")) == ["in"] * 3
    assert await came(*leaving) == ["Gone"] * 2
    assert (slots.waiting, slots.working) == (0, 0)


@pytest.mark.parametrize("turns", range(4))
async def test_who_is_cancelled_leaves_nothing_behind(turns: int) -> None:
    slots, done = FairSlots(Capacity(1, places=10, wait_s=30)), list[str]()
    tasks = [begin(slots, "a", done, hold_s=0.01) for _ in range(5)]
    for _ in range(turns):
        await asyncio.sleep(0)
    for task in tasks[:4]:
        task.cancel()
    assert (await came(*tasks))[-1] == "in"
    assert (slots.waiting, slots.working) == (0, 0)


async def test_who_steps_aside_lets_others_work_and_comes_back_in_turn() -> None:
    slots, done = FairSlots(Capacity(1, places=10, wait_s=30, aside=1)), list[str]()
    answered = asyncio.Event()
    waiting = asyncio.create_task(alongside(slots, "slow", answered, done))
    await let_run()
    await asyncio.gather(*(begin(slots, "quick", done) for _ in range(3)))
    answered.set()
    await waiting
    assert done == ["quick"] * 3 + ["slow"]
    assert slots.working == 0


async def test_no_more_step_aside_than_may() -> None:
    slots, done = FairSlots(Capacity(1, places=10, wait_s=0.1, aside=2)), list[str]()
    answered = asyncio.Event()
    waiting = [asyncio.create_task(alongside(slots, "slow", answered, done)) for _ in range(3)]
    await let_run()
    assert await came(begin(slots, "a", done)) == ["Full"]
    answered.set()
    assert await came(*waiting) == ["in"] * 3
    assert await came(begin(slots, "a", done)) == ["in"]


@pytest.mark.parametrize("end", [lambda task: task.cancel(), lambda _: None])
async def test_who_fails_or_is_cancelled_aside_leaves_nothing(end: Callable[[asyncio.Task[None]], object]) -> None:
    slots, done = FairSlots(Capacity(1, places=10, wait_s=30, aside=5)), list[str]()

    async def failing() -> None:
        turn = await slots.enter("a", lambda: False)
        try:
            async with aside():
                await asyncio.sleep(0.05)
                raise ValueError
        finally:
            turn.end()

    tasks = [asyncio.create_task(failing()) for _ in range(4)]
    await let_run()
    for task in tasks:
        end(task)
    await came(*tasks)
    assert (slots.working, slots.waiting) == (0, 0)
    assert await came(*(begin(slots, "b", done) for _ in range(6))) == ["in"] * 6


async def test_nobody_waits_for_a_second_slot_and_without_one_stepping_aside_is_nothing() -> None:
    slots, other = FairSlots(Capacity(1, places=10, wait_s=30)), FairSlots(Capacity(1, places=10, wait_s=30))
    turn = await slots.enter("a", lambda: False)
    with pytest.raises(RuntimeError, match="each other"):
        await other.enter("a", lambda: False)
    turn.end()
    (await other.enter("a", lambda: False)).end()
    async with aside():
        pass
