"""Work in the background ends with its block, and a failure of it does not pass unseen."""

import asyncio

import pytest

from weboid.mechanism.background import in_background


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


async def test_what_it_raised_is_raised_at_the_end_of_the_block() -> None:
    async def fail() -> None:
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        async with in_background(fail()):
            await asyncio.sleep(0.01)
