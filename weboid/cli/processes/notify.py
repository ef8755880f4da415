"""What systemd is told of a service of Type=notify: by datagrams to a socket that it names in the environment.

Format: sd_notify(3), https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html. One law: without that
socket, or when nobody reads it, nothing happens.
"""

import asyncio
import os
import socket
from contextlib import suppress
from typing import Final

from weboid.cli.processes.process import from_environment

_PATIENCE_S: Final = 0.2
VARIABLES: Final = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")
"""Those in which systemd says how; for the main process of a service alone."""


def notify(**fields: str) -> None:
    """Tells systemd some fields, such as READY="1" or STATUS="…"."""
    name = from_environment("NOTIFY_SOCKET")
    if not name.startswith(("/", "@")):
        return
    address = "\0" + name[1:] if name.startswith("@") else name
    text = "\n".join(f"{field}={' '.join(value.split())}" for field, value in fields.items())
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
        sending.settimeout(_PATIENCE_S)
        sending.connect(address)
        sending.send(text.encode(errors="replace"))


def watchdog_s() -> float | None:
    """The interval at which systemd wants to hear that this process is well, half of its limit; None if it does not."""
    limit_us, pid = from_environment("WATCHDOG_USEC"), from_environment("WATCHDOG_PID")
    if not (limit_us.isascii() and limit_us.isdigit() and int(limit_us)) or pid not in ("", str(os.getpid())):
        return None
    return int(limit_us) / 2_000_000


async def keep_watchdog() -> None:
    """Tells systemd again and again that the event loop turns, as often as it wants to hear it."""
    if (interval_s := watchdog_s()) is None:
        return
    while True:
        notify(WATCHDOG="1")
        await asyncio.sleep(interval_s)
