"""For tests that wait for a state: they ask again and again until it is there, for no fixed time."""

import asyncio
from collections.abc import Callable
from inspect import isawaitable


async def until(holds: Callable[[], object], limit_s: float = 60.0) -> None:
    """Waits until a function, or what it lets us await, returns something true; raises TimeoutError."""
    async with asyncio.timeout(limit_s):
        while not (await answer if isawaitable(answer := holds()) else answer):
            await asyncio.sleep(0.01)
