"""Sweeps go on whatever fails, and end when they are stopped."""

import asyncio
import logging

import pytest

from weboid.mechanism.ending import is_stopped_within
from weboid.mechanism.sweeps import sweep_until_stopped

log = logging.getLogger(__name__)


async def test_no_failure_ends_the_sweeps_and_a_stop_does(caplog: pytest.LogCaptureFixture) -> None:
    stopped = asyncio.Event()
    swept: list[int] = []

    async def sweep() -> None:
        swept.append(len(swept))
        match swept[-1]:
            case 0:
                raise LookupError("away")
            case 1:
                raise ValueError("broken")
            case _:
                stopped.set()

    await sweep_until_stopped(sweep, stopped, what="things", log=log, expected=LookupError, idle_s=0.001)
    assert swept == [0, 1, 2]
    told = [(record.levelname, record.message, record.exc_info is not None) for record in caplog.records]
    assert told == [("WARNING", "things wait: away", False), ("ERROR", "things wait: ValueError('broken')", True)]


async def test_the_pause_may_depend_on_the_sweep_and_a_stop_cuts_it_short() -> None:
    stopped = asyncio.Event()
    pauses = iter([0.001, 3600.0])
    swept = 0

    async def sweep() -> None:
        nonlocal swept
        swept += 1
        if swept == 2:
            asyncio.get_running_loop().call_later(0.01, stopped.set)

    await sweep_until_stopped(sweep, stopped, what="things", log=log, expected=OSError, idle_s=lambda: next(pauses))
    assert swept == 2


async def test_a_wait_says_whether_it_was_stopped() -> None:
    stopped = asyncio.Event()
    assert not await is_stopped_within(stopped, 0.001)
    stopped.set()
    assert await is_stopped_within(stopped, 3600)
