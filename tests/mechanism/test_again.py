"""Steps that are done again while what they need is away."""

import asyncio
import logging

import pytest

from weboid.errors import StoreAway, StoreError
from weboid.mechanism.again import again_until, at_once
from weboid.mechanism.disturbance import Disturbance


class Failing:
    """A step that fails so often, and then returns what it was given."""

    def __init__(self, times: int, error: Exception, result: object) -> None:
        self.left, self.error, self.result = times, error, result

    async def __call__(self) -> object:
        self.left -= 1
        if self.left >= 0:
            raise self.error
        return self.result


@pytest.mark.parametrize("result", ["done", None, 0])
async def test_a_step_is_done_again_until_it_succeeds_whatever_it_returns(result: object) -> None:
    again = again_until(asyncio.Event(), Disturbance(logging.getLogger("test"), "away"))
    step = Failing(1, StoreAway("gone"), result)
    assert await again(step) is result
    assert step.left == -1


async def test_what_is_not_away_is_raised_and_so_is_all_where_nobody_waits() -> None:
    again = again_until(asyncio.Event(), Disturbance(logging.getLogger("test"), "away"))
    with pytest.raises(StoreError, match="other keys"):
        await again(Failing(1, StoreError("other keys"), None))
    with pytest.raises(StoreAway, match="gone"):
        await at_once(Failing(1, StoreAway("gone"), None))


async def test_who_is_stopped_is_cancelled_also_while_it_waits() -> None:
    stopped = asyncio.Event()
    again = again_until(stopped, Disturbance(logging.getLogger("test"), "away"))
    waiting = asyncio.create_task(again(Failing(1_000, StoreAway("gone"), None)))
    asyncio.get_running_loop().call_later(0.05, stopped.set)
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await waiting
