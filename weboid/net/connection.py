"""One HTTP connection: a socket, TLS over it if need be, and one question at a time with its reply.

Who is asked what, and which lines are kept, is `hop`'s business; how a socket comes about, `dial`'s.
One law: whoever asks is told exactly once what came of it, and by a certain time.
"""

import asyncio
import socket
import ssl
from typing import Final

from weboid.net.dial import NotConnected
from weboid.net.response_parser import ResponseParser

BODY_S: Final = 10.0
"""Seconds for the body: whoever sent a status has answered, the rest is a bonus."""
_READ_BYTES: Final = 16_384


class HttpConnection:
    """A connection to `host`, within TLS where a context is given. It must be closed by whoever made it.

    `is_open`: socket and handshake stand, so that what fails from now on fails on a connection.
    """

    __slots__ = (
        "_coming",
        "_context",
        "_end_at",
        "_fd",
        "_host",
        "_in",
        "_limit_at",
        "_loop",
        "_out",
        "_question",
        "_sock",
        "_timer",
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
        self._coming: ResponseParser | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._end_at = self._limit_at = 0.0

    def ask(self, question: bytes, coming: ResponseParser, *, open_at: float, end_at: float) -> asyncio.Future[None]:
        """Sends a question as soon as the line is open; done when `coming` wants no more. Times are the loop's.

        Fails with NotConnected if the line is not open by `open_at` (or ends before it is), else with what `coming`
        raises, OSError, or TimeoutError at `end_at`. Once there is a status nothing fails any more.
        """
        self._waiting = self._loop.create_future()
        self._question = question
        self._coming = coming
        self._end_at = end_at
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
            except ValueError as error:  # a name that no certificate can bear
                self.end(error)
                return
        else:
            self._open()
        self._proceed()

    def end(self, error: Exception) -> None:
        """Closes the line for a reason, and tells it to who waits, unless there is a status already."""
        waiting, coming = self._waiting, self._coming
        self.close()
        if waiting is not None and not waiting.done():
            if coming is not None and coming.code:
                waiting.set_result(None)
            else:
                waiting.set_exception(error if self.is_open else not_connected(error))

    def close(self) -> None:
        """Closes the line at once."""
        if self.is_closed:
            return
        self.is_closed = True
        self._unlimit()
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
        """Ends the line at a time of the loop. A timer that is set already is left alone if it is not too late."""
        self._limit_at = at
        if self._timer is not None and self._timer.when() > at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(at, self._late)

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
        if self._tls is None:
            self._took(data)
            return
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()
        self._proceed()

    def _proceed(self) -> None:
        """Does what can be done: shakes hands, asks, reads."""
        if self._tls is None:
            question, self._question = self._question, b""
            self._send(question)
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
            tls.write(self._question)
            self._question = b""
        # Only what has come is read: to be told by an exception that there is nothing more takes ten times as long.
        while not self.is_closed and (self._in.pending or self._in.eof or tls.pending()):
            self._took(tls.read(_READ_BYTES))

    def _took(self, data: bytes) -> None:
        """What the server said in plain, b"" if it has hung up."""
        coming = self._coming
        if coming is None:
            # Nobody asked: an idle line has ended, or what comes belongs to no reply.
            self.close()
            return
        had_status = coming.code
        try:
            is_done = coming.take(data)
        except OSError as error:
            self.end(error)
            return
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
            return  # it may have answered before it hung up: reading will tell
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
    """An error before a connection stood, as such."""
    return error if isinstance(error, NotConnected) else NotConnected((error,))
