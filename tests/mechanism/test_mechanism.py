"""Mechanisms that many modules share: growing pauses, bounded maps, single flight."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.single_flight import SingleFlight


def test_a_pause_doubles_up_to_its_limit_and_begins_anew_never_longer_than_the_longest() -> None:
    pause = GrowingPause(1.0, 5.0)
    assert [pause.grown_s() for _ in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    pause.reset()
    assert pause.grown_s() == 1.0
    assert GrowingPause(9.0, 5.0).grown_s() == 5.0


def test_what_was_used_longest_ago_goes_first_and_is_reported_unless_it_was_removed() -> None:
    known: BoundedMap[str, int] = BoundedMap(2)
    known["a"], known["b"] = 1, 2
    assert (known.use("a"), known.get("b")) == (1, 2)
    known["c"] = 3
    assert list(known) == ["a", "c"]
    assert (known.use("b"), known.take("a"), known.take("a")) == (None, 1, None)
    gone: list[int] = []
    bounded: BoundedMap[str, int] = BoundedMap(2, dropped=gone.append)
    bounded["a"], bounded["b"], bounded["a"], bounded["c"] = 1, 2, 3, 4
    bounded.take("c")
    assert (gone, list(bounded)) == ([1, 2], ["a"])


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9), st.booleans())), st.integers(0, 20))
def test_a_bound_holds_whatever_is_done(steps: list[tuple[str, int, bool]], most: int) -> None:
    known: BoundedMap[str, int] = BoundedMap(most, weigh=lambda value: value)
    for key, value, is_taken in steps:
        if is_taken:
            known.take(key)
        else:
            known[key] = value
        assert sum(value for _, value in known.items()) <= most
        assert len(known) == len(set(known)) == len(known.items())


async def test_those_who_want_the_same_at_once_share_one_piece_of_work() -> None:
    flights: SingleFlight[int] = SingleFlight()
    begun = 0

    async def work() -> int:
        nonlocal begun
        begun += 1
        await asyncio.sleep(0.01)
        return begun

    assert await asyncio.gather(*(flights.result("a", work) for _ in range(5)), flights.result("b", work)) == [2] * 6
    assert (await flights.result("a", work), len(flights)) == (3, 0)


async def test_a_caller_that_gives_up_does_not_end_it_for_the_others() -> None:
    flights: SingleFlight[int] = SingleFlight()
    going_on = asyncio.Event()

    async def work() -> int:
        await going_on.wait()
        return 7

    first, second = (asyncio.create_task(flights.result("a", work)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    going_on.set()
    assert await second == 7
    assert first.cancelled()


async def test_a_fault_reaches_all_who_wait_and_nobody_else() -> None:
    flights: SingleFlight[int] = SingleFlight()

    async def work() -> int:
        await asyncio.sleep(0)
        raise ValueError("it failed")

    shown = await asyncio.gather(*(flights.result("a", work) for _ in range(3)), return_exceptions=True)
    assert [str(each) for each in shown] == ["it failed"] * 3
    alone = asyncio.create_task(flights.result("a", work))
    await asyncio.sleep(0)
    alone.cancel()
    await asyncio.sleep(0.01)
    assert len(flights) == 0


async def test_a_cancellation_within_the_work_reaches_those_who_wait_as_an_error() -> None:
    flights: SingleFlight[None] = SingleFlight()

    async def work() -> None:
        lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lost.cancel()
        await lost

    shown = await asyncio.gather(*(flights.result("a", work) for _ in range(2)), return_exceptions=True)
    assert [type(each) for each in shown] == [RuntimeError] * 2


async def test_a_caller_that_is_cancelled_together_with_the_work_is_cancelled() -> None:
    flights: SingleFlight[None] = SingleFlight()
    inner: list[asyncio.Task[None]] = []

    async def work() -> None:
        task = asyncio.current_task()
        assert task
        inner.append(task)
        await asyncio.Event().wait()

    waiting = asyncio.create_task(flights.result("a", work))
    await asyncio.sleep(0.01)
    waiting.cancel()
    inner[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_closing_cancels_what_is_under_way() -> None:
    flights: SingleFlight[None] = SingleFlight()

    async def work() -> None:
        await asyncio.Event().wait()

    waiting = asyncio.create_task(flights.result("a", work))
    await asyncio.sleep(0)
    await flights.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_who_waits_long_enough_gives_up_alone() -> None:
    flights: SingleFlight[int] = SingleFlight()
    release = asyncio.Event()

    async def work() -> int:
        await release.wait()
        return 1

    patient = asyncio.create_task(flights.result("a", work))
    with pytest.raises(TimeoutError):
        await flights.result("a", work, 0.01)
    assert len(flights) == 1
    release.set()
    assert await patient == 1
    assert await flights.result("a", work, 60.0) == 1
    await flights.close()


async def test_a_limit_takes_no_cancellation_for_itself() -> None:
    flights: SingleFlight[bool] = SingleFlight()
    waiting = asyncio.create_task(flights.result("a", asyncio.Event().wait, 60.0))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await flights.close()
