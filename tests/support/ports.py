"""Ports for servers of other programs, which must be given one before they listen."""

import random
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

_RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST: Final = 12_000
_TRIES: Final = 200
_RANDOM: Final = random.SystemRandom()
"""Of its own: hypothesis seeds the common one, alike in tests that run side by side."""


def free_port() -> int:
    """A port of 127.0.0.1 that is free at the moment.

    It is none of those that the system gives to programs that do not mind which: between the choice and the server's
    listening lie seconds, in which a test next to this one would be given it, sooner or later.
    """
    end = int(_RANGE.read_text().split()[0]) if _RANGE.is_file() else 32_768
    for _ in range(_TRIES):
        port = _RANDOM.randrange(_LOWEST, max(end, _LOWEST + 1_000))
        with suppress(OSError), socket.socket() as trial:
            trial.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"no port from {_LOWEST} to {end} is free")
