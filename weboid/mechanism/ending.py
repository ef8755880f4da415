"""Ends work in order when a worker is stopped: what is under way gets some seconds more (C-12).

One law: what is cut off has written nothing by halves, and is due again by its lease.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

GRACE_S: Final = 10.0
"""Seconds that requests under way may take after a stop, as in a round of the link checker."""


@asynccontextmanager
async def ending(stopped: asyncio.Event, grace_s: float = GRACE_S) -> AsyncIterator[None]:
    """A block that is cancelled, without an exception, `grace_s` seconds after `stopped` is set."""
    with contextlib.suppress(TimeoutError):
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
    """Waits for so many seconds, or until `stopped` is set; whether it was."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopped.wait(), seconds)
    return stopped.is_set()
