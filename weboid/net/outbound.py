"""Opens and closes all that is needed for outgoing requests; opened once by the caller and shared by all checks."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from urllib.parse import urlsplit

import aiohttp

from weboid.config import NetConfig
from weboid.core.url.hosts import NO_NAMES, is_ip
from weboid.net.dial import Dialer, open_connector, tls_context
from weboid.net.dns import NO_NAME, LookupFailed, Resolver
from weboid.net.engine import SocketEngine
from weboid.net.exchange import Engine
from weboid.net.guard import Guard, NotPublic, refusal_in, require_port


class Seats(asyncio.Semaphore):
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._number = number

    @property
    def used(self) -> int:
        return self._number - self._value


@dataclass(frozen=True, slots=True)
class Outbound:
    """The way out for ``net/fetch``. A request holds one of the `seats`; waiting for one is not server time."""

    settings: NetConfig
    engine: Engine
    seats: Seats
    resolver: Resolver
    dialer: Dialer
    """For protocols other than HTTP (C-10)."""
    now: Callable[[], float] = monotonic
    """The seconds by which the time of servers is measured; others than the system's only where it is simulated."""
    bare: frozenset[str] = NO_NAMES
    """Names without a dot that are valid here."""


@asynccontextmanager
async def open_session(
    settings: NetConfig, names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> AsyncIterator[Outbound]:
    """An `Outbound` with the given limits; raises ConfigError for unusable name servers or authorities.

    `names`: hosts whose addresses the caller knows, with or without a dot; the guard sees these, too.
    """
    async with _open_resolver(settings) as (guard, resolver):
        for host, addresses in names.items():
            resolver.name(host, addresses)
        engine = SocketEngine(settings, guard, resolver, tls_context(settings.ca))
        dialer = Dialer(settings, guard, resolver)
        try:
            yield Outbound(settings, engine, Seats(settings.connections), resolver, dialer, bare=frozenset(names))
        finally:
            engine.close()


@asynccontextmanager
async def open_client(settings: NetConfig, *, has_cookies: bool = False) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client for the APIs of wikis and archives: with the same guard, without proxies.

    It keeps no cookies, but for a caller that signs in somewhere; they go with the client.
    """
    jar = aiohttp.CookieJar(unsafe=True) if has_cookies else aiohttp.DummyCookieJar()  # unsafe: a wiki may be an IP's
    async with (
        _open_resolver(settings) as (guard, resolver),
        open_connector(guard, resolver, tls_context(settings.ca)) as connector,
        aiohttp.ClientSession(connector=connector, connector_owner=False, cookie_jar=jar, trust_env=False) as client,
    ):
        yield client


@dataclass(frozen=True, slots=True)
class Unreachable:
    """URLs that the guard refuses, each with the reason, and the hosts that no name server knows."""

    refused: Mapping[str, str]
    unknown: frozenset[str]


async def find_unreachable(settings: NetConfig, urls: Iterable[str], limit_s: float) -> Unreachable:
    """Finds which of these URLs of http and https could not be requested, by queries to name servers alone.

    A URL that is not known after `limit_s` is left out. Raises ConfigError for unusable name servers.
    """
    refused: dict[str, str] = {}
    unknown: set[str] = set()

    async def look(url: str, guard: Guard, resolver: Resolver) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or {"http": 80}.get(parts.scheme, 443)
        except ValueError:  # a port beyond all ports: an error when it is used
            return
        try:
            if is_ip(host):
                guard.require(host, port)
            else:
                require_port(port)
                await resolver.resolve(host, port)
        except LookupFailed as error:
            if error.code in NO_NAME:
                unknown.add(host)
        except NotPublic as error:
            refused[url] = refusal_in(error)

    async with _open_resolver(settings) as (guard, resolver):
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await asyncio.gather(*(look(url, guard, resolver) for url in dict.fromkeys(urls)))
    return Unreachable(refused, frozenset(unknown))


@asynccontextmanager
async def _open_resolver(settings: NetConfig) -> AsyncIterator[tuple[Guard, Resolver]]:
    guard = Guard(settings.deny, settings.permit)
    resolver = Resolver(guard, settings.dns, settings.connect_s / 2)
    try:
        yield guard, resolver
    finally:
        await resolver.close()
