"""Stopping a command in order: what its signals mean, and work that ends when it is stopped."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

_SAME_SIGNAL_S = 1.0


@contextmanager
def stop_signals(stop: Callable[[], None], *, again: Callable[[], None] | None = None) -> Iterator[None]:
    """Calls `stop` on SIGTERM and Ctrl-C; a second one calls `again`, or ends the program at once.

    What comes within a second is the same one: a terminal's Ctrl-C reaches all processes of a group, and whoever
    started this one then sends SIGTERM, too.
    """
    loop = asyncio.get_running_loop()
    kinds = (signal.SIGTERM, signal.SIGINT)
    waiting: asyncio.TimerHandle | None = None

    def on_signal() -> None:
        nonlocal waiting
        if waiting is None:
            waiting = loop.call_later(_SAME_SIGNAL_S, heed_next)
            stop()

    def heed_next() -> None:
        for kind in kinds:
            loop.remove_signal_handler(kind)
            if again is not None:
                loop.add_signal_handler(kind, again)

    for kind in kinds:
        loop.add_signal_handler(kind, on_signal)
    try:
        yield
    finally:
        if waiting is not None:
            waiting.cancel()
        for kind in kinds:
            loop.remove_signal_handler(kind)


async def until(stopped: asyncio.Event, *works: Coroutine[Any, Any, object]) -> None:
    """Runs all of the works until one ends or `stopped` is set; what one raised is raised."""
    doing = [asyncio.create_task(work) for work in (*works, stopped.wait())]
    await asyncio.wait(doing, return_when="FIRST_COMPLETED")
    for task in doing:
        task.cancel()
    ends = await asyncio.gather(*doing, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end
