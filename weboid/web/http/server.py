"""The HTTP server: bounds the size and duration of requests, and the number of connections.

Connections are accepted in ``web/http/listening``; requests are answered by the application (``web/app``).
One law: no address of a reader is logged, and nothing of a request that could not be read is repeated.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from socket import socket
from typing import Any, Final

from aiohttp import StreamReader, hdrs, web

from weboid.web.http.listening import Acceptor, open_listeners, url_of
from weboid.web.http.respond import HEADERS, OPEN_TO_ALL
from weboid.web.request.parameters import MOST_QUERY

log = logging.getLogger(__name__)

_MOST_LINE: Final = 2 * MOST_QUERY
"""Bytes of a request line, so that a query that is too long by a little still gets our own answer."""

_MOST_HEADER: Final = 8_190
_MOST_HEADERS: Final = 64
MOST_CONNECTIONS: Final = 4_000
"""Of one process: some 30 kB each while nothing is asked. More would not be answered any sooner."""

_ENDING_S: Final = 9.0
_BROKEN_OFF_S: Final = 1.0
"""At the end requests under way get so long to be answered; what takes longer is cut off, and gets a second to end."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long the server waits for the other side, in seconds.

    In this order: for the next request, for all of its headers once it has begun, for its body, for the remainder of a
    body that is not read, and until the other side takes more of an answer.
    """

    idle_s: float = 75.0
    """Longer than reverse proxies wait, so that they close first: else their next request may meet a closed one."""
    headers_s: float = 10.0
    body_s: float = 30.0
    leftover_s: float = 2.0
    taking_s: float = 60.0
    spared_s: float = 5.0
    """A connection over which nothing was asked for so long may be closed to make room. None that is younger: its next
    request may be on its way (D-175)."""


@asynccontextmanager
async def open_site(
    app: web.Application,
    host: str,
    port: int,
    *,
    most_connections: int = MOST_CONNECTIONS,
    patience: Timeouts = Timeouts(),
    listeners: Sequence[socket] = (),
) -> AsyncIterator[str]:
    """Serves the application until the block ends; yields its URL. Port 0 = any free one.

    `listeners` are sockets of `open_listeners` if another process listens already. Raises WeboidError if the port is
    taken.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_BROKEN_OFF_S)
    await runner.setup()
    accepting: list[Acceptor] = []
    try:
        assert runner.server
        door = _Door(runner.server, most_connections, patience)
        runner.server.request_factory = door.begun(runner.server.request_factory)
        accepting += [
            Acceptor(each, door.has_room, door.enter) for each in listeners or await open_listeners(host, port)
        ]
        yield url_of(accepting[0].listener)
    finally:
        for each in accepting:
            await each.close()
        if accepting:
            await door.close(_ENDING_S)
        await runner.cleanup()


@dataclass(slots=True)
class _Door:
    """Lets connections in, at most `most` and some more: those get an answer 503 when they have asked.

    A connection that was quiet for some time is closed to make room for a new one.
    """

    server: web.Server
    most: int
    patience: Timeouts
    inside: "set[_Connection]" = field(default_factory=set)
    quiet: "dict[_Connection, float]" = field(default_factory=dict)
    """By connection over which nothing is asked: since when by the loop's clock, the longest first."""
    ending: asyncio.Event | None = None
    """Once connections are being closed for good: set when no request is under way any more."""

    def has_room(self, opening: int) -> bool:
        """Whether one more may enter beside so many that are about to."""
        self._make_room(opening)
        return len(self.inside) + opening < self.most + max(self.most // 8, 4)

    def enter(self) -> "_Connection":
        """The protocol for a new connection."""
        connection = _Connection(self, is_extra=len(self.inside) >= self.most)
        self.inside.add(connection)
        self.rest(connection)
        return connection

    def rest(self, connection: "_Connection") -> None:
        """Notes that nothing is asked over a connection from now on."""
        self.quiet[connection] = asyncio.get_running_loop().time()
        self._look_for_end()

    def leave(self, connection: "_Connection") -> None:
        """Counts a connection no more."""
        self.inside.discard(connection)
        self.quiet.pop(connection, None)
        self._look_for_end()

    async def close(self, within_s: float) -> None:
        """Closes all connections in order: each after the answer to the request that is under way there."""
        self.ending = asyncio.Event()
        for connection in list(self.inside):
            connection.end()
        self._look_for_end()
        # aiohttp's own way of ending reads nothing more, not even the bodies of requests under way.
        with suppress(TimeoutError):
            await asyncio.wait_for(self.ending.wait(), within_s)

    def _look_for_end(self) -> None:
        if self.ending is not None and not any(connection.is_busy for connection in self.inside):
            self.ending.set()

    def _make_room(self, opening: int) -> None:
        if len(self.inside) + opening < self.most or not self.quiet:
            return
        longest, since_s = next(iter(self.quiet.items()))
        if asyncio.get_running_loop().time() >= since_s + self.patience.spared_s:
            longest.say_goodbye()

    def begun(self, make: Callable[..., web.BaseRequest]) -> Callable[..., web.BaseRequest]:
        """A factory of requests that also notifies their connection; it runs once the headers have been read."""

        def made(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
            protocol.begin(payload)
            return make(message, payload, protocol, writer, task)

        return made


class _Connection(web.RequestHandler):
    """aiohttp's handler with deadlines; its own error answers reveal nothing and are not logged."""

    __slots__ = ("_deadline", "_door", "_is_last", "_stall", "is_busy")

    def __init__(self, door: _Door, *, is_extra: bool) -> None:
        super().__init__(
            door.server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]
            keepalive_timeout=door.patience.idle_s,
            lingering_time=door.patience.leftover_s,
            max_line_size=_MOST_LINE,
            max_field_size=_MOST_HEADER,
            max_headers=_MOST_HEADERS,
            auto_decompress=False,
        )
        self._door = door
        self._deadline: asyncio.TimerHandle | None = None
        """The timer by which the headers, or the body, must have arrived, or the other side have closed."""
        self._stall: asyncio.TimerHandle | None = None
        self.is_busy = False
        """Whether a request has been read and not been answered yet."""
        self._is_last = False
        if is_extra:
            self._request_handler = _crowded
            self._deadline = self._dropped_in(door.patience.headers_s)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_busy and self._deadline is None:
            self._deadline = self._dropped_in(self._door.patience.headers_s)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self._dropped_in(self._door.patience.taking_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._door.leave(self)
        self._stop_deadline()
        if self._stall is not None:
            self._stall.cancel()
        super().connection_lost(exc)

    def begin(self, payload: StreamReader) -> None:
        """Notes that a request has been read, all but its body."""
        self.is_busy = True
        self._door.quiet.pop(self, None)
        self._stop_deadline()
        if not payload.is_eof():
            self._deadline = self._dropped_in(self._door.patience.body_s)
            payload.on_eof(self._stop_deadline)

    def end(self) -> None:
        """Closes the connection in order, after the answer to the request that is under way."""
        if self.is_busy:
            self._is_last = True
        else:
            self.say_goodbye()

    def drop(self) -> None:
        """Ends the connection at once, whatever the other side still takes or sends."""
        self._door.leave(self)
        self._stop_deadline()
        if isinstance(self.transport, asyncio.Transport):
            self.transport.abort()
        self.force_close()

    def say_goodbye(self) -> None:
        """Closes a quiet connection in order: the other side is told, and gets no reset for what it sent meanwhile."""
        self._door.leave(self)
        self._stop_deadline()
        self.close()
        if self.transport is not None:
            with suppress(RuntimeError, OSError):
                self.transport.write_eof()
        self._deadline = self._dropped_in(self._door.patience.leftover_s)

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Sends an answer; the connection is idle after it."""
        if isinstance(resp, web.HTTPException):
            # Raised before the application got the request (Expect); its text would repeat what was sent.
            resp = _plain(resp.status)
        if self._is_last:
            resp.force_close()
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self.is_busy = False
            if self in self._door.inside:
                self._door.rest(self)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to what is not a valid request, or after a failure of the application itself."""
        # Without a transport the other side has gone; an answer that was broken off has been logged in `web/errors`.
        if status >= 500 and self.transport is not None and not isinstance(exc, ConnectionError):
            log.error("an answer failed", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("a part of another answer has been sent already")
        return _plain(status)

    def _dropped_in(self, seconds: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self.drop)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


async def _crowded(_: web.BaseRequest) -> web.StreamResponse:
    """The answer to a request over a connection too many."""
    response = _plain(HTTPStatus.SERVICE_UNAVAILABLE)
    response.headers.update({**OPEN_TO_ALL, hdrs.RETRY_AFTER: "5"})
    return response


def _plain(status: int) -> web.Response:
    """A plain-text answer, given without the application; the connection is closed after it."""
    response = web.Response(status=status, text=f"{status} {HTTPStatus(status).phrase}\n", headers=HEADERS)
    response.force_close()
    return response
