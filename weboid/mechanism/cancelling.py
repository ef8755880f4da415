"""Cancelling tasks until they have ended.

A cancellation can be lost: before Python 3.12 ``asyncio.wait_for``, by which drivers wait too, takes none that comes in
the moment in which what it waits for is done. Whoever then waited for the end of a task that runs for good would hang.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")

AGAIN_S: Final = 3.0
"""After so many seconds a task that has not ended is cancelled again; its clean-up may take as long."""


async def cancel(*tasks: asyncio.Task[Any]) -> list[Any]:
    """Cancels the tasks, again and again until all have ended; returns their results, or what they raised.

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


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Runs work whose end must be known, such as a commit: a cancellation that comes meanwhile comes too late
    (D-435)."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    return task.result()
