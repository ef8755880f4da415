"""The HTTP server: listens for requests, and bounds their size, their duration and the number of connections.

The requests are answered by the application (``web/app``).
One law: no address of a reader is logged, and nothing of a request that could not be read is repeated.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from aiohttp import StreamReader, web

from weboid.errors import WeboidError
from weboid.web.http.respond import HEADERS
from weboid.web.request.parameters import MOST_QUERY

log = logging.getLogger(__name__)

_MOST_LINE: Final = 2 * MOST_QUERY
"""Bytes of a request line, so that a query that is too long by a little still gets our own answer."""

_MOST_HEADER: Final = 8_190
_MOST_HEADERS: Final = 64
MOST_CONNECTIONS: Final = 500


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


@asynccontextmanager
async def open_site(
    app: web.Application,
    host: str,
    port: int,
    *,
    most_connections: int = MOST_CONNECTIONS,
    patience: Timeouts = Timeouts(),
) -> AsyncIterator[str]:
    """Serves the application until the block ends; yields its URL. Port 0 = any free one.

    Raises WeboidError if the port is taken.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=10.0)
    await runner.setup()
    server = None
    try:
        assert runner.server
        door = _Door(runner.server, most_connections, patience)
        runner.server.request_factory = door.begun(runner.server.request_factory)
        try:
            server = await asyncio.get_running_loop().create_server(door.enter, host, port)
        except OSError as error:
            raise WeboidError(
                f"cannot listen on {host}:{port} ({error.strerror or error}); set WEBOID_WEB_PORT to another port"
            ) from None
        address = server.sockets[0].getsockname()
        name = f"[{address[0]}]" if ":" in address[0] else address[0]
        yield f"http://{name}:{address[1]}"
    finally:
        if server:
            server.close()
        await runner.cleanup()


@dataclass(slots=True)
class _Door:
    """Accepts connections, at most `most` at a time: then an idle one is closed to make room for a new one."""

    server: web.Server
    most: int
    patience: Timeouts
    inside: "dict[_Connection, None]" = field(default_factory=dict)

    def enter(self) -> asyncio.Protocol:
        """The protocol for a new connection."""
        if len(self.inside) >= self.most:
            idle = next((connection for connection in self.inside if not connection.is_busy), None)
            if idle is None:
                return _Refused()
            idle.drop()
        connection = _Connection(self)
        self.inside[connection] = None
        return connection

    def begun(self, make: Callable[..., web.BaseRequest]) -> Callable[..., web.BaseRequest]:
        """A factory of requests that also notifies their connection; it runs once the headers have been read."""

        def made(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
            protocol.begin(payload)
            return make(message, payload, protocol, writer, task)

        return made


class _Refused(asyncio.Protocol):
    """A connection beyond the limit: it gets an answer 503 and is closed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        headers = {**HEADERS, "Retry-After": "5", "Content-Length": "0", "Connection": "close"}
        lines = ["HTTP/1.1 503 Service Unavailable", *(f"{name}: {value}" for name, value in headers.items())]
        transport.write("\r\n".join([*lines, "", ""]).encode())
        transport.close()


class _Connection(web.RequestHandler):
    """aiohttp's handler with deadlines; its own error answers reveal nothing and are not logged."""

    __slots__ = ("_deadline", "_door", "_stall", "is_busy")

    def __init__(self, door: _Door) -> None:
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
        """The timer by which the headers, or the body, must have arrived."""
        self._stall: asyncio.TimerHandle | None = None
        self.is_busy = False
        """Whether a request has been read and not been answered yet."""

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
        self._door.inside.pop(self, None)
        self._stop_deadline()
        if self._stall is not None:
            self._stall.cancel()
        super().connection_lost(exc)

    def begin(self, payload: StreamReader) -> None:
        """Notes that a request has been read, all but its body."""
        self.is_busy = True
        self._stop_deadline()
        if not payload.is_eof():
            self._deadline = self._dropped_in(self._door.patience.body_s)
            payload.on_eof(self._stop_deadline)

    def drop(self) -> None:
        """Ends the connection at once, whatever the other side still takes or sends."""
        self._door.inside.pop(self, None)
        self._stop_deadline()
        if isinstance(self.transport, asyncio.Transport):
            self.transport.abort()
        self.force_close()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Sends an answer; the connection is idle after it."""
        if isinstance(resp, web.HTTPException):
            # Raised before the application got the request (Expect); its text would repeat what was sent.
            resp = _plain(resp.status)
        try:
            return await super().finish_response(request, resp, start_time)
        finally:
            self.is_busy = False

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


def _plain(status: int) -> web.Response:
    """A plain-text answer, given without the application; the connection is closed after it."""
    response = web.Response(status=status, text=f"{status} {HTTPStatus(status).phrase}\n", headers=HEADERS)
    response.force_close()
    return response
