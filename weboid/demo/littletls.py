"""The little web's https port: reads each ClientHello, then breaks the handshake or passes the connection on.

The caller decides whose handshake fails, and gives the certificates. What is sent over TLS belongs to ``littleweb``.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from typing import Final

_BACKLOG: Final = 1024
_HELLO_BYTES: Final = 16_384
_HELLO_S: Final = 10.0
_LOOK_S: Final = 0.002
_NOT_TLS: Final = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

Connected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def open_tls_port(
    ip: str,
    port: int,
    *,
    tls: ssl.SSLContext | None,
    broken: Callable[[str], bool],
    silent: Callable[[str], bool],
    connected: Connected,
    stream_bytes: int,
) -> AsyncIterator[int]:
    """Listens until the block ends; gives the port. `broken` is called with the name in the ClientHello, or "".

    Where it returns true (as it must without `tls`) the answer is plain HTTP, which no client takes as TLS. Where
    `silent` does, the ClientHello is not answered. Raises OSError if the port is taken.
    """
    with closing(socket.create_server((ip, port), backlog=_BACKLOG)) as listener:
        listener.setblocking(False)
        front = _Front(tls, broken, silent, connected, stream_bytes)
        accepting = asyncio.create_task(front.accept(listener))
        try:
            yield listener.getsockname()[1]
        finally:
            accepting.cancel()
            await asyncio.gather(accepting, return_exceptions=True)
            await front.close()


class _Front:
    """The handshakes under way at one port."""

    def __init__(
        self,
        tls: ssl.SSLContext | None,
        broken: Callable[[str], bool],
        silent: Callable[[str], bool],
        connected: Connected,
        stream_bytes: int,
    ) -> None:
        self._tls = tls
        self._broken = broken
        self._silent = silent
        self._connected = connected
        self._stream_bytes = stream_bytes
        self._greetings: set[asyncio.Task[None]] = set()

    async def accept(self, listener: socket.socket) -> None:
        """Accepts connections until it is cancelled."""
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            greeting = asyncio.create_task(self._greet(connection))
            self._greetings.add(greeting)
            greeting.add_done_callback(self._greetings.discard)

    async def close(self) -> None:
        """Ends the handshakes under way."""
        for greeting in self._greetings:
            greeting.cancel()
        await asyncio.gather(*self._greetings, return_exceptions=True)

    async def _greet(self, connection: socket.socket) -> None:
        try:
            async with asyncio.timeout(_HELLO_S):
                hello = await _peeked(connection)
                host = server_name(hello)
                if self._silent(host):
                    await _ignore(connection)
                    return
                if self._broken(host) or self._tls is None:
                    await _refuse(connection)
                else:
                    await self._hand_on(connection, self._tls)
        except (OSError, TimeoutError):
            connection.close()  # the other side went away, or did not like our certificate
        except asyncio.CancelledError:
            connection.close()
            raise

    async def _hand_on(self, connection: socket.socket, tls: ssl.SSLContext) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=self._stream_bytes)
        protocol = asyncio.StreamReaderProtocol(reader, self._connected)
        await loop.connect_accepted_socket(lambda: protocol, connection, ssl=tls)


async def _peeked(connection: socket.socket) -> bytes:
    """The whole ClientHello, which stays in the socket's buffer."""
    while True:
        with suppress(BlockingIOError):
            seen = connection.recv(_HELLO_BYTES, socket.MSG_PEEK)
            # Bytes 3 and 4 of a TLS record are its length; anything that is no handshake is returned as it comes.
            if not seen.startswith(b"\x16") or len(seen) >= 5 + int.from_bytes(seen[3:5], "big"):
                return seen
        await asyncio.sleep(_LOOK_S)


async def _refuse(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with closing(connection):
        # Unread bytes would turn the end of the connection into a reset.
        await loop.sock_recv(connection, _HELLO_BYTES)
        await loop.sock_sendall(connection, _NOT_TLS)


async def _ignore(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with closing(connection):
        while await loop.sock_recv(connection, _HELLO_BYTES):
            pass  # until the other side gives up


def server_name(hello: bytes) -> str:
    """The server name (SNI, RFC 6066) in a ClientHello, in lower case; "" if there is none."""
    names: list[str] = []

    def named(_: ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> None:
        names.append(name or "")

    # OpenSSL parses it, and then fails because there is no certificate.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = named
    incoming = ssl.MemoryBIO()
    incoming.write(hello)
    with suppress(ssl.SSLError):
        context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True).do_handshake()
    return names[0].lower() if names else ""
