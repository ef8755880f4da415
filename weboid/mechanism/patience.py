"""Work that waits for what it needs: it is tried again while that is away, until it succeeds or a worker is stopped.

To use it: one `Disturbance` for each thing that can be away, shared by all who need it.

    away = Disturbance(log, "the crawl waits for the database")
    tally = await patiently(work.run, stopped, away)
    if tally is None:
        return  # stopped meanwhile

One law: who waits here ends soon after `stopped` is set, also while an attempt hangs.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from weboid.errors import StoreAway
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.ending import GRACE_S, ending, is_stopped_within
from weboid.mechanism.pauses import GrowingPause

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 15.0
"""Seconds between two attempts at most: so late is a database that is back used again."""

_Result = TypeVar("_Result")


async def patiently(
    work: Callable[[], Awaitable[_Result]],
    stopped: asyncio.Event,
    away: Disturbance,
    *,
    expected: type[Exception] | tuple[type[Exception], ...] = StoreAway,
    pause: GrowingPause | None = None,
    grace_s: float = GRACE_S,
) -> _Result | None:
    """What `work` returns at last: it is awaited again, after growing pauses, while it raises an `expected` exception.

    None once `stopped` is set: no attempt is begun then, and the one under way is cancelled after `grace_s` seconds.
    `away` is told of each failure and of the success. Raises whatever else `work` raises.
    """
    pause = pause or GrowingPause(FIRST_PAUSE_S, LONGEST_PAUSE_S)
    while not stopped.is_set():
        try:
            async with ending(stopped, grace_s):
                result = await work()
                away.passed()
                return result
        except expected as error:
            away.met(error)
        await is_stopped_within(stopped, pause.grown_s())
    return None
