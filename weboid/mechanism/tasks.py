"""Tasks that end with a block, tasks that are cancelled until they have ended, and work that runs to its end.

A cancellation can be lost: before Python 3.12 ``asyncio.wait_for``, by which drivers wait too, takes none that comes in
the moment in which its awaitable is done. A caller that then waited for a task that runs permanently would hang.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")

AGAIN_S: Final = 3.0
"""After so many seconds a task that has not ended is cancelled again; its clean-up may take as long."""


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs work until the block ends, such as a loop that tidies while an application runs; then it has ended, too, and
    its exception is raised. Work that is to end in order is for ``mechanism/patience``.
    """
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        (end,) = await cancel(task)
        if isinstance(end, Exception):
            raise end


async def cancel(*tasks: asyncio.Task[Any]) -> list[Any]:
    """Cancels the tasks, again and again until all have ended; returns their results or exceptions.

    If the caller is cancelled meanwhile, that is raised when they have.
    """
    is_cancelled = False
    while left := {task for task in tasks if not task.done()}:
        for task in left:
            task.cancel()
        try:
            await asyncio.wait(left, timeout=AGAIN_S)
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        raise asyncio.CancelledError
    return await asyncio.gather(*tasks, return_exceptions=True)


async def side_by_side(works: Iterable[Callable[[], Awaitable[T]]], most: int) -> list[T]:
    """Does all of the works, `most` of them at a time, and returns their results; raises what one of them raised."""
    room = asyncio.Semaphore(most)

    async def done(work: Callable[[], Awaitable[T]]) -> T:
        async with room:
            return await work()

    tasks = [asyncio.create_task(done(work)) for work in works]
    try:
        return [await task for task in tasks]
    finally:
        await cancel(*tasks)


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Runs work whose end must be known, such as a commit; a cancellation meanwhile comes too late (D-435)."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    return task.result()
