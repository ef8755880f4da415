"""Mechanisms that many modules share: pauses, bounded maps, single flight, breaker, deadlines, disturbances."""

import asyncio
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.waiting import until

from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.breaker import Admission, Breaker
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.single_flight import SingleFlight
from weboid.net.deadlines import PER_S, Deadlines


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


def opened(at_s: float = 0.0) -> Breaker:
    breaker = Breaker(3, first_s=10.0, longest_s=45.0)
    assert [breaker.failed(at_s, breaker.admit(at_s), question) for question in "abc"] == [False, False, True]
    return breaker


def test_different_questions_in_a_row_open_it_and_the_same_one_counts_once_with_its_greatest_weight() -> None:
    breaker = opened()
    assert breaker.opened_s == 0.0
    assert breaker.admit(9.9) is Admission.NO
    breaker = Breaker(3, first_s=10.0, longest_s=45.0)
    assert not any(breaker.failed(number, Admission.USUAL, "a") for number in range(50))
    assert not breaker.failed(50, Admission.USUAL, "a", 2)
    assert breaker.failed(51, Admission.USUAL, "b")


def test_a_success_ends_the_row_and_it_does_not_open_so_soon_after_one() -> None:
    breaker = Breaker(3, first_s=10.0, longest_s=45.0)
    for number in range(30):
        assert breaker.admit(number) is Admission.USUAL
        if number % 3 == 2:
            assert breaker.succeeded(number) is None
        else:
            assert not breaker.failed(number, Admission.USUAL, number)
    breaker = Breaker(3, first_s=10.0, longest_s=45.0, calm_s=2.0)
    breaker.succeeded(100.0)
    assert not any(breaker.failed(101.9, Admission.USUAL, question) for question in range(1_000))
    assert breaker.failed(102.0, Admission.USUAL, "a")


def test_one_caller_at_a_time_probes_and_its_failures_let_it_rest_longer_and_longer() -> None:
    breaker, now_s, rests = opened(), 0.0, []
    for _ in range(5):
        begun_s = now_s
        while breaker.is_shut(now_s):
            now_s += 1
        rests.append(now_s - begun_s)
        assert breaker.admit(now_s) is Admission.PROBE
        assert [breaker.admit(now_s), breaker.is_shut(now_s + 1_000)] == [Admission.NO, True]
        assert not breaker.failed(now_s, Admission.PROBE, "a")
    assert rests == [10, 20, 40, 45, 45]
    now_s += 45
    assert breaker.admit(now_s) is Admission.PROBE
    assert breaker.succeeded(now_s) == now_s
    assert breaker.admit(now_s) is Admission.USUAL
    assert not breaker.failed(now_s, Admission.USUAL, "a")


def test_an_undecided_probe_lets_the_next_one_probe_and_late_failures_change_nothing() -> None:
    breaker = opened()
    assert breaker.admit(10.0) is Admission.PROBE
    breaker.undecided(Admission.PROBE)
    assert breaker.admit(10.0) is Admission.PROBE
    breaker = opened()
    assert not breaker.failed(1.0, Admission.USUAL, "late")
    breaker.undecided(Admission.USUAL)
    assert breaker.admit(9.9) is Admission.NO
    assert breaker.succeeded(9.9) == 9.9
    assert breaker.admit(9.9) is Admission.USUAL


class Thing:
    def __init__(self, deadlines: Deadlines, again_s: float | None = None) -> None:
        self.expired: list[float] = []
        self._deadlines = deadlines
        self._again_s = again_s

    def expire(self) -> None:
        now = asyncio.get_running_loop().time()
        self.expired.append(now)
        if self._again_s is not None:
            self._deadlines.add(self, now + self._again_s)
            self._again_s = None


async def test_each_limit_is_noticed_once_and_never_too_early() -> None:
    loop, deadlines = asyncio.get_running_loop(), Deadlines()
    limits = [loop.time() + seconds for seconds in (0.3, 0.1, 0.2, 0.1)]
    things = [Thing(deadlines) for _ in limits]
    for thing, at in zip(things, limits, strict=True):
        assert deadlines.add(thing, at)
    await asyncio.sleep(0.3 + 2 / PER_S)
    assert all(len(thing.expired) == 1 for thing in things)
    assert all(thing.expired[0] >= at for thing, at in zip(things, limits, strict=True))


@pytest.mark.parametrize("first_s", [-1.0, 0.0, 0.1])
async def test_a_limit_may_be_set_anew_when_it_has_passed(first_s: float) -> None:
    loop, deadlines = asyncio.get_running_loop(), Deadlines()
    thing = Thing(deadlines, again_s=0.05)
    deadlines.add(thing, loop.time() + first_s)
    await asyncio.sleep(0.15 + 3 / PER_S)
    assert len(thing.expired) == 2


async def test_what_was_removed_or_forgotten_does_not_expire() -> None:
    loop, deadlines = asyncio.get_running_loop(), Deadlines()
    removed, kept, forgotten = (Thing(deadlines) for _ in range(3))
    slot = deadlines.add(removed, loop.time() + 0.05)
    deadlines.add(kept, loop.time() + 0.05)
    deadlines.remove(removed, slot)
    await asyncio.sleep(0.05 + 2 / PER_S)
    deadlines.remove(kept, slot)
    deadlines.add(forgotten, loop.time() + 0.05)
    deadlines.close()
    await asyncio.sleep(0.05 + 2 / PER_S)
    assert [len(thing.expired) for thing in (removed, kept, forgotten)] == [0, 1, 0]


async def test_a_limit_that_raises_keeps_back_no_other() -> None:
    loop, deadlines, faults = asyncio.get_running_loop(), Deadlines(), []
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))

    class Broken(Thing):
        def expire(self) -> None:
            raise RuntimeError("broken")

    things = [Broken(deadlines), Thing(deadlines), Broken(deadlines)]
    for thing in things:
        deadlines.add(thing, loop.time())
    await asyncio.sleep(2 / PER_S)
    deadlines.add(things[1], loop.time())
    await asyncio.sleep(2 / PER_S)
    assert (len(things[1].expired), len(faults)) == (2, 2)


_LOG = logging.getLogger("disturbance")


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == _LOG.name]


async def test_many_failures_make_one_line_and_their_end_another(caplog: pytest.LogCaptureFixture) -> None:
    away = Disturbance(_LOG, "the database does not answer", calm_s=0)
    away.passed()
    assert _lines(caplog) == []
    for _ in range(1_000):
        away.met("connection refused")
    assert _lines(caplog) == ["the database does not answer: connection refused"]
    assert away.times == 1_000
    away.passed()
    away.passed()
    assert _lines(caplog)[1:] == ["it is over: the database does not answer (1000 times in 0 s)"]
    assert away.times == 0


async def test_what_comes_and_goes_is_one_trouble(caplog: pytest.LogCaptureFixture) -> None:
    shed = Disturbance(_LOG, "requests are refused", calm_s=0.2)
    for _ in range(20):
        shed.met()
        shed.passed()
        await asyncio.sleep(0.01)
    assert _lines(caplog) == ["requests are refused"]
    await until(lambda: not shed.times)
    assert [line.rpartition(" in ")[0] for line in _lines(caplog)[1:]] == ["it is over: requests are refused (20 times"]


async def test_at_the_end_of_a_program_it_is_reported_what_is_over(caplog: pytest.LogCaptureFixture) -> None:
    over, lasting = Disturbance(_LOG, "over"), Disturbance(_LOG, "lasting")
    for each in (over, lasting):
        each.met()
    over.passed()
    for each in (over, lasting):
        each.close()
        each.close()
    assert _lines(caplog)[2:] == ["it is over: over (1 times in 0 s)"]
