"""Work in the background of a block, such as a loop that tidies while an application runs.

Work that a stop ends in order, with what is under way, is ``mechanism/sweeps``.
One law: when the block has ended, so has the work, and what it raised is raised.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from weboid.mechanism.cancelling import cancel


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs the work until the block ends, and cancels it then."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        (end,) = await cancel(task)
        if isinstance(end, Exception):
            raise end
