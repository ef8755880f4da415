"""The little web's https port: reads each ClientHello, then breaks the handshake or passes the connection on.

The caller decides whose handshake fails, and gives the certificates. What is sent over TLS belongs to ``littleweb``.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
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
        handshakes = _Handshakes(tls, broken, silent, connected, stream_bytes)
        accepting = asyncio.create_task(handshakes.accept(listener))
        try:
            yield listener.getsockname()[1]
        finally:
            accepting.cancel()
            await asyncio.gather(accepting, return_exceptions=True)
            await handshakes.close()


@dataclass(slots=True)
class _Handshakes:
    """The handshakes under way at one port."""

    tls: ssl.SSLContext | None
    broken: Callable[[str], bool]
    silent: Callable[[str], bool]
    connected: Connected
    stream_bytes: int
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def accept(self, listener: socket.socket) -> None:
        """Accepts connections until it is cancelled."""
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            task = asyncio.create_task(self._greet(connection))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def close(self) -> None:
        """Ends the handshakes under way."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _greet(self, connection: socket.socket) -> None:
        try:
            async with asyncio.timeout(_HELLO_S):
                hello = await _peeked(connection)
                host = server_name(hello)
                if self.silent(host):
                    await _ignore(connection)
                    return
                if self.broken(host) or self.tls is None:
                    await _refuse(connection)
                else:
                    reader = asyncio.StreamReader(limit=self.stream_bytes)
                    protocol = asyncio.StreamReaderProtocol(reader, self.connected)
                    loop = asyncio.get_running_loop()
                    await loop.connect_accepted_socket(lambda: protocol, connection, ssl=self.tls)
        except (OSError, TimeoutError):
            connection.close()  # the other side went away, or did not like our certificate
        except asyncio.CancelledError:
            connection.close()
            raise


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
