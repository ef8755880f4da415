"""One HTTP connection: a socket, TLS over it if needed, and one request at a time with its reply.

``net/engine`` decides what is sent and which connections are kept open; ``net/dial`` opens the socket. The caller gets
exactly one result for each request, within a time limit.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

from weboid.net.dial import NotConnected
from weboid.net.response_parser import ResponseParser
from weboid.net.watch import READ, WRITE, Watch

BODY_S: Final = 10.0
"""Seconds for the body: with the status the server has answered, and the body is optional."""
HEAD_S: Final = 10.0
"""A head that has begun is looked at every so many seconds: it must have grown since …"""
HEAD_RATE: Final = 240
"""… by at least so many bytes a second."""
SMALL_READ_BYTES: Final = 1024
"""Reads that bring fewer bytes than this are small; larger ones make up for as many as they have times these bytes …"""
SMALL_READS: Final = 8
"""… so many small reads a connection may do …"""
PAUSE_S: Final = 0.1
"""… and then nothing is read for so many seconds after each: data that comes byte by byte costs as little as data that
comes in larger pieces."""
_READ_BYTES: Final = 65_536
_PAUSED_BYTES: Final = 32768
"""The kernel's receive buffer during a pause, its overhead for each packet included."""


class HttpConnection:
    """A connection to `host`, in TLS if a context is given. The caller must close it.

    `is_open`: the socket is connected and the handshake done, so that later failures are failures of a connection.
    """

    def __init__(self, host: str, context: ssl.SSLContext | None, watch: Watch) -> None:
        self.is_open = False
        self.is_closed = False
        self._loop = watch.loop
        self._watch = watch
        self._deadlines = watch.deadlines
        self._host = host
        self._context = context
        self._sock: socket.socket | None = None
        self._fd = -1
        self._tls: ssl.SSLObject | None = None
        self._is_odd = False  # with "_" in its first label: for browsers a wildcard stands for it, for OpenSSL none
        self._unsent = b""
        self._request = b""
        self._sent: Callable[[], None] | None = None
        self._parser: ResponseParser | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._end_at = self._limit_at = 0.0
        self._body_s = BODY_S
        self._slot = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._small_reads = 0.0
        self._paused: asyncio.TimerHandle | None = None

    def exchange(
        self,
        request: bytes,
        parser: ResponseParser,
        *,
        open_at: float,
        end_at: float,
        sent: Callable[[], None] | None = None,
        body_s: float = BODY_S,
    ) -> asyncio.Future[None]:
        """Sends a request once the connection is open; done when `parser` needs no more data. Times are the loop's.

        `sent` is called at the moment of the sending. With the status the body has `body_s` seconds, up to `end_at`.

        Fails with NotConnected if the connection is not open by `open_at` (or ends before it is), else with what
        `parser` raises, OSError, or TimeoutError at `end_at`. Once there is a status, it does not fail any more.
        """
        self._waiting = self._loop.create_future()
        self._request = request
        self._sent = sent
        self._parser = parser
        self._end_at = end_at
        self._body_s = body_s
        self._small_reads = 0.0
        if self.is_open:
            self._limit(end_at)
            self._proceed()
        else:
            self._limit(min(open_at, end_at))
        return self._waiting

    def connect(self, sock: socket.socket) -> None:
        """Takes over a connected socket, still watched for writing, from `Dial`."""
        self._sock = sock
        self._fd = sock.fileno()
        self._watch.set(self._fd, READ, self._readable)
        if self._context is not None:
            self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
            self._is_odd = self._context.check_hostname and "_" in self._host.partition(".")[0]
            try:
                self._context.check_hostname &= not self._is_odd
                self._tls = self._context.wrap_bio(self._in, self._out, server_hostname=self._host)
            except ValueError as error:  # a name that is invalid in certificates
                self.end(error)
                return
            finally:
                self._context.check_hostname |= self._is_odd
        else:
            self._open()
        self._proceed()

    def end(self, error: Exception) -> None:
        """Closes the connection because of `error`, which the waiting caller gets unless there is a status already."""
        waiting, parser = self._waiting, self._parser
        self.close()
        if waiting is not None and not waiting.done():
            if parser is not None and parser.code:
                waiting.set_result(None)
            else:
                is_made = self.is_open or isinstance(error, NotConnected)
                waiting.set_exception(error if is_made else NotConnected((error,)))

    def close(self) -> None:
        """Closes the connection at once."""
        if self.is_closed:
            return
        self.is_closed = True
        self._unlimit()
        self._stop_watching_head()
        if self._paused is not None:
            self._paused.cancel()
            self._paused = None
        if self._sock is not None:
            self._watch.forget(self._fd)
            self._sock.close()
        self._tls = self._parser = self._waiting = None

    def _open(self) -> None:
        self.is_open = True
        self._limit(self._end_at)

    def _limit(self, at: float) -> None:
        """Ends the connection at a time of the loop. An earlier limit is kept: `expire` extends it."""
        if self._slot and at < self._limit_at:
            self._unlimit()
        self._limit_at = at
        if not self._slot:
            self._slot = self._deadlines.add(self, at)

    def _unlimit(self) -> None:
        if self._slot:
            self._deadlines.remove(self, self._slot)
            self._slot = 0

    def expire(self) -> None:
        self._slot = 0
        if self._limit_at > self._loop.time():
            self._limit(self._limit_at)
        else:
            self.end(TimeoutError())

    def _readable(self) -> None:
        assert self._sock is not None
        try:
            data = self._sock.recv(_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.end(error)
            return
        self._small_reads = max(self._small_reads + 1 - len(data) / SMALL_READ_BYTES, 0.0)
        if self._small_reads > SMALL_READS:
            self._pause()
        if self._tls is None:
            self._handle(data)
            return
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()
        self._proceed()

    def _pause(self) -> None:
        assert self._sock is not None
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PAUSED_BYTES)
        self._watch.forget(self._fd)
        self._paused = self._loop.call_later(PAUSE_S, self._resume)

    def _resume(self) -> None:
        self._paused = None
        self._watch_again()

    def _watch_again(self) -> None:
        if self._unsent:
            self._watch.set(self._fd, READ | WRITE, self._ready)
        else:
            self._watch.set(self._fd, READ, self._readable)

    def _ready(self) -> None:
        data, self._unsent = self._unsent, b""
        self._send(data)
        if not self.is_closed and self._paused is None:
            self._watch_again()
            self._readable()

    def _watch_head(self, parser: ResponseParser) -> None:
        """Ends the connection if a head that has begun comes too slowly; servers may think before it begins."""
        if parser.begun_bytes and not parser.code:
            if self._head_timer is None:
                self._head_timer = self._loop.call_later(HEAD_S, self._check_head, parser, parser.begun_bytes)
        else:
            self._stop_watching_head()

    def _check_head(self, parser: ResponseParser, before: int) -> None:
        if parser.begun_bytes - before < HEAD_S * HEAD_RATE:
            self.end(TimeoutError())
        else:
            self._head_timer = self._loop.call_later(HEAD_S, self._check_head, parser, parser.begun_bytes)

    def _stop_watching_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _proceed(self) -> None:
        """Does all that is possible now: handshake, sending, reading."""
        if self._tls is None:
            self._send(self._pop_request())
            return
        error: Exception | None = None
        try:
            self._proceed_in_tls(self._tls)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLEOFError:
            error = ConnectionResetError()
        except (ssl.SSLError, OSError) as wrong:
            error = wrong
        if not self.is_closed and self._out.pending:
            self._send(self._out.read())
        if error is not None:
            self.end(error)

    def _proceed_in_tls(self, tls: ssl.SSLObject) -> None:
        if not self.is_open:
            tls.do_handshake()
            if self._is_odd:
                _require_wildcard(tls, self._host)
            self._open()
        if self._request:
            tls.write(self._pop_request())
        # Only received data is read: an exception for "nothing more" takes ten times as long.
        while not self.is_closed and (self._in.pending or self._in.eof or tls.pending()):
            self._handle(tls.read(_READ_BYTES))

    def _pop_request(self) -> bytes:
        """The request, which is sent now; empty if it was before."""
        request, self._request = self._request, b""
        if request and self._sent is not None:
            self._sent()
        return request

    def _handle(self, data: bytes) -> None:
        """Handles decrypted data from the server; b"" if the server has closed the connection."""
        parser = self._parser
        if parser is None:
            # There is no request: an idle connection has ended, or the data belongs to no reply.
            self.close()
            return
        had_status = parser.code
        try:
            is_done = parser.take(data)
        except OSError as error:
            self.end(error)
            return
        if not had_status and (self._head_timer is not None or not parser.code):
            self._watch_head(parser)
        if is_done:
            self._done(parser)
        elif parser.code and not had_status:
            self._limit(min(self._end_at, self._loop.time() + self._body_s))

    def _done(self, parser: ResponseParser) -> None:
        waiting = self._waiting
        if parser.is_clean:
            self._unlimit()
            self._parser = self._waiting = None
        else:
            self.close()
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _send(self, data: bytes) -> None:
        assert self._sock is not None
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except (BrokenPipeError, ConnectionResetError, ConnectionAbortedError):
            return  # it may have answered before it closed the connection: reading will show
        except OSError as error:
            self.end(error)
            return
        if sent < len(data):
            self._unsent = data[sent:]
            if self._paused is None:
                self._watch_again()


def _require_wildcard(tls: ssl.SSLObject, host: str) -> None:
    """Raises SSLCertVerificationError unless a certificate names a host, or has a wildcard for its first label."""
    named = (tls.getpeercert() or {}).get("subjectAltName", ())
    names = {str(each[1]).lower() for each in named if each[0] == "DNS"}
    if names.isdisjoint({host, f"*.{host.partition('.')[2]}"}):
        error = ssl.SSLCertVerificationError("hostname mismatch")
        error.verify_code = 62
        raise error
