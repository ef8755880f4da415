"""A limit on simultaneous answers about many links: each of them takes megabytes, and time from all others.

An answer about few links never waits here.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Final

from weboid.mechanism.fair_slots import aside
from weboid.web.request.problem import Problem

MANY_LINKS: Final = 500
"""An answer about more waits for others that are as large."""
_AT_ONCE: Final = 1
"""Of the two slots of pages one is left for answers about few links."""
_MOST_WAITING: Final = 16
"""Each of them has read its pages already."""
_RETRY_S: Final = 3


class LargeAnswers:
    """The slots for large answers in one process."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0

    def require_room(self, links: int) -> None:
        """Raises Problem 503 if so many links make an answer large, and too many of those wait already."""
        if links > MANY_LINKS and self._free.locked() and self._waiting >= _MOST_WAITING:
            raise Problem(503, "busy", retry_s=_RETRY_S)

    @asynccontextmanager
    async def slot(self, links: int) -> AsyncIterator[None]:
        """Waits for a slot and holds it until the block ends; raises Problem 503 if too many wait already."""
        self.require_room(links)
        if links <= MANY_LINKS:
            yield
            return
        has_slot = False
        try:
            self._waiting += 1
            try:
                async with aside() if self._free.locked() else nullcontext():
                    has_slot = await self._free.acquire()
            finally:
                self._waiting -= 1
            yield
        finally:
            if has_slot:
                self._free.release()
