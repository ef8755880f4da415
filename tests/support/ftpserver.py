"""Small FTP servers on loopback: ones that misbehave as scripted, and a real one that serves a folder.

One law: a script sees exactly the lines that were received, and it alone decides what is sent.
"""

import asyncio
import socket
import ssl
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.misbehaving import Act, open_server, perform

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it is built on the old asyncore
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import FTPHandler
    from pyftpdlib.ioloop import IOLoop
    from pyftpdlib.servers import FTPServer

Script = Callable[[bytes], Act]
"""What goes out for a line as it came in, without its end; the empty line stands for the greeting."""

POLITE: Mapping[str, str] = {
    "": "220 A little server",
    "AUTH": "234 Go on",
    "USER": "331 Your address, please",
    "PASS": "230 Welcome",
    "TYPE": "200 As you like",
    "PWD": '257 "/" is where you are',
    "CWD": "550 No such folder",
}


@dataclass
class FtpSite:
    """A running server, what it was asked so far, and whether that came in secret."""

    ip: str
    port: int = 0
    asked: list[bytes] = field(default_factory=list)
    secret: list[bool] = field(default_factory=list)
    connections: int = 0
    sent_bytes: int = 0

    def url(self, path: str = "/file", scheme: str = "ftp", host: str | None = None) -> str:
        return f"{scheme}://{host or self.ip}:{self.port}{path}"

    def count(self, sent: int) -> None:
        self.sent_bytes += sent

    def commands(self) -> list[str]:
        """The commands in order, without what follows them and without the farewell."""
        return [line.partition(b" ")[0].decode() for line in self.asked if line != b"QUIT"]


def answers(given: Mapping[str, str | Act], **more: str | Act) -> Script:
    """A server with one answer for each command, as in POLITE where nothing else is given; 500 for the others."""
    known: dict[str, str | Act] = {**POLITE, **given, **more}

    def script(line: bytes) -> Act:
        answer = known.get(line.partition(b" ")[0].decode("latin-1"), "500 What?")
        return answer.encode() + b"\r\n" if isinstance(answer, str) else answer

    return script


@asynccontextmanager
async def serve_ftp(
    script: Script, ip: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None, auth: ssl.SSLContext | None = None
) -> AsyncIterator[FtpSite]:
    """Runs a scripted server: with `tls` inside TLS from the start, with `auth` after an AUTH that got a 234."""
    site = FtpSite(ip)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site.connections += 1
        line = b""
        while await perform(act := script(line), writer, site.count):
            if auth is not None and line.startswith(b"AUTH") and isinstance(act, bytes) and act.startswith(b"234"):
                await writer.start_tls(auth)
            line = (await reader.readuntil(b"\r\n"))[:-2]
            site.asked.append(line)
            site.secret.append(writer.get_extra_info("ssl_object") is not None)

    async with open_server(talk, ip, tls, aborts=True) as site.port:
        yield site


async def endlessly(data: bytes, pause_s: float = 0.0) -> AsyncIterator[bytes]:
    while True:
        yield data
        await asyncio.sleep(pause_s)


class Door:
    """A port that could be a server's for data. Nobody answers there, but who came is counted."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._came = 0
        self.ip, self.port = listener.getsockname()

    @property
    def connections(self) -> int:
        with suppress(BlockingIOError):
            while True:
                self._listener.accept()[0].close()
                self._came += 1
        return self._came

    @property
    def six(self) -> str:
        """As PASV names it."""
        return f"({self.ip.replace('.', ',')},{self.port // 256},{self.port % 256})"


@contextmanager
def open_door(ip: str = "127.0.0.1") -> Iterator[Door]:
    with socket.create_server((ip, 0)) as listener:
        listener.setblocking(False)
        yield Door(listener)


@contextmanager
def real_ftp(
    folder: Path, *, perm: str | None = "elr", without: tuple[str, ...] = (), named: str | None = None
) -> Iterator[FtpSite]:
    """Runs pyftpdlib over a folder. `perm` None: nobody gets in anonymously; `without`: commands it does not know;
    `named`: the address that it names for data.
    """
    authorizer = DummyAuthorizer()
    if perm is not None:
        authorizer.add_anonymous(str(folder), perm=perm)
    kept = {name: command for name, command in FTPHandler.proto_cmds.items() if name not in without}
    marks: dict[str, Any] = {
        "authorizer": authorizer,
        "proto_cmds": kept,
        "masquerade_address": named,
        "auth_failed_timeout": 0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = FTPServer(("127.0.0.1", 0), type("Handler", (FTPHandler,), marks), ioloop=IOLoop())
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            server.ioloop.loop(0.02, False)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield FtpSite("127.0.0.1", server.address[1])
    finally:
        ended.set()
        thread.join()
        server.close_all()
