"""The HTTP engine (the protocol of ``net/exchange``), built on ``net/dial`` and ``net/connection``.

It decides where to connect to, and which connections are kept open. It is our own for speed, chosen by measuring it
against aiohttp, pycurl and pyreqwest; aiohttp serves, and asks APIs.
"""

import asyncio
import errno
import re
import resource
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import chain
from math import inf
from typing import Final, NamedTuple

from msgspec import Struct

from weboid.config import NetConfig
from weboid.core.url.hosts import is_ip
from weboid.mechanism.bounded import BoundedMap
from weboid.net.connection import BODY_S, HttpConnection
from weboid.net.dial import KEEP_ALIVE_S, Dial, NotConnected, ipv6_is_routed, trusting_context
from weboid.net.dns import Resolver
from weboid.net.exchange import MostBytes, Reply, Request
from weboid.net.guard import Guard, require_port
from weboid.net.response_parser import ResponseParser
from weboid.net.watch import open_watch

HEADER_CHARS: Final = 1000
"""Characters of a header's value that are kept; a Location is kept whole."""

_URL: Final = re.compile(
    r"(https?)://(?:[^\s/?#\\]*@)?"
    r"((\[[0-9A-Fa-f:.]+\]|[^\s/?#\\@:\[\]]+)(?::0*([0-9]{1,5}))?)"
    r"(/[!-\"$-~]*|\?[!-\"$-~]*)?(?:#.*)?"
)
"""User and fragment are ignored, since they are not sent; a backslash is refused, since parsers differ about it."""
KEPT: Final = 1000
"""Idle connections, at most; fewer if fewer connections or open files are allowed."""
KEPT_OF_ORIGIN: Final = 32
"""Of them to one origin, at most: a check uses one, who goes through a site several."""
_LEAST_KEPT: Final = 16
_SWEEP_S: Final = 0.25
"""Seconds between two sweeps over idle connections, at least."""
_OTHER_FILES: Final = 200
"""Open files reserved for other purposes: the store, name servers, logs."""
_AMPLE: Final = 3
"""A look-up is at most two queries: it needs no limit of its own if there is time for so many."""
_METHODS: Final = frozenset({"GET", "HEAD"})
_PORTS: Final = {"http": 80, "https": 443}


_More = Callable[[], Awaitable[Sequence[str]]]


class _Prepared(Struct, frozen=True):
    """A request as it is sent, and where: connections of the same `origin` are interchangeable."""

    origin: str
    is_tls: bool
    trusting: bool
    host: str
    port: int
    method: str
    data: bytes
    sent: Callable[[], None] | None
    most_bytes: MostBytes | None


class _Kept(NamedTuple):
    until: float
    origin: str
    connection: HttpConnection


class SocketEngine:
    """The engine on plain sockets, asyncio's loop and Python's TLS: the guard is given every address before connecting.

    Idle connections are kept for a moment, a few for each origin; if there are too many, the oldest are closed first.
    """

    def __init__(self, settings: NetConfig, guard: Guard, resolver: Resolver, tls: ssl.SSLContext) -> None:
        self._loop = asyncio.get_running_loop()
        self._settings = settings
        self._guard = guard
        self._resolver = resolver
        self._tls = tls
        self._trusting_tls = trusting_context()
        self._ipv6 = ipv6_is_routed()
        self._kept: BoundedMap[HttpConnection, _Kept] = BoundedMap(_most_kept(settings.connections), dropped=self._drop)
        self._idle: dict[str, list[HttpConnection]] = {}
        """The same by origin."""
        self._open: set[HttpConnection] = set()
        self._watch = open_watch()
        self._sweeping: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Closes all connections; callers that still wait get an error that is not counted against any server."""
        for connection in list(self._open):
            connection.end(RuntimeError("the engine was closed"))
        self._drop_kept()
        self._watch.close()

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request; raises exceptions of ``dns``, ``dial``, ``guard`` or ``connection``; ValueError.

        A request that fails on a kept connection is sent once more on a new one, with its whole time: servers may close
        idle connections, and some never read a second request, above all after HEAD.
        """
        prepared = _prepared(request)
        require_port(prepared.port)
        end_at = self._loop.time() + timeout_s
        kept = self._take_kept(prepared.origin)
        if kept is not None:
            try:
                return await self._exchange(kept, prepared, end_at, end_at)
            except TimeoutError:
                end_at = self._loop.time() + timeout_s
            except OSError:
                pass
        try:
            return await self._send_anew(prepared, end_at)
        except NotConnected as error:
            numbers = {each.errno for each in error.errors if isinstance(each, OSError)}
            if not len(self._kept) or numbers.isdisjoint((errno.EMFILE, errno.ENFILE)):
                raise
        self._drop_kept()
        return await self._send_anew(prepared, end_at)

    async def _send_anew(self, request: _Prepared, end_at: float) -> Reply:
        addresses, more = await self._addresses(request.host, end_at)
        open_at = min(self._loop.time() + self._settings.connect_s, end_at)
        tls = self._trusting_tls if request.trusting else self._tls
        connection = HttpConnection(request.host.removesuffix("."), tls if request.is_tls else None, self._watch)
        dial = Dial(
            self._guard,
            addresses,
            request.port,
            watch=self._watch,
            ipv6=self._ipv6,
            connected=connection.connect,
            failed=connection.end,
            more=more,
        )
        try:
            return await self._exchange(connection, request, open_at, end_at, dial)
        finally:
            dial.close()

    async def _exchange(
        self, connection: HttpConnection, request: _Prepared, open_at: float, end_at: float, dial: Dial | None = None
    ) -> Reply:
        parser = parser_of(request.method, self._settings, request.most_bytes)
        self._open.add(connection)
        try:
            answered = connection.exchange(
                request.data,
                parser,
                open_at=open_at,
                end_at=end_at,
                sent=request.sent,
                body_s=BODY_S if request.most_bytes is None else inf,
            )
            if dial:
                dial.begin()
            await answered
        finally:
            self._open.discard(connection)
            if parser.is_clean and not connection.is_closed:
                self._keep(request.origin, connection)
            else:
                connection.close()
        return reply_from(parser)

    async def _addresses(self, host: str, end_at: float) -> tuple[Sequence[str], _More | None]:
        """The addresses to try first, and a function that finds more (None if there are no more)."""
        if is_ip(host.removesuffix(".")):
            # Unusual spellings of addresses end here: the guard refuses them, and they are not sent to a name server.
            return (host,), None
        if end_at - self._loop.time() > _AMPLE * self._resolver.lookup_s:
            addresses = await self._resolver.addresses(host)
        else:
            try:
                async with asyncio.timeout_at(end_at):
                    addresses = await self._resolver.addresses(host)
            except TimeoutError:
                raise NotConnected((TimeoutError(),)) from None
        more = partial(self._resolver.more_addresses, host) if self._ipv6 and ":" not in addresses[0] else None
        return addresses, more

    def _take_kept(self, origin: str) -> HttpConnection | None:
        """An idle connection to an origin: the one that was used last."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if not idle:
                del self._idle[origin]
            self._kept.take(connection)
            if not connection.is_closed:
                return connection
        return None

    def _keep(self, origin: str, connection: HttpConnection) -> None:
        idle = self._idle.setdefault(origin, [])
        if len(idle) == KEPT_OF_ORIGIN:
            connection.close()
            return
        idle.append(connection)
        self._kept[connection] = _Kept(self._loop.time() + KEEP_ALIVE_S, origin, connection)
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(KEEP_ALIVE_S, self._sweep)

    def _drop(self, kept: _Kept) -> None:
        """Closes an idle connection that is not kept any more."""
        idle = self._idle[kept.origin]
        idle.remove(kept.connection)
        if not idle:
            del self._idle[kept.origin]
        kept.connection.close()

    def _sweep(self) -> None:
        """Closes the connections that have been idle long enough; they are in the order in which they became idle."""
        now = self._loop.time()
        self._sweeping = None
        while (oldest := next(iter(self._kept), None)) and (kept := self._kept.get(oldest)):
            if kept.until > now:
                self._sweeping = self._loop.call_at(max(kept.until, now + _SWEEP_S), self._sweep)
                return
            self._kept.take(oldest)
            self._drop(kept)

    def _drop_kept(self) -> None:
        for connection, kept in self._kept.items():
            self._kept.take(connection)
            self._drop(kept)
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None


def _most_kept(connections: int) -> int:
    """Returns how many idle connections the limit of open files allows in addition to so many active ones."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = KEPT if files == resource.RLIM_INFINITY else max(files - _OTHER_FILES - connections, _LEAST_KEPT)
    return min(connections, KEPT, spare)


def _prepared(request: Request) -> _Prepared:
    match = _URL.fullmatch(request.url)
    if match is None:
        raise ValueError(f"{request.url!r} is not an absolute, escaped http or https URL")
    if request.method not in _METHODS:
        raise ValueError(f"this engine does not send {request.method}")
    scheme, authority, host, port, target = match.groups()
    if not target or target[0] != "/":
        target = f"/{target or ''}"
    lines = [f"{request.method} {target} HTTP/1.1", f"Host: {authority}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    text = "\n".join(lines)
    if "\r" in text or text.count("\n") >= len(lines):
        raise ValueError("a header has a connection break")
    return _Prepared(
        origin=f"{'trusting ' if request.trusting else ''}{scheme}://{authority}",
        is_tls=scheme == "https",
        trusting=request.trusting,
        host=host.strip("[]"),
        port=int(port) if port else _PORTS[scheme],
        method=request.method,
        data=text.replace("\n", "\r\n").encode("utf-8", "surrogateescape") + b"\r\n\r\n",
        sent=request.sent,
        most_bytes=request.most_bytes,
    )


def parser_of(method: str, settings: NetConfig, most_bytes: MostBytes | None = None) -> ResponseParser:
    """A parser for the reply to one request, with the configured bounds."""
    return ResponseParser(
        method,
        line_bytes=settings.header_bytes,
        body_bytes=settings.body_bytes,
        text_bytes=settings.text_bytes,
        most_bytes=most_bytes,
    )


def reply_from(parser: ResponseParser) -> Reply:
    """The reply that a parser has read, bounded."""
    headers = parser.headers
    if len(text := "".join(chain.from_iterable(headers.items()))) > HEADER_CHARS or not text.isascii():
        headers = {_clean(name): _clean(value) for name, value in headers.items()}
    if len(headers.get("refresh", "")) == HEADER_CHARS:
        del headers["refresh"]  # cut short, it would lead to another URL
    return Reply(
        code=parser.code,
        headers=headers,
        location=parser.headers.get("location"),
        cookies=parser.cookies,
        body=parser.body,
        reading=parser.reading,
    )


def _clean(text: str) -> str:
    """A header's text in a form that can be stored: bounded, and valid UTF-8 whatever bytes were received."""
    text = text[:HEADER_CHARS]
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
