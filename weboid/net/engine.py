"""The HTTP engine (the protocol of ``net/exchange``), built on ``net/dial`` and ``net/connection``.

It decides where to connect to, and which connections are kept open. It is our own for speed, chosen by measuring it
against aiohttp, pycurl and pyreqwest; aiohttp serves, and asks APIs.
One law: no connection is opened without the guard's permission, and idle connections are bounded in number and in time.
"""

import asyncio
import errno
import re
import resource
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from weboid.config import NetConfig
from weboid.core.url.hosts import is_ip
from weboid.mechanism.bounded import BoundedMap
from weboid.net.connection import HttpConnection, not_connected
from weboid.net.dial import KEEP_ALIVE_S, Dial, NotConnected, ipv6_is_routed, trusting_context
from weboid.net.dns import Resolver
from weboid.net.exchange import Reply, Request
from weboid.net.guard import Guard, require_port
from weboid.net.response_parser import ResponseParser

HEADERS: Final = 40
"""Headers of a reply that are kept, at most."""
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
_FEW: Final = 16
_OTHER_FILES: Final = 200
"""Open files reserved for other purposes: the store, name servers, logs."""
_AMPLE: Final = 3
"""A look-up is at most two queries: it needs no limit of its own if there is time for so many."""
_METHODS: Final = frozenset({"GET", "HEAD"})
_PORTS: Final = {"http": 80, "https": 443}


_More = Callable[[], Awaitable[Sequence[str]]]


class _Place(NamedTuple):
    """Where a request is sent: connections of the same `origin` are interchangeable; `target` is path and query."""

    origin: str
    trusting: bool
    scheme: str
    authority: str
    host: str
    port: int
    target: str


class SocketEngine:
    """The engine on plain sockets, asyncio's loop and Python's TLS: the guard is given every address before connecting.

    Idle connections are kept for a moment, one per origin; if there are too many, the oldest are closed first.
    """

    def __init__(self, settings: NetConfig, guard: Guard, resolver: Resolver, tls: ssl.SSLContext) -> None:
        self._loop = asyncio.get_running_loop()
        self._settings = settings
        self._guard = guard
        self._resolver = resolver
        self._tls = tls
        self._trusting_tls = trusting_context()
        self._ipv6 = ipv6_is_routed()
        self._kept: BoundedMap[str, tuple[float, HttpConnection]] = BoundedMap(
            _most_kept(settings.connections), dropped=lambda kept: kept[1].close()
        )
        self._open: set[HttpConnection] = set()
        self._sweeping: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Closes all connections; callers that still wait get an error that is not counted against any server."""
        for line in list(self._open):
            line.end(RuntimeError("the engine was closed"))
        self._drop_kept()

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request; raises exceptions of ``dns``, ``dial``, ``guard`` or ``connection``; ValueError.

        A request that fails on a kept connection is sent once more on a new one: servers may close idle connections.
        """
        place = _place(request)
        require_port(place.port)
        exchange = _Exchange(place, request.method, _question(request, place), request.sent)
        end_at = self._loop.time() + timeout_s
        if (kept := self._take_kept(place.origin)) is not None:
            try:
                return await self._exchanged(kept, exchange, end_at, end_at)
            except TimeoutError:
                raise
            except OSError:
                pass
        try:
            return await self._sent(exchange, end_at)
        except NotConnected as error:
            if not (len(self._kept) and any(_is_out_of_files(each) for each in error.errors)):
                raise
        self._drop_kept()
        return await self._sent(exchange, end_at)

    async def _sent(self, exchange: "_Exchange", end_at: float) -> Reply:
        """The reply over a new connection."""
        place = exchange.place
        addresses, more = await self._addresses(place.host, end_at)
        open_at = min(self._loop.time() + self._settings.connect_s, end_at)
        tls = self._trusting_tls if place.trusting else self._tls
        line = HttpConnection(place.host, tls if place.scheme == "https" else None)
        dial = Dial(
            self._guard, addresses, place.port, ipv6=self._ipv6, connected=line.connect, failed=line.end, more=more
        )
        try:
            return await self._exchanged(line, exchange, open_at, end_at, dial.begin)
        finally:
            dial.close()

    async def _exchanged(
        self,
        line: HttpConnection,
        exchange: "_Exchange",
        open_at: float,
        end_at: float,
        begin: Callable[[], None] | None = None,
    ) -> Reply:
        """The reply over a given connection, which is kept or closed afterwards."""
        settings = self._settings
        coming = parser_of(exchange.method, settings)
        self._open.add(line)
        try:
            answered = line.ask(exchange.question, coming, open_at=open_at, end_at=end_at, sent=exchange.sent)
            if begin:
                begin()
            await answered
        finally:
            self._open.discard(line)
            if coming.is_clean and not line.is_closed:
                self._keep(exchange.place.origin, line)
            else:
                line.close()
        return reply_from(coming)

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
                raise not_connected(TimeoutError()) from None
        more = partial(self._resolver.more_addresses, host) if self._ipv6 and ":" not in addresses[0] else None
        return addresses, more

    def _take_kept(self, origin: str) -> HttpConnection | None:
        kept = self._kept.take(origin)
        return None if kept is None or kept[1].is_closed else kept[1]

    def _keep(self, origin: str, line: HttpConnection) -> None:
        self._kept[origin] = self._loop.time() + KEEP_ALIVE_S, line
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(KEEP_ALIVE_S, self._sweep)

    def _sweep(self) -> None:
        """Closes the connections that have been idle long enough; they are in the order in which they became idle."""
        now = self._loop.time()
        self._sweeping = None
        for origin, (end, line) in self._kept.items():
            if end > now:
                self._sweeping = self._loop.call_at(end, self._sweep)
                return
            self._kept.take(origin)
            line.close()

    def _drop_kept(self) -> None:
        for origin, (_, line) in self._kept.items():
            self._kept.take(origin)
            line.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None


class _Exchange(NamedTuple):
    """One request, ready to be sent."""

    place: _Place
    method: str
    question: bytes
    sent: Callable[[], None] | None


def _most_kept(connections: int) -> int:
    """How many idle connections the limit of open files allows in addition to so many active ones."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = KEPT if files == resource.RLIM_INFINITY else max(files - _OTHER_FILES - connections, _FEW)
    return min(connections, KEPT, spare)


def _place(request: Request) -> _Place:
    match = _URL.fullmatch(request.url)
    if match is None:
        raise ValueError(f"{request.url!r} is not an absolute, escaped http or https URL")
    scheme, authority, host, port, target = match.groups()
    if not target or target[0] != "/":
        target = f"/{target or ''}"
    return _Place(
        origin=f"{'trusting ' if request.trusting else ''}{scheme}://{authority}",
        trusting=request.trusting,
        scheme=scheme,
        authority=authority,
        host=host.strip("[]"),
        port=int(port) if port else _PORTS[scheme],
        target=target,
    )


def _question(request: Request, place: _Place) -> bytes:
    if request.method not in _METHODS:
        raise ValueError(f"this engine does not send {request.method}")
    lines = [f"{request.method} {place.target} HTTP/1.1", f"Host: {place.authority}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    text = "\n".join(lines)
    if "\r" in text or text.count("\n") >= len(lines):
        raise ValueError("a header has a line break")
    return text.replace("\n", "\r\n").encode() + b"\r\n\r\n"


def _is_out_of_files(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


def parser_of(method: str, settings: NetConfig) -> ResponseParser:
    """A parser for the reply to one request, with the configured bounds."""
    return ResponseParser(
        method,
        line_bytes=settings.header_bytes,
        body_bytes=settings.body_bytes,
        text_bytes=settings.text_bytes,
    )


def reply_from(coming: ResponseParser) -> Reply:
    """The reply that a parser has read, bounded."""
    headers = {_clean(name): _clean(value) for name, value in islice(coming.headers.items(), HEADERS)}
    return Reply(
        code=coming.code,
        headers=headers,
        location=coming.headers.get("location"),
        cookies=coming.cookies,
        body=coming.body,
    )


def _clean(text: str) -> str:
    """A header's text in a form that can be stored: bounded, and valid UTF-8 whatever bytes were received."""
    text = text[:HEADER_CHARS]
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
