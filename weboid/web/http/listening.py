"""Sockets that listen, and accepting connections from them: some in one turn of the loop, none where there is no room.

``web/http/server`` handles them. A connection for which there is no room waits in the system, and is not refused here.
"""

import asyncio
import fcntl
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from socket import socket
from typing import Any, Final

from weboid.errors import WeboidError

log = logging.getLogger(__name__)

_BACKLOG: Final = 4_096
"""Connections that the system holds for us until they are accepted; it may hold fewer."""
_AT_ONCE: Final = 32
"""Connections accepted in one turn of the loop: a crowd that comes must not hold up who is there, but those who wait to
be accepted wait in one line, so that it has to be short."""
_PAUSE_S: Final = 0.2
"""Until the next try to accept, when there is no room or no open file left."""


async def open_listeners(host: str, port: int) -> list[socket]:
    """Sockets that listen, also for other processes to accept from; raises WeboidError if the port is taken."""
    try:
        # The server has looked for the addresses and takes none of the connections.
        address = (host.strip("[]"), port)
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, *address, start_serving=False)
        listeners = [socket(fileno=os.dup(each.fileno())) for each in server.sockets]
        server.close()
        for each in listeners:
            each.setblocking(False)
            each.listen(_BACKLOG)
    except OSError as error:
        reason = error.strerror or error
        message = f"cannot listen on {host}:{port} ({reason}); set WEBOID_WEB_PORT or WEBOID_WEB_HOST to another one"
        raise WeboidError(message) from None
    return listeners


def reserve_files(listener: socket, most: int) -> None:
    """Lets the system make room for so many open files at once.

    Each time that their table doubles, Linux holds a process with threads up for some 10 ms (measured), which a crowd
    that comes would make it do up to six times.
    """
    with suppress(OSError):  # not so many are allowed
        os.close(fcntl.fcntl(listener, fcntl.F_DUPFD_CLOEXEC, most))


def url_of(listener: socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Acceptor:
    """Accepts connections at a listening socket, some at a time, until it is closed.

    `has_room` is true if one more fits in addition to so many that are being opened; `enter` makes its protocol.
    """

    def __init__(
        self, listener: socket, has_room: Callable[[int], bool], enter: Callable[[], asyncio.Protocol]
    ) -> None:
        self.listener: Final = listener
        self._has_room = has_room
        self._enter = enter
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[Any]] = set()
        self._pause: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        self._go_on()

    async def close(self) -> None:
        """Accepts no more; what has been accepted is kept."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self.listener.fileno())
        await asyncio.gather(*self._opening, return_exceptions=True)
        self.listener.close()

    def _go_on(self) -> None:
        self._pause = None
        self._loop.add_reader(self.listener.fileno(), self._accept)

    def _rest(self) -> None:
        """Accepts nothing for a while; the system holds who comes."""
        self._loop.remove_reader(self.listener.fileno())
        self._pause = self._loop.call_later(_PAUSE_S, self._go_on)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            if not self._has_room(len(self._opening)):
                return self._rest()
            try:
                accepted, _ = self.listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return None  # another process has accepted it, or it has gone
            except OSError as error:
                log.error("no connection can be accepted: %s", error.strerror or error)
                return self._rest()
            accepted.setblocking(False)
            opening = self._loop.create_task(self._loop.connect_accepted_socket(self._enter, accepted))
            self._opening.add(opening)
            opening.add_done_callback(self._opened)
        return None

    def _opened(self, opening: asyncio.Task[Any]) -> None:
        self._opening.discard(opening)
        if not opening.cancelled():
            opening.exception()  # the caller has gone already
