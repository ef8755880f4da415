"""The little web: servers on loopback that play a world, with its misbehaviour: HTTP/1.1, HTTPS, DNS.

Their replies are made in ``replies``, their behaviour on each day is in ``world``. Every request is logged before it is
answered, and nothing outlives `open_littleweb`.
"""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Final

from weboid.demo.littledns import DnsQuestion, LittleDns
from weboid.demo.littletls import open_tls_port
from weboid.demo.replies import ReceivedRequest, plain_of, reply_of, request_of
from weboid.demo.world import (
    Drip,
    HostState,
    Lost,
    Plain,
    Redirect,
    Trouble,
    World,
    address_of,
    answer_of,
    host_state,
    located,
    lost_on,
    portal_answer,
)

REQUESTS_KEPT: Final = 200_000

_IP: Final = "127.0.0.1"
_REQUESTS_A_CONNECTION: Final = 100
_IDLE_S: Final = 30.0
_HEAD_BYTES: Final = 32_768
_BACKLOG: Final = 1024
_RESET_AT_CLOSE: Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request: when (monotonic seconds and day), host and target. A failed handshake has the method ``TLS``.

    `target` is path and query as they were on the wire; header names are in lower case.
    """

    at_s: float
    day: int
    method: str
    host: str
    target: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class LittleWeb:
    """A running little web and the requests that it got: the newest REQUESTS_KEPT, oldest first."""

    world: World
    requests: deque[LoggedRequest]
    questions: deque[DnsQuestion]
    http_port: int = 0
    https_port: int = 0
    dns_port: int = 0

    @property
    def name_server(self) -> str:
        """The name server as `net.dns` in the configuration expects it: ``127.0.0.1:5300``."""
        return f"{_IP}:{self.dns_port}"

    def located(self, url: str) -> str:
        """A URL of the world with the port at which it is played; other URLs unchanged."""
        return located(self.world, url, http_port=self.http_port, https_port=self.https_port)


@asynccontextmanager
async def open_littleweb(
    world: World,
    *,
    day: Callable[[], int],
    hour: Callable[[str], int] = lambda host: 0,
    tls: ssl.SSLContext | None = None,
    http_port: int = 0,
    https_port: int = 0,
    dns_port: int = 0,
    pace: float = 1.0,
) -> AsyncIterator[LittleWeb]:
    """Plays a world on 127.0.0.1, and on one address a network, until the block ends. Port 0 = any free one.

    `day`, and `hour` with the name of a host, are called at every request. A second of the world takes `pace` seconds,
    which shortens the pauses of slow servers. Without `tls` every handshake at the https port fails; its `sni_callback`
    may choose among several certificates. Raises OSError if a port is taken.
    """
    dns = LittleDns(world, day, hour)
    little = LittleWeb(world, deque(maxlen=REQUESTS_KEPT), dns.questions)
    player = _Player(little, day, hour, tls is not None, pace)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(player.close)
        little.http_port, little.https_port = http_port, https_port
        for ip in sorted({_IP, *(address_of(world, host) for host in world.hosts)}):
            connected = partial(player.play, secure=False)
            server = await asyncio.start_server(connected, ip, little.http_port, limit=_HEAD_BYTES, backlog=_BACKLOG)
            stack.callback(server.close)
            little.http_port = server.sockets[0].getsockname()[1]
            secure = open_tls_port(
                ip,
                little.https_port,
                tls=tls,
                broken=player.refuses_tls,
                silent=player.is_silent,
                connected=partial(player.play, secure=True),
                stream_bytes=_HEAD_BYTES,
            )
            little.https_port = await stack.enter_async_context(secure)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(lambda: dns, local_addr=(_IP, dns_port))
        stack.callback(transport.close)
        little.dns_port = transport.get_extra_info("sockname")[1]
        yield little


@dataclass(slots=True)
class _Player:
    """The connections of one little web."""

    little: LittleWeb
    day: Callable[[], int]
    hour: Callable[[str], int]
    tls: bool
    pace: float
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, secure: bool) -> None:
        """Serves one connection, `secure` over TLS, until one side ends it."""
        task = asyncio.current_task()
        assert task
        self.tasks.add(task)
        try:
            for _ in range(_REQUESTS_A_CONNECTION):
                async with asyncio.timeout(_IDLE_S):
                    request = request_of(await reader.readuntil(b"\r\n\r\n"))
                if request is None:
                    return
                plain = await self._behaviour_for(request, secure=secure)
                if not await self._exchange(plain, request, reader, writer):
                    return
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the other side goes away or sends no valid request
        finally:
            self.tasks.discard(task)
            writer.close()

    def refuses_tls(self, host: str) -> bool:
        """Returns whether a handshake for a host must fail now; if so, it is logged."""
        state = host_state(self.little.world, host, self.day(), self.hour(host))
        broken = not self.tls or state is HostState.TLS_BROKEN
        if broken:
            self._note("TLS", host)
        return broken

    def is_silent(self, host: str) -> bool:
        """Returns whether a host's server is not reached today, because of an outage of our own."""
        return lost_on(self.little.world, host, self.day()) in (Lost.ALL, Lost.SERVERS)

    async def close(self) -> None:
        """Ends all connections."""
        await asyncio.sleep(0)  # so that connections just accepted register their tasks
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await asyncio.sleep(0)  # sockets are closed in the loop's next turn

    def _note(self, method: str, host: str, target: str = "", headers: Mapping[str, str] | None = None) -> int:
        """Logs a request; returns its day."""
        day = self.day()
        self.little.requests.append(LoggedRequest(monotonic(), day, method, host, target, headers or {}))
        return day

    async def _behaviour_for(self, request: ReceivedRequest, *, secure: bool) -> Plain:
        """The behaviour that a request gets today, after the time that it takes."""
        world = self.little.world
        day = self._note(request.method, request.host, request.target, request.headers)
        if self.is_silent(request.host):
            return Trouble.SILENCE
        if lost_on(world, request.host, day) is Lost.CAPTIVE:
            return plain_of(portal_answer(request.host, self.little.http_port), request)[0]
        behaviour = answer_of(world, request.host, request.target, day, self.hour(request.host), secure=secure)
        plain, waits_s = plain_of(behaviour, request)
        if waits_s:
            await asyncio.sleep(waits_s * self.pace)
        return plain

    async def _exchange(
        self, plain: Plain, request: ReceivedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answers one request; returns whether the connection stays open for another."""
        match plain:
            case Trouble.RESET:
                raw: socket.socket = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
                writer.transport.abort()
                return False
            case Trouble.HANG_UP:
                return False
            case Trouble.SILENCE:
                await reader.read()  # until the other side gives up
                return False
            case Drip(pause_s, tarpit):
                await _drip(writer, reply_of(plain, request) or b"", pause_s * self.pace, tarpit=tarpit)
                return False
            case _:
                if isinstance(plain, Redirect):
                    plain = replace(plain, to=self.little.located(plain.to))
                if (data := reply_of(plain, request)) is None:
                    return False
                writer.write(data)
                await writer.drain()
                return request.keeps


async def _drip(writer: asyncio.StreamWriter, data: bytes, pause_s: float, *, tarpit: bool) -> None:
    head, end, body = data.partition(b"\r\n\r\n")
    if not tarpit:
        writer.write(head + end)
    for byte in data if tarpit else body:
        if writer.is_closing():
            return
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(pause_s)
