"""Stopping a command in order: what its signals mean, and work that ends when it is stopped.

SIGTERM, Ctrl-C and a terminal that closes (SIGHUP, unless nohup has it ignored) are one order, however many of them
come: a terminal and systemd send them to a whole group, whose parents send their children another. One law: within
`GRACE_S` after the first no signal ends this process before its end in order; after that, one does.
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

from weboid.cli.terminal.logs import complain
from weboid.mechanism.tasks import cancel

GRACE_S: Final = 15.0
"""Seconds that a process may take to end in order; longer than what is under way gets (mechanism/patience)."""
_KINDS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_TOLD: Final = "stopping; what is under way is written, at most 10 s"


class StopOrder:
    """What signals to stop do while a block runs, and after it when there was one."""

    def __init__(self, stop: Callable[[], object], tells: bool, ends: bool) -> None:
        self.kind: int | None = None
        """The first signal, None if none has come."""
        self._since = 0.0
        self._loop = asyncio.get_running_loop()
        self._stop = stop
        self._tells = tells and sys.stderr.isatty()
        self._ends = ends
        self._terminals = [number for number in (1, 2) if os.isatty(number)]
        self._before = {kind: signal.getsignal(kind) for kind in _KINDS}

    @property
    def status(self) -> int:
        """The exit status of a command that this ended: 128 + the signal's number, as shells tell it."""
        assert self.kind is not None, "a signal has come"
        return 128 + self.kind

    def heed(self) -> None:
        """Begins to heed signals. Not by the loop's own handlers: when it closes, they go before the program ends
        (D-336)."""
        for kind, before in self._before.items():
            if kind != signal.SIGHUP or before != signal.SIG_IGN:
                signal.signal(kind, self.on_signal)

    def close(self) -> None:
        """Ends the block; if no signal has come, they mean what they did before."""
        if self.kind is not None:
            return
        for kind, before in self._before.items():
            if signal.getsignal(kind) == self.on_signal:  # else a block within has had an order
                signal.signal(kind, before)

    def on_signal(self, kind: int, _: FrameType | None) -> None:
        """The handler."""
        if kind == signal.SIGHUP:
            self._leave_terminal()
        if self.kind is None:
            self.kind, self._since = kind, time.monotonic()
            if self._ends:
                # Not threading.Thread: it takes a lock that the code which this handler interrupts may have.
                start_new_thread(_end_after_grace, (kind,))
            self._call(self._stop)
            if self._tells:
                self._call(_tell)
        elif time.monotonic() - self._since > GRACE_S:
            signal.signal(kind, signal.SIG_DFL)
            os.kill(os.getpid(), kind)

    def _call(self, action: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(action)

    def _leave_terminal(self) -> None:
        """What is still said goes nowhere: to write to a terminal that is closed is an error."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in self._terminals:
            os.dup2(nowhere, number)
        os.close(nowhere)


@contextmanager
def stop_signals(stop: Callable[[], object], *, tells: bool = False, ends: bool = False) -> Iterator[StopOrder]:
    """Calls `stop` in the running loop on the first signal to stop; one after `GRACE_S` ends the program
    at once. `tells`: the first one is answered on a terminal. `ends`: without another one, too, the process ends
    `GRACE_S` after the first, with 128 + its number, even if its loop does not turn or its threads do not end.
    """
    order = StopOrder(stop, tells, ends)
    order.heed()
    try:
        yield order
    finally:
        order.close()


def _end_after_grace(kind: int) -> None:
    time.sleep(GRACE_S)
    os._exit(128 + kind)


@contextmanager
def ended_by_signals(left: str) -> Iterator[None]:
    """The same for work that blocks, without a loop: the first signal raises SystemExit in it, with 128 + its number,
    so that what it has begun is undone by its own hands; `left` says what is left. Repeats mean the same.
    """
    before = {kind: signal.getsignal(kind) for kind in _KINDS}
    came: list[float] = []

    def on_signal(kind: int, _: FrameType | None) -> None:
        if not came:
            came.append(time.monotonic())
            raise SystemExit(128 + kind)
        if time.monotonic() - came[0] > GRACE_S:
            signal.signal(kind, signal.SIG_DFL)
            os.kill(os.getpid(), kind)

    for kind in _KINDS:
        if kind != signal.SIGHUP or before[kind] != signal.SIG_IGN:
            signal.signal(kind, on_signal)
    try:
        yield
    finally:
        if came:
            complain(f"stopped; {left}")
        else:
            for kind in _KINDS:
                signal.signal(kind, before[kind])


def _tell() -> None:
    complain(_TOLD, logging.INFO)


def ignore_repeats() -> None:
    """After an order to stop, at the end of the program: Python gives signals up a while before it has ended."""
    for kind in _KINDS:
        if getattr(signal.getsignal(kind), "__func__", None) is StopOrder.on_signal:
            signal.signal(kind, signal.SIG_IGN)


async def stoppable(main: Coroutine[Any, Any, Any]) -> Any:
    """Runs a command; a signal to stop cancels it, so that all that it has opened is closed, and ends the program.

    For what stops in another way within it, `stop_signals` goes first there. Raises SystemExit with 128 + the signal's
    number, as shells tell it.
    """
    task = asyncio.current_task()
    assert task
    with stop_signals(task.cancel, ends=True) as order:
        try:
            return await main
        except asyncio.CancelledError:
            if order.kind is None:
                raise
            raise SystemExit(order.status) from None


async def until(stopped: asyncio.Event, *works: Coroutine[Any, Any, object]) -> None:
    """Runs all of the works until one ends or `stopped` is set; what one raised is raised."""
    doing = [asyncio.create_task(work) for work in (*works, stopped.wait())]
    try:
        await asyncio.wait(doing, return_when="FIRST_COMPLETED")
    finally:
        ends = await cancel(*doing)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end
