"""Work that waits for what is away: tried again, told once, and ended when it is stopped."""

import asyncio
import logging

import pytest

from weboid.errors import StoreAway, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import patiently
from weboid.mechanism.pauses import GrowingPause

_LOG = logging.getLogger("patience")


def _away() -> Disturbance:
    return Disturbance(_LOG, "the database is away", calm_s=0)


class _Failing:
    """Fails so often, and then returns how often it was tried."""

    def __init__(self, times: int, error: Exception | None = None) -> None:
        self.times, self.tried, self.error = times, 0, error or StoreAway("gone")

    async def __call__(self) -> int:
        self.tried += 1
        if self.tried <= self.times:
            raise self.error
        return self.tried


async def test_it_is_tried_again_until_it_succeeds_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    work = _Failing(3)
    result = await patiently(work, asyncio.Event(), _away(), pause=GrowingPause(0.001, 0.01))
    assert result == 4
    begun, ended = [record.getMessage() for record in caplog.records]
    assert begun == "the database is away: gone"
    assert ended.startswith("it is over: the database is away (3 times")


async def test_what_succeeds_at_once_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    assert await patiently(_Failing(0), asyncio.Event(), _away()) == 1
    assert not caplog.records


async def test_other_errors_are_raised_at_once() -> None:
    work = _Failing(3, StoreError("made by a newer weboid"))
    with pytest.raises(StoreError, match="newer"):
        await patiently(work, asyncio.Event(), _away())
    assert work.tried == 1


async def test_other_expected_errors_can_be_named() -> None:
    work = _Failing(1, OSError("no route"))
    assert await patiently(work, asyncio.Event(), _away(), expected=OSError, pause=GrowingPause(0.001, 0.001)) == 2


async def test_a_stop_ends_the_pause() -> None:
    stopped, work = asyncio.Event(), _Failing(1_000)
    waiting = asyncio.create_task(patiently(work, stopped, _away(), pause=GrowingPause(1_000, 1_000)))
    async with asyncio.timeout(20):
        while not work.tried:
            await asyncio.sleep(0.001)
        stopped.set()
        assert await waiting is None
    assert work.tried == 1


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


async def test_an_attempt_that_ends_within_the_grace_counts() -> None:
    stopped, begun, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> int:
        begun.set()
        await go_on.wait()
        return 7

    waiting = asyncio.create_task(patiently(work, stopped, _away(), grace_s=60))
    async with asyncio.timeout(20):
        await begun.wait()
        stopped.set()
        go_on.set()
        assert await waiting == 7


async def test_nothing_is_begun_after_a_stop() -> None:
    stopped, work = asyncio.Event(), _Failing(0)
    stopped.set()
    assert await patiently(work, stopped, _away()) is None
    assert work.tried == 0
