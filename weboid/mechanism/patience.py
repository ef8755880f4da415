"""Work that waits while something it needs is away: tried again until it succeeds or the worker is stopped. Then it
ends in order: requests under way get some seconds more (C-12); work that is cut off has written nothing by halves, and
is due again by its lease.

There is one `Disturbance` for each thing that can be away, shared by all who need it.

    away = Disturbance(log, "the crawl waits for the database")
    tally = await patiently(work.run, stopped, away)
    if tally is None:
        return  # stopped meanwhile

Long work in steps does not lose hours of work: its function takes ``again: Again = at_once`` and does each step as
``await again(step)``; permanent processes pass ``again_until(stopped, away)``. A step has to be one that may be done
twice: if it is cut off, nobody knows whether it was done (D-333).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, Protocol, TypeVar

from weboid.errors import StoreAway, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.pauses import GrowingPause

GRACE_S: Final = 10.0
"""Seconds that requests under way may take after a stop, as in a round of the link checker."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
"""Seconds between two attempts at most: so late is a database that is back used again."""

_Result = TypeVar("_Result")


@asynccontextmanager
async def ending(stopped: asyncio.Event, grace_s: float = GRACE_S) -> AsyncIterator[None]:
    """A block that is cancelled, without an exception, `grace_s` seconds after `stopped` is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(None) as limit:
            watching = asyncio.create_task(_limited(limit, stopped, grace_s))
            try:
                yield
            finally:
                watching.cancel()


async def _limited(limit: asyncio.Timeout, stopped: asyncio.Event, grace_s: float) -> None:
    await stopped.wait()
    limit.reschedule(asyncio.get_running_loop().time() + grace_s)


async def is_stopped_within(stopped: asyncio.Event, seconds: float) -> bool:
    """Waits for so many seconds, or until `stopped` is set; returns whether it was."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stopped.wait(), seconds)
    return stopped.is_set()


class Again(Protocol):
    """Does a step, again and again if need be, and returns its result."""

    async def __call__(self, step: Callable[[], Awaitable[_Result]], /) -> _Result: ...


async def patiently(
    work: Callable[[], Awaitable[_Result]], stopped: asyncio.Event, away: Disturbance, *, grace_s: float = GRACE_S
) -> _Result | None:
    """The result of `work`, which is awaited again, after growing pauses, while it raises StoreAway.

    None soon after `stopped` is set: no attempt is begun then, and the one under way is cancelled after `grace_s`
    seconds. `away` counts each failure and the success. Raises all other exceptions of `work`.
    """
    pause = GrowingPause(FIRST_PAUSE_S, LONGEST_PAUSE_S)
    while not stopped.is_set():
        try:
            async with ending(stopped, grace_s):
                result = await work()
                away.passed()
                return result
        except StoreAway as error:
            away.met(error)
        await is_stopped_within(stopped, pause.grown_s())
    return None


async def at_once(step: Callable[[], Awaitable[_Result]], /) -> _Result:
    """Does a step once, and raises its exceptions."""
    return await step()


def again_until(stopped: asyncio.Event, away: Disturbance) -> Again:
    """Does steps patiently; once `stopped` is set, it raises CancelledError, as for work that is cancelled then."""

    async def again(step: Callable[[], Awaitable[_Result]], /) -> _Result:
        async def boxed() -> tuple[_Result]:
            return (await step(),)

        box = await patiently(boxed, stopped, away)
        if box is None:
            raise asyncio.CancelledError
        return box[0]

    return again


async def sweep_until_stopped(
    sweep: Callable[[], Awaitable[object]],
    stopped: asyncio.Event,
    *,
    what: str,
    log: logging.Logger,
    idle_s: float | Callable[[], float],
) -> None:
    """Awaits `sweep` until `stopped` is set, `idle_s` seconds after each; no failure ends it.

    A StoreError of `what` is logged in a line, all others with their trace; the pool logs that the store is away.
    """
    while not stopped.is_set():
        try:
            await sweep()
        except StoreAway as error:
            log.debug("%s wait: %s", what, error)
        except StoreError as error:
            log.warning("%s wait: %s", what, error)
        except Exception as error:
            log.error("%s wait: %r", what, error, exc_info=error)
        await is_stopped_within(stopped, idle_s() if callable(idle_s) else idle_s)
