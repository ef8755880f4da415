"""Work that is done once for all requests that want its result at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final, TypeVar, cast

Result = TypeVar("Result")


class SingleFlight:
    """Work under way, by what distinguishes it. A request that stops waiting does not end it for the others."""

    def __init__(self) -> None:
        self._under_way: Final[dict[Hashable, asyncio.Task[Any]]] = {}

    async def result(
        self, key: Hashable, work: Callable[[], Awaitable[Result]], *, patience_s: float | None = None
    ) -> Result:
        """The result of the work under way by that key, which is begun if there is none.

        Raises TimeoutError after so many seconds, while the work goes on, and whatever the work raises.
        """
        if (task := self._under_way.get(key)) is None:
            task = self._under_way[key] = asyncio.create_task(_done(work))
            task.add_done_callback(lambda task: self._forget(key, task))
        if not (await asyncio.wait((task,), timeout=patience_s))[0]:
            raise TimeoutError
        return cast("Result", task.result())

    async def close(self) -> None:
        """Gives up what is still under way."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # looked at here, as nobody may have waited for it


async def _done(work: Callable[[], Awaitable[Result]]) -> Result:
    return await work()
