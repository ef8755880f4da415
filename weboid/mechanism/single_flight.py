"""Single flight: those who want the same at the same time share one piece of work."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Work under way by what it is for. Whoever gives up waiting does not end it for the others."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, asyncio.Task[Result]] = {}

    def __len__(self) -> int:
        """How many pieces of work are under way."""
        return len(self._flights)

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The result of the work under way for `key`, begun now if there is none; raises what it raises."""
        if (flight := self._flights.get(key)) is None:
            flight = self._flights[key] = asyncio.create_task(work())
            flight.add_done_callback(lambda done: self._land(key, done))
        return await asyncio.shield(flight)

    async def close(self) -> None:
        """Cancels what is under way; whoever waits for it is cancelled, too."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    def _land(self, key: Hashable, flight: asyncio.Task[Result]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # Looked at here: all who wanted it may have given up by now.
