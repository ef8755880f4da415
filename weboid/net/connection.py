"""One HTTP connection: a socket, TLS over it if needed, and one request at a time with its reply.

``net/engine`` decides what is sent and which connections are kept open; ``net/dial`` opens the socket.
One law: the caller gets exactly one result for each request, within a time limit.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final

from weboid.net.dial import NotConnected
from weboid.net.response_parser import ResponseParser

BODY_S: Final = 10.0
"""Seconds for the body: with the status the server has answered, and the body is optional."""
HEAD_S: Final = 10.0
"""A head that has begun is looked at again and again after so many seconds: it must have grown in them …"""
HEAD_RATE: Final = 240
"""… by at least so many bytes a second."""
PIECE_BYTES: Final = 1024
"""A reading pays for itself if it brings so many bytes …"""
PIECES_AHEAD: Final = 8
"""… so many are lent to a connection …"""
REST_S: Final = 0.1
"""… and where they are used up, nothing is read for so many seconds after each: what comes byte by byte then costs as
little as what comes in larger pieces."""
_READ_BYTES: Final = 16_384
_RESTING_BYTES: Final = 32768
"""So much the kernel takes meanwhile, with its own for each packet: the bytes of a drip cost it, and us, even more."""


class HttpConnection:
    """A connection to `host`, in TLS if a context is given. The caller must close it.

    `is_open`: the socket is connected and the handshake done, so that later failures are failures of a connection.
    """

    __slots__ = (
        "_coming",
        "_context",
        "_end_at",
        "_fd",
        "_floor",
        "_host",
        "_in",
        "_limit_at",
        "_loop",
        "_out",
        "_owed",
        "_question",
        "_resting",
        "_sent",
        "_sock",
        "_timer",
        "_timer_at",
        "_tls",
        "_unsent",
        "_waiting",
        "is_closed",
        "is_open",
    )

    def __init__(self, host: str, context: ssl.SSLContext | None) -> None:
        self.is_open = False
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._host = host
        self._context = context
        self._sock: socket.socket | None = None
        self._fd = -1
        self._tls: ssl.SSLObject | None = None
        self._unsent = b""
        self._question = b""
        self._sent: Callable[[], None] | None = None
        self._coming: ResponseParser | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._timer: asyncio.Handle | None = None
        self._end_at = self._limit_at = self._timer_at = 0.0
        self._floor: asyncio.TimerHandle | None = None
        self._owed = 0.0
        self._resting: asyncio.TimerHandle | None = None

    def ask(
        self,
        question: bytes,
        coming: ResponseParser,
        *,
        open_at: float,
        end_at: float,
        sent: Callable[[], None] | None = None,
    ) -> asyncio.Future[None]:
        """Sends a request once the connection is open; done when `coming` needs no more data. Times are the loop's.

        `sent` is called at the moment of the sending.

        Fails with NotConnected if the connection is not open by `open_at` (or ends before it is), else with what
        `coming` raises, OSError, or TimeoutError at `end_at`. Once there is a status, it does not fail any more.
        """
        self._waiting = self._loop.create_future()
        self._question = question
        self._sent = sent
        self._coming = coming
        self._end_at = end_at
        self._owed = 0.0
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
        self._loop.add_reader(self._fd, self._readable)
        self._loop.remove_writer(self._fd)
        if self._context is not None:
            self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
            try:
                self._tls = self._context.wrap_bio(self._in, self._out, server_hostname=self._host)
            except ValueError as error:  # a name that is invalid in certificates
                self.end(error)
                return
        else:
            self._open()
        self._proceed()

    def end(self, error: Exception) -> None:
        """Closes the connection because of `error`, which the waiting caller gets unless there is a status already."""
        waiting, coming = self._waiting, self._coming
        self.close()
        if waiting is not None and not waiting.done():
            if coming is not None and coming.code:
                waiting.set_result(None)
            else:
                waiting.set_exception(error if self.is_open else not_connected(error))

    def close(self) -> None:
        """Closes the connection at once."""
        if self.is_closed:
            return
        self.is_closed = True
        self._unlimit()
        self._stop_watching_head()
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        if self._sock is not None:
            self._loop.remove_reader(self._fd)
            if self._unsent:
                self._loop.remove_writer(self._fd)
            self._sock.close()
        self._tls = self._coming = self._waiting = None

    def _open(self) -> None:
        self.is_open = True
        self._limit(self._end_at)

    def _limit(self, at: float) -> None:
        """Ends the connection at a time of the loop. An earlier timer is kept: `_late` extends it."""
        self._limit_at = at
        if self._timer is not None and self._timer_at > at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            # For a time that has passed, uvloop gives a handle that does not know when.
            self._timer, self._timer_at = self._loop.call_at(at, self._late), at

    def _unlimit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
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
        self._owed = max(self._owed + 1 - len(data) / PIECE_BYTES, 0.0)
        if self._owed > PIECES_AHEAD:
            self._rest()
        if self._tls is None:
            self._took(data)
            return
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()
        self._proceed()

    def _rest(self) -> None:
        """Reads nothing for a moment, in which more may come."""
        assert self._sock is not None
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RESTING_BYTES)
        self._loop.remove_reader(self._fd)
        self._resting = self._loop.call_later(REST_S, self._read_on)

    def _read_on(self) -> None:
        self._resting = None
        self._loop.add_reader(self._fd, self._readable)

    def _watch_head(self, coming: ResponseParser) -> None:
        """Ends the connection if a head that has begun comes too slowly; servers may think before it begins."""
        if coming.begun_bytes and not coming.code:
            if self._floor is None:
                self._floor = self._loop.call_later(HEAD_S, self._check_head, coming, coming.begun_bytes)
        else:
            self._stop_watching_head()

    def _check_head(self, coming: ResponseParser, before: int) -> None:
        if coming.begun_bytes - before < HEAD_S * HEAD_RATE:
            self.end(TimeoutError())
        else:
            self._floor = self._loop.call_later(HEAD_S, self._check_head, coming, coming.begun_bytes)

    def _stop_watching_head(self) -> None:
        if self._floor is not None:
            self._floor.cancel()
            self._floor = None

    def _proceed(self) -> None:
        """Does all that is possible now: handshake, sending, reading."""
        if self._tls is None:
            self._send(self._taken_question())
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
            self._open()
        if self._question:
            tls.write(self._taken_question())
        # Only received data is read: an exception for "nothing more" takes ten times as long.
        while not self.is_closed and (self._in.pending or self._in.eof or tls.pending()):
            self._took(tls.read(_READ_BYTES))

    def _taken_question(self) -> bytes:
        """The request, which is sent now; empty if it was before."""
        question, self._question = self._question, b""
        if question and self._sent is not None:
            self._sent()
        return question

    def _took(self, data: bytes) -> None:
        """Handles decrypted data from the server; b"" if the server has closed the connection."""
        coming = self._coming
        if coming is None:
            # There is no request: an idle connection has ended, or the data belongs to no reply.
            self.close()
            return
        had_status = coming.code
        try:
            is_done = coming.take(data)
        except OSError as error:
            self.end(error)
            return
        if not had_status and (self._floor is not None or not coming.code):
            self._watch_head(coming)
        if is_done:
            self._done(coming)
        elif coming.code and not had_status:
            self._limit(min(self._end_at, self._loop.time() + BODY_S))

    def _done(self, coming: ResponseParser) -> None:
        waiting = self._waiting
        if coming.is_clean:
            self._unlimit()
            self._coming = self._waiting = None
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
            self._loop.add_writer(self._fd, self._writable)

    def _writable(self) -> None:
        data, self._unsent = self._unsent, b""
        self._loop.remove_writer(self._fd)
        self._send(data)


def not_connected(error: Exception) -> NotConnected:
    """An error before the connection was open, as NotConnected."""
    return error if isinstance(error, NotConnected) else NotConnected((error,))
