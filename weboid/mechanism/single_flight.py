"""Single flight: callers that need the same result at the same time share one task.

A caller is cancelled only when somebody cancels it or closes this; all else reaches it as a result or an error.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from weboid.mechanism.tasks import cancel

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Tasks under way by key. A caller that is cancelled does not cancel the task for the others."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, asyncio.Task[Result]] = {}
        self._is_closed = False

    def __len__(self) -> int:
        """The number of tasks under way."""
        return len(self._flights)

    async def result(
        self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Result]], limit_s: float | None = None
    ) -> Result:
        """The result of the task under way for `key`, which is started if there is none; raises its exceptions.

        RuntimeError if the task is cancelled by something in it: its callers are not meant by that. TimeoutError after
        `limit_s`; the task goes on for the others, and for those to come (D-92).
        """
        if (flight := self._flights.get(key)) is None:
            flight = self._flights[key] = asyncio.create_task(work())
            flight.add_done_callback(lambda done: self._land(key, done))
        # asyncio.wait does not cancel the flight with its caller, and its timeout costs less than asyncio.timeout.
        await asyncio.wait([flight], timeout=limit_s)
        if not flight.done():
            raise TimeoutError
        if flight.cancelled() and not self._is_closed:
            raise RuntimeError(f"the work for {key!r} was cancelled from within")
        return flight.result()

    async def close(self) -> None:
        """Cancels all tasks; callers that wait for them are cancelled, too."""
        self._is_closed = True
        await cancel(*self._flights.values())

    def _land(self, key: Hashable, flight: asyncio.Task[Result]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # Retrieved here, because all callers may have been cancelled by now.
