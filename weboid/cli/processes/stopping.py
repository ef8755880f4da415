"""Stopping a command in order: the meaning of signals, and work that ends when it is stopped.

SIGTERM, Ctrl-C and a terminal that closes (SIGHUP, unless nohup has it ignored) are one order, however many of them
come: a terminal and systemd send them to a whole group, whose parents send their children another. Within `GRACE_S`
after the first no signal ends this process before its end in order; after that, one does.
"""

import asyncio
import logging
import os
import signal
import sys
import time
from _thread import start_new_thread
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

from weboid.cli.terminal.logs import print_error
from weboid.mechanism.tasks import cancel

GRACE_S: Final = 15.0
"""Seconds that a process may take to end in order; longer than what is under way gets (mechanism/ending)."""
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopOrder:
    """The signals to stop: the first one calls `stop` while a block runs, others within `GRACE_S` do nothing.

    `ends`: as in `stop_signals`.
    """

    def __init__(self, stop: Callable[[], object], *, ends: bool = False) -> None:
        self.number: int | None = None
        """The first signal, None if none has come."""
        self._since = 0.0
        self._stop = stop
        self._ends = ends
        self._terminals = [number for number in (1, 2) if os.isatty(number)]
        self._before = {number: signal.getsignal(number) for number in _SIGNALS}

    @property
    def status(self) -> int:
        """The exit status of a command that this ended: 128 + the signal's number, as shells have it."""
        assert self.number is not None, "a signal has come"
        return 128 + self.number

    @contextmanager
    def heeded(self) -> Iterator["StopOrder"]:
        """Heeds signals in a block; if none has come, they mean afterwards what they did before.

        Not by the loop's own handlers: when it closes, they go before the program ends (D-336).
        """
        for number, before in self._before.items():
            if number != signal.SIGHUP or before != signal.SIG_IGN:
                signal.signal(number, self.on_signal)
        try:
            yield self
        finally:
            for number, before in self._before.items():
                # Another handler: a block within has had an order.
                if self.number is None and signal.getsignal(number) == self.on_signal:
                    signal.signal(number, before)

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """The handler."""
        if number == signal.SIGHUP:
            self._leave_terminal()
        if self.number is None:
            self.number, self._since = number, time.monotonic()
            if self._ends:
                # Not threading.Thread: it takes a lock that the code which this handler interrupts may have.
                start_new_thread(_end_after_grace, (number,))
            self._stop()
        elif time.monotonic() - self._since > GRACE_S:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _leave_terminal(self) -> None:
        """Sends output to /dev/null from now on: to write to a terminal that is closed is an error."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in self._terminals:
            os.dup2(nowhere, number)
        os.close(nowhere)


@contextmanager
def stop_signals(stop: Callable[[], object], *, answers: bool = False, ends: bool = False) -> Iterator[StopOrder]:
    """Calls `stop` in the running loop on the first signal to stop; one after `GRACE_S` ends the program at once.

    `answers`: the first one is answered on a terminal. `ends`: without another one, too, the process ends `GRACE_S`
    after the first, with 128 + its number, even if its loop does not turn or its threads do not end.
    """
    loop = asyncio.get_running_loop()
    answers = answers and sys.stderr.isatty()

    def call() -> None:
        with suppress(RuntimeError):  # the loop has ended already
            loop.call_soon_threadsafe(stop)
            if answers:
                loop.call_soon_threadsafe(
                    print_error, "stopping; what is under way is written, at most 10 s", logging.INFO
                )

    with StopOrder(call, ends=ends).heeded() as order:
        yield order


@contextmanager
def ended_by_signals(left: str) -> Iterator[None]:
    """The same for work that blocks, without a loop: the first signal raises SystemExit in it, with 128 + its number,
    so that the work's own handlers undo what it has begun; `left` is logged, the state that is left.
    """

    def stop() -> None:
        raise SystemExit(order.status)

    order = StopOrder(stop)
    try:
        with order.heeded():
            yield
    finally:
        if order.number is not None:
            print_error(f"stopped; {left}")


def _end_after_grace(number: int) -> None:
    time.sleep(GRACE_S)
    os._exit(128 + number)


def ignore_repeats() -> None:
    """After an order to stop, at the end of the program: Python gives signals up a while before it has ended."""
    for number in _SIGNALS:
        if getattr(signal.getsignal(number), "__func__", None) is StopOrder.on_signal:
            signal.signal(number, signal.SIG_IGN)


async def stoppable(main: Coroutine[Any, Any, Any]) -> Any:
    """Runs a command; a signal to stop cancels it, so that all that it has opened is closed, and ends the program.

    Where `stop_signals` is called within it, that one goes first. Raises SystemExit with 128 + the signal's number.
    """
    task = asyncio.current_task()
    assert task
    with stop_signals(task.cancel, ends=True) as order:
        try:
            return await main
        except asyncio.CancelledError:
            if order.number is None:
                raise
            raise SystemExit(order.status) from None


async def until(stopped: asyncio.Event, *works: Coroutine[Any, Any, object]) -> None:
    """Runs all of the works until one ends or `stopped` is set; raises what one of them raised."""
    tasks = [asyncio.create_task(work) for work in (*works, stopped.wait())]
    try:
        await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
    finally:
        ends = await cancel(*tasks)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end
