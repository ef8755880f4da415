"""Single flight: callers that want the same result at the same time share one task."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Tasks under way by key. A caller that is cancelled does not cancel the task for the others."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, asyncio.Task[Result]] = {}

    def __len__(self) -> int:
        """How many tasks are under way."""
        return len(self._flights)

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The result of the task under way for `key`, which is started if there is none; raises what it raises."""
        if (flight := self._flights.get(key)) is None:
            flight = self._flights[key] = asyncio.create_task(work())
            flight.add_done_callback(lambda done: self._land(key, done))
        return await asyncio.shield(flight)

    async def close(self) -> None:
        """Cancels all tasks; callers that wait for them are cancelled, too."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    def _land(self, key: Hashable, flight: asyncio.Task[Result]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # Retrieved here, because all callers may have been cancelled by now.
