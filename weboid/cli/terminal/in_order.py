"""Works on items as they come, several at a time; results come in the order of the items.

A result comes as soon as it is there and those before it have come, also while nothing else is given.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from weboid.mechanism.tasks import cancel

_Given = TypeVar("_Given")
_Result = TypeVar("_Result")


async def in_order(
    given: AsyncGenerator[_Given, None], begin: Callable[[_Given], asyncio.Task[_Result]], at_once: int
) -> AsyncGenerator[_Result, None]:
    """The results of the tasks that `begin` makes of what is given, at most so many `at_once`.

    Raises what a task or the giver raises; then, or when it is closed, tasks under way are cancelled.
    """
    under_way: asyncio.Queue[asyncio.Task[_Result] | None] = asyncio.Queue()
    slots = asyncio.Semaphore(at_once)
    left: set[asyncio.Task[Any]] = set()

    async def take() -> None:
        async with aclosing(given):
            async for each in given:
                await slots.acquire()
                left.add(task := begin(each))
                under_way.put_nowait(task)
                await asyncio.sleep(0)

    left.add(taking := asyncio.create_task(take()))
    taking.add_done_callback(lambda _: under_way.put_nowait(None))
    try:
        while task := await under_way.get():
            result = await task
            left.discard(task)
            slots.release()
            yield result
        await taking
    finally:
        await cancel(*left)
