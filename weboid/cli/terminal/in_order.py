"""Works on items as they come, several at a time; results come in the order of the items.

A result comes as soon as it is there and those before it have come, also while nothing else is given.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Any, TypeVar

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

    async def take() -> None:
        try:
            async with aclosing(given):
                async for each in given:
                    await slots.acquire()
                    under_way.put_nowait(begin(each))
                    await asyncio.sleep(0)
        finally:
            under_way.put_nowait(None)

    taking = asyncio.create_task(take())
    try:
        while task := await under_way.get():
            result = await task
            slots.release()
            yield result
        await taking
    finally:
        left: list[asyncio.Task[Any]] = [taking]
        while not under_way.empty():
            if task := under_way.get_nowait():
                left.append(task)
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def one_by_one(given: Iterable[_Given]) -> AsyncGenerator[_Given, None]:
    """Items that are there already, for `in_order`."""
    for each in given:
        yield each
