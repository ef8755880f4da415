"""Single flight: callers that want the same result at the same time share one task.

One law: a caller is cancelled only by whoever cancels it or closes this; all else reaches it as a result or an error.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Tasks under way by key. A caller that is cancelled does not cancel the task for the others."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, asyncio.Task[Result]] = {}
        self._is_closed = False

    def __len__(self) -> int:
        """How many tasks are under way."""
        return len(self._flights)

    async def result(
        self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Result]], limit_s: float | None = None
    ) -> Result:
        """The result of the task under way for `key`, which is started if there is none; raises what it raises.

        RuntimeError if the task is cancelled by something in it: its callers are not meant by that. TimeoutError after
        `limit_s`; the task goes on for the others, and for those to come (D-92).
        """
        if (flight := self._flights.get(key)) is None:
            flight = self._flights[key] = asyncio.create_task(work())
            flight.add_done_callback(lambda done: self._land(key, done))
        waiting = _end_of(flight)
        # asyncio.timeout would cost several times as much as this timer.
        limit = None if limit_s is None else asyncio.get_running_loop().call_later(limit_s, waiting.cancel)
        try:
            return await waiting
        except asyncio.CancelledError:
            if self._is_closed or _is_cancelled():
                raise
            if flight.cancelled():
                raise RuntimeError(f"the work for {key!r} was cancelled from within") from None
            if limit is None:
                raise
            raise TimeoutError from None
        finally:
            if limit is not None:
                limit.cancel()

    async def close(self) -> None:
        """Cancels all tasks; callers that wait for them are cancelled, too."""
        self._is_closed = True
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    def _land(self, key: Hashable, flight: asyncio.Task[Result]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # Retrieved here, because all callers may have been cancelled by now.


def _end_of(flight: asyncio.Task[Result]) -> asyncio.Future[Result]:
    """A future that ends as `flight` does, and may be cancelled without it.

    From Python 3.14 on, `asyncio.shield` logs an error if the task fails after that.
    """
    waiting: asyncio.Future[Result] = flight.get_loop().create_future()

    def land(done: asyncio.Task[Result]) -> None:
        if waiting.done():
            return
        if done.cancelled():
            waiting.cancel()
        elif (error := done.exception()) is not None:
            waiting.set_exception(error)
        else:
            waiting.set_result(done.result())

    flight.add_done_callback(land)
    waiting.add_done_callback(lambda _: flight.remove_done_callback(land))
    return waiting


def _is_cancelled() -> bool:
    """Whether the task that runs now is itself being cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
