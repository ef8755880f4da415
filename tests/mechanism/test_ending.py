"""The end of work that is stopped: what is under way gets some time, and then nothing more."""

import asyncio

import pytest

from weboid.mechanism.ending import ending


async def test_work_that_ends_in_time_is_done() -> None:
    stopped = asyncio.Event()
    done = []
    async with ending(stopped, 60):
        stopped.set()
        await asyncio.sleep(0.01)
        done.append(1)
    assert done == [1]


async def test_work_that_does_not_end_is_cut_off_without_a_word() -> None:
    stopped = asyncio.Event()
    async with ending(stopped, 0.01):
        stopped.set()
        await asyncio.sleep(3600)
    # The task itself goes on.
    await asyncio.sleep(0)


async def test_what_the_work_raises_is_raised() -> None:
    with pytest.raises(ValueError):
        async with ending(asyncio.Event()):
            raise ValueError
