"""Work that waits for what is away, is swept again and again, runs in the background, and ends when it is stopped."""

import asyncio
import logging
from contextlib import suppress

import pytest

from weboid.cli.processes.stopping import until
from weboid.errors import StoreAway, StoreError
from weboid.mechanism import patience, tasks
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import again_until, at_once, ending, is_stopped_within, patiently, sweep_until_stopped
from weboid.mechanism.tasks import in_background

_LOG = logging.getLogger("work")


def _away() -> Disturbance:
    return Disturbance(_LOG, "the database is away", calm_s=0)


class _Failing:
    """Fails so often, and then returns `result`, or how often it was tried."""

    def __init__(self, times: int, error: Exception | None = None, **result: object) -> None:
        self.times, self.tried, self.error, self.result = times, 0, error or StoreAway("gone"), result

    async def __call__(self) -> object:
        self.tried += 1
        if self.tried <= self.times:
            raise self.error
        return self.result.get("result", self.tried)


@pytest.fixture
def again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancellation that was lost is repeated soon."""
    monkeypatch.setattr(tasks, "AGAIN_S", 0.05)


@pytest.mark.parametrize("result", ["done", None, 0])
async def test_a_step_is_done_again_until_it_succeeds_whatever_it_returns(result: object) -> None:
    step = _Failing(1, result=result)
    assert await again_until(asyncio.Event(), _away())(step) is result
    assert step.tried == 2


async def test_what_is_not_away_is_raised_and_so_is_all_where_nobody_waits() -> None:
    with pytest.raises(StoreError, match="other keys"):
        await again_until(asyncio.Event(), _away())(_Failing(1, StoreError("other keys")))
    with pytest.raises(StoreAway, match="gone"):
        await at_once(_Failing(1))


async def test_who_is_stopped_is_cancelled_also_while_it_waits() -> None:
    stopped = asyncio.Event()
    step = _Failing(1_000)
    waiting = asyncio.create_task(again_until(stopped, _away())(step))
    async with asyncio.timeout(20):
        while not step.tried:
            await asyncio.sleep(0.001)
        stopped.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_it_is_tried_until_it_succeeds(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 0.001)
    assert await patiently(_Failing(3), asyncio.Event(), _away()) == 4
    begun, ended = [record.getMessage() for record in caplog.records]
    assert begun == "the database is away: gone"
    assert ended.startswith("it is over: the database is away (3 times")


async def test_a_stop_ends_an_attempt_that_hangs_after_its_grace() -> None:
    stopped, begun, cut_off = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def hang() -> int:
        begun.set()
        try:
            return await asyncio.Event().wait()
        finally:
            cut_off.set()

    waiting = asyncio.create_task(patiently(hang, stopped, _away(), grace_s=0.01))
    async with asyncio.timeout(20):
        await begun.wait()
        stopped.set()
        assert await waiting is None
    assert cut_off.is_set()


async def test_nothing_is_begun_after_a_stop_and_a_wait_says_whether_it_was_stopped() -> None:
    stopped, work = asyncio.Event(), _Failing(0)
    stopped.set()
    assert await patiently(work, stopped, _away()) is None
    assert work.tried == 0
    stopped = asyncio.Event()
    assert not await is_stopped_within(stopped, 0.001)
    stopped.set()
    assert await is_stopped_within(stopped, 3600)


async def test_no_failure_ends_the_sweeps_and_a_stop_does(caplog: pytest.LogCaptureFixture) -> None:
    stopped = asyncio.Event()
    swept: list[int] = []

    async def sweep() -> None:
        swept.append(len(swept))
        match swept[-1]:
            case 0:
                raise StoreError("away")
            case 1:
                raise ValueError("broken")
            case _:
                stopped.set()

    await sweep_until_stopped(sweep, stopped, what="things", log=_LOG, idle_s=0.001)
    assert swept == [0, 1, 2]
    shown = [(record.levelname, record.message, record.exc_info is not None) for record in caplog.records]
    assert shown == [("WARNING", "things wait: away", False), ("ERROR", "things wait: ValueError('broken')", True)]


async def test_work_that_ends_in_time_is_done_and_what_it_raises_raised() -> None:
    stopped = asyncio.Event()
    done = []
    async with ending(stopped, 60):
        stopped.set()
        await asyncio.sleep(0.01)
        done.append(1)
    assert done == [1]
    with pytest.raises(ValueError):
        async with ending(asyncio.Event()):
            raise ValueError


async def test_work_that_does_not_end_is_cut_off_without_a_word() -> None:
    stopped = asyncio.Event()
    async with ending(stopped, 0.01):
        stopped.set()
        await asyncio.sleep(3600)
    # The task itself goes on.
    await asyncio.sleep(0)


async def test_work_ends_with_its_block() -> None:
    ticks, is_over = 0, False

    async def tick() -> None:
        nonlocal ticks, is_over
        try:
            while True:
                ticks += 1
                await asyncio.sleep(0)
        finally:
            is_over = True

    async with in_background(tick()):
        await asyncio.sleep(0.01)
        assert ticks > 1
        assert not is_over
    assert is_over


async def _losing() -> None:
    """As a loop whose driver waits by ``asyncio.wait_for``."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    await asyncio.Event().wait()


@pytest.mark.usefixtures("again_soon")
async def test_a_task_that_lost_its_cancellation_is_cancelled_again() -> None:
    async def fail() -> None:
        raise ValueError("odd")

    losing, failing = asyncio.create_task(_losing()), asyncio.create_task(fail())
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        lost, failed = await tasks.cancel(losing, failing)
    assert isinstance(lost, asyncio.CancelledError)
    assert isinstance(failed, ValueError)
    assert await tasks.cancel() == []


@pytest.mark.usefixtures("again_soon")
async def test_blocks_with_such_work_end() -> None:
    async with asyncio.timeout(10):
        async with in_background(_losing()):
            await asyncio.sleep(0)
        stopped = asyncio.Event()
        asyncio.get_running_loop().call_soon(stopped.set)
        await until(stopped, _losing())


@pytest.mark.usefixtures("again_soon")
async def test_who_is_cancelled_while_it_waits_for_the_end_learns_so() -> None:
    losing = asyncio.create_task(_losing())
    await asyncio.sleep(0)
    ending = asyncio.create_task(tasks.cancel(losing))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert losing.cancelled()
