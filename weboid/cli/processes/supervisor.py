"""The process that started this one: a process of Weboid, or systemd.

A parent of Weboid shares a socket with each child (its end is in ``children``): through it the child gets secrets, and
reports that it is ready and that its event loop turns. No child outlives its parent by more than `GRACE_S`, however the
parent ends: when the socket is closed the child ends in order. systemd gets datagrams, as sd_notify(3) has them
(https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html); without its socket, or when nobody reads it,
nothing happens.
"""

import asyncio
import json
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import Any, Final

import click

from weboid.cli.processes.process import from_environment
from weboid.cli.processes.stopping import GRACE_S
from weboid.errors import WeboidError

BEAT_S: Final = 5.0
"""The interval at which a child reports that its event loop turns."""
READY: Final = b"ready\n"
ALIVE: Final = b"alive\n"
SYSTEMD_VARIABLES: Final = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
"""For the main process of a service alone."""
_SENDING_S: Final = 0.2
_KEY: Final = "weboid.parent"


class Parent:
    """A child's end of the socket: `given` is the parent's message. Raises WeboidError if the parent has ended."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._socket = own_socket(descriptor)
            with self._socket.makefile("rb") as messages:
                self.given: dict[str, Any] = json.loads(messages.readline())
        except (OSError, ValueError):
            raise WeboidError("--line is for processes that weboid starts itself: leave it out") from None

    def report(self, word: bytes) -> None:
        """Sends `READY`, or `ALIVE` from the event loop."""
        with suppress(OSError):  # The parent has ended, or it is stopped and reads nothing.
            self._socket.send(word, socket.MSG_DONTWAIT)

    def watch(self) -> None:
        """Once the socket is closed this process gets SIGTERM, and `GRACE_S` later nothing of it is left."""
        # A thread, since it must come to its end also while the loop is held up.
        threading.Thread(target=self._wait, daemon=True, name="socket of the parent").start()

    def _wait(self) -> None:
        with suppress(OSError):
            self._socket.recv(1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_S)
        os._exit(1)


def own_socket(descriptor: int) -> socket.socket:
    """A socket that was inherited; from now on it is this process's own. Raises OSError."""
    os.set_inheritable(descriptor, False)
    return socket.socket(fileno=descriptor)


def connect_parent(ctx: click.Context, _: click.Parameter, descriptor: int | None) -> None:
    """Takes this process's end of the socket, if it has one, and watches it; raises WeboidError."""
    if descriptor is not None:
        parent = ctx.meta[_KEY] = Parent(descriptor)
        parent.watch()


def own_parent() -> Parent | None:
    """The process of Weboid that started this one; None if another program did."""
    ctx = click.get_current_context(silent=True)
    parent = ctx.meta.get(_KEY) if ctx else None
    assert parent is None or isinstance(parent, Parent)
    return parent


def report_ready() -> None:
    """Reports that this process does its work from now on. Once is enough."""
    if parent := own_parent():
        parent.report(READY)
    else:
        notify(READY="1")


async def report_alive() -> None:
    """Reports again and again that the event loop turns; to systemd as often as it asks for."""
    parent = own_parent()
    if (interval_s := BEAT_S if parent else watchdog_s()) is None:
        return
    while True:
        if parent:
            parent.report(ALIVE)
        else:
            notify(WATCHDOG="1")
        await asyncio.sleep(interval_s)


def notify(**fields: str) -> None:
    """Sends some fields to systemd, such as READY="1" or STATUS="…"; the parent of a child does so, not the child."""
    name = from_environment("NOTIFY_SOCKET")
    if own_parent() or not name.startswith(("/", "@")):
        return
    address = "\0" + name[1:] if name.startswith("@") else name
    text = "\n".join(f"{field}={' '.join(value.split())}" for field, value in fields.items())
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
        sending.settimeout(_SENDING_S)
        sending.connect(address)
        sending.send(text.encode(errors="replace"))


def watchdog_s() -> float | None:
    """Half of the limit within which systemd expects to hear of this process; None if it expects nothing."""
    limit_us, pid = from_environment("WATCHDOG_USEC"), from_environment("WATCHDOG_PID")
    if not (limit_us.isascii() and limit_us.isdigit() and int(limit_us)) or pid not in ("", str(os.getpid())):
        return None
    return int(limit_us) / 2_000_000
