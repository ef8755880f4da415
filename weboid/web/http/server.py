"""The HTTP server: bounds the size and duration of requests, and the number of connections.

``web/http/listening`` accepts connections; the application (``web/app``) answers requests. No address of a reader is
logged, and nothing of a request that could not be read is repeated.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from random import randint
from socket import socket
from typing import Any, Final

from aiohttp import StreamReader, hdrs, web
from aiohttp.http_exceptions import InvalidURLError, LineTooLong

from weboid.web.http.arrivals import ARRIVALS, Arrivals
from weboid.web.http.lanes import RETRY_S
from weboid.web.http.listening import Acceptor, open_listeners, reserve_files, url_of
from weboid.web.http.respond import HEADERS, OPEN_TO_ALL
from weboid.web.request.parameters import MOST_QUERY

log = logging.getLogger(__name__)

_MOST_LINE: Final = 2 * MOST_QUERY
"""Bytes of a request line, so that a query that is too long by a little still gets our own answer."""

_MOST_HEADER: Final = 8_190
_MOST_UNREAD: Final = 1 << 16
_SIMPLE: Final = re.compile(
    rb"GET [!-~]+ HTTP/1\.1\r\n"
    rb"(?:(?!Authorization|Connection:(?! keep-alive\r)|Content-Length|Expect|Transfer-Encoding|Upgrade)"
    rb"[\w!#$%&'*+.^`|~-]+:[^\r\n]*\r\n)*\r\n",
    re.IGNORECASE,
)
"""A whole request without a body, of nobody who has a token, after which the connection stays open."""
_MOST_HEADERS: Final = 64
_ADVICE: Final = {
    InvalidURLError: ": put %C3%BC for ü (curl --data-urlencode)",
    LineTooLong: f": send more than {MOST_QUERY:,} bytes as a form (POST); a header has {_MOST_HEADER:,} at most",
}
MOST_CONNECTIONS: Final = 4_000
"""Of one process: some 30 kB each while idle. More would not be answered any sooner."""

_CLOSING_S: Final = 9.0
_ABORTED_S: Final = 1.0
"""At the end requests under way get so long to be answered; what takes longer is cut off, and gets a second to end."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Limits of waiting for the other side, in seconds: for the next request, for all of its headers once it has begun,
    for its body, for the remainder of a body that is not read, and until the other side takes more of an answer.
    """

    idle_s: float = 75.0
    """Longer than reverse proxies wait, so that they close first: else their next request may meet a closed one."""
    headers_s: float = 10.0
    body_s: float = 30.0
    linger_s: float = 2.0
    stalled_s: float = 60.0
    kept_s: float = 5.0
    """A connection that was idle for so long may be closed to make room; before that its next request may be on its way
    (D-175)."""


@asynccontextmanager
async def open_site(
    app: web.Application,
    host: str,
    port: int,
    *,
    most_connections: int = MOST_CONNECTIONS,
    timeouts: Timeouts = Timeouts(),
    listeners: Sequence[socket] = (),
) -> AsyncIterator[str]:
    """Serves the application until the block ends; yields its URL. Port 0 = any free one.

    `listeners` are sockets of `open_listeners` if another process listens already. Raises WeboidError if the port is
    taken.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_ABORTED_S)
    await runner.setup()
    accepting: list[Acceptor] = []
    try:
        assert runner.server
        connections = _Connections(runner.server, most_connections, timeouts, app.get(ARRIVALS) or Arrivals())
        runner.server.request_factory = connections.noting(runner.server.request_factory)
        listeners = listeners or await open_listeners(host, port)
        reserve_files(listeners[0], most_connections)
        accepting += [Acceptor(each, connections.has_room, connections.open) for each in listeners]
        yield url_of(accepting[0].listener)
    finally:
        for each in accepting:
            await each.close()
        if accepting:
            await connections.close(_CLOSING_S)
        try:
            await runner.cleanup()
        except web.CleanupError as error:
            # The block is cancelled again while it ends: aiohttp collects what each of its parts raised then.
            if all(isinstance(each, asyncio.CancelledError) for each in error.args[1]):
                raise asyncio.CancelledError from None
            raise


@dataclass(slots=True)
class _Connections:
    """The open connections, at most `most` and some more: those get an answer 503 to their request.

    A connection that was idle for some time is closed to make room for a new one.
    """

    server: web.Server
    most: int
    timeouts: Timeouts
    arrivals: Arrivals
    all: "set[_Connection]" = field(default_factory=set)
    idle: "dict[_Connection, float]" = field(default_factory=dict)
    """By idle connection: since when by the loop's clock, the longest first."""
    finished: asyncio.Event | None = None
    """While the server closes: set when no request is under way any more."""

    def has_room(self, opening: int) -> bool:
        """True if one more may be opened in addition to so many that are being opened."""
        self._make_room(opening)
        return len(self.all) + opening < self.most + max(self.most // 8, 4)

    def open(self) -> "_Connection":
        """The protocol for a new connection."""
        connection = _Connection(self, is_extra=len(self.all) >= self.most)
        self.all.add(connection)
        self.note_idle(connection)
        return connection

    def note_idle(self, connection: "_Connection") -> None:
        """Notes that a connection is idle from now on."""
        self.idle[connection] = asyncio.get_running_loop().time()
        self.note_finished()

    def remove(self, connection: "_Connection") -> None:
        """Counts a connection no more."""
        self.all.discard(connection)
        self.idle.pop(connection, None)
        self.note_finished()

    async def close(self, within_s: float) -> None:
        """Closes all connections in order: each after the answer to the request that is under way there."""
        self.finished = asyncio.Event()
        for connection in list(self.all):
            connection.end()
        self.note_finished()
        # aiohttp's own way of ending reads nothing more, not even the bodies of requests under way.
        with suppress(TimeoutError):
            await asyncio.wait_for(self.finished.wait(), within_s)

    def note_finished(self) -> None:
        """Notes that a request is no more under way."""
        if self.finished is not None and not any(connection.is_busy for connection in self.all):
            self.finished.set()

    def _make_room(self, opening: int) -> None:
        if len(self.all) + opening < self.most or not self.idle:
            return
        longest, since_s = next(iter(self.idle.items()))
        if not longest.is_busy and asyncio.get_running_loop().time() >= since_s + self.timeouts.kept_s:
            longest.close_gracefully()

    def noting(self, make: Callable[..., web.BaseRequest]) -> Callable[..., web.BaseRequest]:
        """A factory of requests that also notifies their connection; it runs once the headers have been read."""

        def made(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
            protocol.begin(payload)
            return make(message, payload, protocol, writer, task)

        return made


class _Connection(web.RequestHandler):
    """aiohttp's handler with deadlines; its own error answers reveal nothing and are not logged."""

    __slots__ = ("_connections", "_deadline", "_is_answering", "_is_last", "_stall", "_unread")

    def __init__(self, connections: _Connections, *, is_extra: bool) -> None:
        super().__init__(
            connections.server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]
            keepalive_timeout=connections.timeouts.idle_s,
            lingering_time=connections.timeouts.linger_s,
            max_line_size=_MOST_LINE,
            max_field_size=_MOST_HEADER,
            max_headers=_MOST_HEADERS,
            auto_decompress=False,
        )
        self._connections = connections
        self._deadline: asyncio.TimerHandle | None = None
        """The timer by which the headers, or the body, must have arrived, or the other side have closed."""
        self._stall: asyncio.TimerHandle | None = None
        self._is_answering = False
        self._is_last = False
        self._unread = b""
        """The bytes of a request whose turn has not come."""
        if is_extra:
            self._request_handler = _too_many
            self._deadline = self._abort_in(connections.timeouts.headers_s)

    @property
    def is_busy(self) -> bool:
        """True while a request has arrived and not been answered yet."""
        return self._is_answering or bool(self._messages) or bool(self._unread)

    def data_received(self, data: bytes) -> None:
        if self._unread:
            self._unread += data
            if len(self._unread) > _MOST_UNREAD:
                self._read()
        elif self.is_busy or not data:
            super().data_received(data)
        else:
            self._unread = data
            peer = self.peername
            address = peer[0] if isinstance(peer, tuple) else ""
            self._connections.arrivals.add(data, address, self._read, self._refuse)

    def _read(self) -> None:
        """Parses what has arrived."""
        data, self._unread = self._unread, b""
        if self.transport is None or self.transport.is_closing() or not data:
            return
        super().data_received(data)
        if not self.is_busy and self._deadline is None:
            self._deadline = self._abort_in(self._connections.timeouts.headers_s)

    def _refuse(self) -> None:
        """Answers that too many wait, without parsing what has arrived; the connection stays open.

        What continues a request, as its headers or its body, or comes behind the last one is read.
        """
        is_whole = self._deadline is None and not self._is_last and _SIMPLE.fullmatch(self._unread)
        if self.transport is None or self.transport.is_closing() or not is_whole:
            self._read()
        elif self._stall is not None:
            self.abort()  # it reads no answers
        else:
            self._unread, now_s = b"", asyncio.get_running_loop().time()
            self._connections.arrivals.note_refused()
            self.transport.write(_refusal(randint(*RETRY_S), int(now_s)))
            self._next_keepalive_close_time = now_s + self.keepalive_timeout
            self._connections.note_finished()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self._abort_in(self._connections.timeouts.stalled_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._connections.remove(self)
        self._stop_deadline()
        if self._stall is not None:
            self._stall.cancel()
        super().connection_lost(exc)

    def begin(self, payload: StreamReader) -> None:
        """Notes that a request has been read, all but its body."""
        self._is_answering = True
        self._connections.idle.pop(self, None)
        self._stop_deadline()
        if not payload.is_eof():
            self._deadline = self._abort_in(self._connections.timeouts.body_s)
            payload.on_eof(self._stop_deadline)

    def end(self) -> None:
        """Closes the connection in order, after the answer to the request that is under way."""
        if self.is_busy:
            self._is_last = True
        else:
            self.close_gracefully()

    def abort(self) -> None:
        """Ends the connection at once, whatever the other side still takes or sends."""
        self._connections.remove(self)
        self._stop_deadline()
        if self.transport is not None:
            self.transport.abort()  # uvloop's is no asyncio.Transport by isinstance
        self.force_close()

    def close_gracefully(self) -> None:
        """Closes an idle connection in order: the other side gets an end, and no reset for what it sent meanwhile."""
        self._connections.remove(self)
        self._stop_deadline()
        self.close()
        if self.transport is not None:
            with suppress(RuntimeError, OSError):
                self.transport.write_eof()
        self._deadline = self._abort_in(self._connections.timeouts.linger_s)

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
            self._is_answering = False
            if self in self._connections.all:
                self._connections.note_idle(self)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """The answer to an invalid request, or after a failure of the application itself."""
        # Without a transport the other side has gone; an answer that was broken off has been logged in `web/errors`.
        if status >= 500 and self.transport is not None and not isinstance(exc, ConnectionError):
            log.error("an answer failed", exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("another answer has been sent in part already")
        return _plain(status, next((more for kind, more in _ADVICE.items() if isinstance(exc, kind)), ""))

    def _abort_in(self, seconds: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self.abort)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


@lru_cache(RETRY_S[1])
def _refusal(retry_s: int, _: int) -> bytes:
    """The answer to a request that is not read, made anew in each second."""
    text = f"503 Service Unavailable: too many requests from your network wait; try again in {retry_s} seconds\n"
    headers = HEADERS | OPEN_TO_ALL
    headers |= {hdrs.CONTENT_TYPE: "text/plain; charset=utf-8", hdrs.CACHE_CONTROL: "no-store"}
    headers |= {hdrs.RETRY_AFTER: f"{retry_s}", hdrs.DATE: formatdate(usegmt=True)}
    headers[hdrs.CONTENT_LENGTH] = f"{len(text)}"
    lines = ["HTTP/1.1 503 Service Unavailable", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + f"\r\n\r\n{text}").encode()


async def _too_many(_: web.BaseRequest) -> web.StreamResponse:
    """The answer to a request over a connection too many."""
    response = _plain(HTTPStatus.SERVICE_UNAVAILABLE)
    response.headers[hdrs.RETRY_AFTER] = "5"
    return response


def _plain(status: int, more: str = "") -> web.Response:
    """A plain-text answer, given without the application; the connection is closed after it."""
    text = f"{status} {HTTPStatus(status).phrase}{more}\n"
    response = web.Response(status=status, text=text, headers=HEADERS | OPEN_TO_ALL)
    response.force_close()
    return response
