"""A hostile server: ``python -m benchmarks.crawl.dripping`` prints its port and serves until stdin is closed.

To all connections in turn it sends a head that never ends, byte by byte, as fast as it can with the processor time that
the benign server leaves: it is the client that is measured.
"""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from select import select
from time import sleep
from typing import Final

ADDRESS: Final = "127.1.1.1"
_BEGINNING: Final = b"HTTP/1.1 200 OK\r\nX-Endless: "
_LOWEST: Final = 19
_IDLE_S: Final = 0.001
_LOOKS_EVERY: Final = 64
"""Rounds of bytes between two looks at what else there is to do."""


def main() -> None:
    """Serves until stdin is closed."""
    os.nice(_LOWEST)
    with socket.create_server((ADDRESS, 0), backlog=1024) as listener:
        listener.setblocking(False)
        print(listener.getsockname()[1], flush=True)
        beset: set[socket.socket] = set()
        while not select([sys.stdin], [], [], 0)[0]:
            beset.update(_accepted(listener))
            for _ in range(_LOOKS_EVERY):
                beset -= {sock for sock in beset if not _goes_on(sock)}
            if not beset:
                sleep(_IDLE_S)


def _accepted(listener: socket.socket) -> Iterator[socket.socket]:
    with suppress(BlockingIOError):
        while True:
            sock, _ = listener.accept()
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if _goes_on(sock, _BEGINNING):
                yield sock


def _goes_on(sock: socket.socket, data: bytes = b"y") -> bool:
    """Sends a byte; returns whether the connection is still open."""
    try:
        sock.send(data)
    except BlockingIOError:
        pass
    except OSError:
        sock.close()
        return False
    return True


if __name__ == "__main__":
    main()
