"""Tasks that are cancelled end, also where a cancellation was lost."""

import asyncio
from contextlib import suppress

import pytest

from weboid.cli.processes.stopping import until
from weboid.mechanism import cancelling
from weboid.mechanism.background import in_background


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancelling, "AGAIN_S", 0.05)


async def _losing() -> None:
    """As a loop whose driver waits by ``asyncio.wait_for``."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    await asyncio.Event().wait()


async def test_a_task_that_lost_its_cancellation_is_cancelled_again() -> None:
    async def fail() -> None:
        raise ValueError("odd")

    losing, failing = asyncio.create_task(_losing()), asyncio.create_task(fail())
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        lost, failed = await cancelling.cancel(losing, failing)
    assert isinstance(lost, asyncio.CancelledError)
    assert isinstance(failed, ValueError)
    assert await cancelling.cancel() == []


async def test_blocks_with_such_work_end() -> None:
    async with asyncio.timeout(10):
        async with in_background(_losing()):
            await asyncio.sleep(0)
        stopped = asyncio.Event()
        asyncio.get_running_loop().call_soon(stopped.set)
        await until(stopped, _losing())


async def test_who_is_cancelled_while_it_waits_for_the_end_learns_so() -> None:
    losing = asyncio.create_task(_losing())
    await asyncio.sleep(0)
    ending = asyncio.create_task(cancelling.cancel(losing))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert losing.cancelled()
