"""Long work in steps, each of which is done again while what it needs is away, so that hours of work are not lost.

To use it: a function that does many steps takes ``again: Again = at_once`` and does each as ``await again(step)``. A
step has to be one that may be done twice: if it is cut off, nobody knows whether it was done (D-333).
Whoever calls such a function for good gives it ``again_until(stopped, away)``.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import patiently

_Result = TypeVar("_Result")


class Again(Protocol):
    """Does a step, again and again if need be, and returns its result."""

    async def __call__(self, step: Callable[[], Awaitable[_Result]], /) -> _Result: ...


async def at_once(step: Callable[[], Awaitable[_Result]], /) -> _Result:
    """Does a step once; what it raises is raised."""
    return await step()


def again_until(stopped: asyncio.Event, away: Disturbance) -> Again:
    """What does steps patiently (``mechanism/patience``); once `stopped` is set, it raises CancelledError instead.

    So it is for work that is cancelled when it is stopped.
    """

    async def again(step: Callable[[], Awaitable[_Result]], /) -> _Result:
        async def boxed() -> tuple[_Result]:
            return (await step(),)

        box = await patiently(boxed, stopped, away)
        if box is None:
            raise asyncio.CancelledError
        return box[0]

    return again
