"""The line between a process of Weboid and the one that started it: a socket of which each has an end.

Over it the parent tells what nobody else may read, and the child that it is ready and that its event loop turns. One
law: no child outlives its parent by more than `GRACE_S`, however the parent ends: when the line is closed the child
ends in order. The parent's side is in ``cli/processes/children``.
"""

import json
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import Any, Final

import click

from weboid.cli.processes.stopping import GRACE_S
from weboid.errors import WeboidError

BEAT_S: Final = 5.0
"""The interval at which a child tells that its event loop turns."""
READY: Final = b"ready\n"
ALIVE: Final = b"alive\n"
_KEY: Final = "weboid.line"


class ParentLine:
    """A child's end of the line. `told` is what the parent said; raises WeboidError if it has gone already."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._socket = own_socket(descriptor)
            with self._socket.makefile("rb") as said:
                self.told: dict[str, Any] = json.loads(said.readline())
        except (OSError, ValueError):
            raise WeboidError("--line is for processes that weboid starts itself: leave it out") from None

    @property
    def has_parent(self) -> bool:
        """Whether the parent still runs."""
        return os.getppid() == int(self.told["parent"])

    def tell_ready(self) -> None:
        """Says that this process does its work from now on."""
        self._tell(READY)

    def tell_alive(self) -> None:
        """Says that the event loop, which calls this, turns."""
        self._tell(ALIVE)

    def watch(self) -> None:
        """Once the line is closed this process gets SIGTERM, and `GRACE_S` later nothing of it is left."""
        # A thread, since it must come to its end also while the loop is held up.
        threading.Thread(target=self._wait, daemon=True, name="line to the parent").start()

    def _wait(self) -> None:
        with suppress(OSError):
            while self._socket.recv(1):
                pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_S)
        os._exit(1)

    def _tell(self, word: bytes) -> None:
        with suppress(OSError):  # The parent has gone, or it is stopped and reads nothing.
            self._socket.send(word, socket.MSG_DONTWAIT)


def own_socket(descriptor: int) -> socket.socket:
    """A socket that was inherited; from now on it is this process's own. Raises OSError."""
    os.set_inheritable(descriptor, False)
    return socket.socket(fileno=descriptor)


def take_line(ctx: click.Context, _: click.Parameter, descriptor: int | None) -> None:
    """Takes this process's end of the line, if it has one, and heeds it from now on; raises WeboidError."""
    if descriptor is not None:
        line = ctx.meta[_KEY] = ParentLine(descriptor)
        line.watch()


def parent_line() -> ParentLine | None:
    """The line to the process that has started this one; None if that was somebody else."""
    ctx = click.get_current_context(silent=True)
    line = ctx.meta.get(_KEY) if ctx else None
    assert line is None or isinstance(line, ParentLine)
    return line
