"""Gathering: calls that come while others are under way are made together, as soon as those are done."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Gathering(Generic[Item, Result]):
    """Does work for several items at once, at most `most`; `work` returns a result for each, in their order.

    The first of them waits for nothing, and a caller that waits for each of its items loses no more than one.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]], most: int) -> None:
        self._work = work
        self._most = most
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._running: asyncio.Task[None] | None = None

    async def result(self, item: Item) -> Result:
        """The result for an item; raises what `work` raises. A caller that is cancelled does not stop the work."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def close(self) -> None:
        """Returns when all has been done."""
        while self._running is not None:
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(0)  # for callers that go on in the same turn of the loop
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._do(batch)
        finally:
            self._running = None

    async def _do(self, batch: Sequence[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._work([item for item, _ in batch])
        except Exception as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
