"""The engine in the one-request seat (`hop`), made of `dial` and `line`: whom to dial, and which lines are kept.

One law: nothing goes out that `dial` has not shown to the guard, and idle lines are bounded in number and in time.
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
from weboid.net.content_coding import decoded
from weboid.net.dial import KEEP_ALIVE_S, Dial, NotConnected, ipv6_is_routed, trusting_context
from weboid.net.dns import Resolver
from weboid.net.exchange import Reply, Request
from weboid.net.guard import Guard
from weboid.net.response_parser import ResponseParser

HEADERS: Final = 40
"""Headers of a reply that are kept."""
HEADER_CHARS: Final = 1000
"""Characters of a header's value that are kept; a Location is kept whole."""

_URL: Final = re.compile(
    r"(https?)://(?:[^\s/?#\\]*@)?"
    r"((\[[0-9A-Fa-f:.]+\]|[^\s/?#\\@:\[\]]+)(?::0*([0-9]{1,5}))?)"
    r"(/[!-\"$-~]*|\?[!-\"$-~]*)?(?:#.*)?"
)
"""User and fragment are read over, they go into no request; a backslash is refused: readers differ about it."""
KEPT: Final = 1000
"""Idle lines at most; fewer where there are fewer connections, or few open files."""
_FEW: Final = 16
_OTHER_FILES: Final = 200
"""Open files that are for others: the store, name servers, logs."""
_AMPLE: Final = 3
"""A look-up is two questions at most: it needs no limit where there is time for more of them."""
_METHODS: Final = frozenset({"GET", "HEAD"})
_PORTS: Final = {"http": 80, "https": 443}


_More = Callable[[], Awaitable[Sequence[str]]]


class _Place(NamedTuple):
    """Where a request goes: `origin` names lines that serve it alike, `target` is path and query."""

    origin: str
    trusting: bool
    scheme: str
    authority: str
    host: str
    port: int
    target: str


class SocketEngine:
    """The engine on plain sockets, asyncio's loop and Python's TLS: the guard sees every address that it dials.

    Idle lines are kept for a moment, one a place; where there are too many the oldest go first.
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
        """Closes all connections; whoever still waits for a reply gets an error that is held against nobody."""
        for line in list(self._open):
            line.end(RuntimeError("the way out was closed"))
        self._drop_kept()

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request, or an exception of `dns`, `dial` or `line`; raises ValueError for an unfit request.

        A question that fails on a kept line is asked once more on a new one: servers end idle lines as they like.
        """
        place = _place(request)
        exchange = _Exchange(place, request.method, _question(request, place))
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
        """The reply by a new line."""
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
        """The reply by a given line, which is kept or closed afterwards."""
        settings = self._settings
        coming = ResponseParser(exchange.method, line_bytes=settings.header_bytes, body_bytes=settings.body_bytes)
        self._open.add(line)
        try:
            answered = line.ask(exchange.question, coming, open_at=open_at, end_at=end_at)
            if begin:
                begin()
            await answered
        finally:
            self._open.discard(line)
            if coming.is_clean and not line.is_closed:
                self._keep(exchange.place.origin, line)
            else:
                line.close()
        return _reply(coming, settings.body_bytes)

    async def _addresses(self, host: str, end_at: float) -> tuple[Sequence[str], _More | None]:
        """The addresses to dial first, and how to find more."""
        if is_ip(host.removesuffix(".")):
            # Odd spellings of addresses go no further: the guard refuses them, and no name server sees them.
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
        """Closes the lines that have been idle long enough; they stand in the order in which they became so."""
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
    """One request, ready for the wire."""

    place: _Place
    method: str
    question: bytes


def _most_kept(connections: int) -> int:
    """How many idle lines there is room for beside so many connections."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = KEPT if files == resource.RLIM_INFINITY else max(files - _OTHER_FILES - connections, _FEW)
    return min(connections, KEPT, spare)


def _place(request: Request) -> _Place:
    match = _URL.fullmatch(request.url)
    if match is None:
        raise ValueError(f"{request.url!r} is no absolute http or https URL as it stands on the wire")
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
        raise ValueError(f"{request.method} is not asked by this engine")
    lines = [f"{request.method} {place.target} HTTP/1.1", f"Host: {place.authority}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    text = "\n".join(lines)
    if "\r" in text or text.count("\n") >= len(lines):
        raise ValueError("a header has a line break")
    return text.replace("\n", "\r\n").encode() + b"\r\n\r\n"


def _is_out_of_files(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


def _reply(coming: ResponseParser, limit: int) -> Reply:
    headers = {_clean(name): _clean(value) for name, value in islice(coming.headers.items(), HEADERS)}
    return Reply(
        code=coming.code,
        headers=headers,
        location=coming.headers.get("location"),
        cookies=coming.cookies,
        body=decoded(coming.body, headers.get("content-encoding", ""), limit),
    )


def _clean(text: str) -> str:
    """A header's text fit to be stored: bounded, and UTF-8 whatever bytes came in."""
    text = text[:HEADER_CHARS]
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
