"""Opens and closes all that is needed for outgoing requests; opened once by the caller and shared by all checks.

One law: everything opened here is closed here.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Literal
from urllib.parse import urlsplit

import aiohttp

from weboid.config import NetConfig
from weboid.core.url.hosts import is_ip
from weboid.net.dial import open_connector, tls_context
from weboid.net.dns import NO_NAME, LookupFailed, NameAnswer, Resolver
from weboid.net.engine import SocketEngine
from weboid.net.exchange import Engine
from weboid.net.guard import Guard, NotPublic, refusal_in, require_port
from weboid.net.tcp import Dialer


def no_address(host: str) -> None:
    """The address of a host as far as a way out without a resolver knows it."""
    return


async def nothing_found(name: str, limit_s: float | None = None) -> None:
    """What a way out without a resolver finds of a name: its address, its name servers."""
    return


async def no_answer(name: str) -> NameAnswer:
    """What is said of a name where no name server is asked."""
    return NameAnswer.NOTHING


class Seats(asyncio.Semaphore):
    """Seats for requests, which knows how many are taken."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.used = 0

    async def acquire(self) -> Literal[True]:
        """Waits for a seat and takes it."""
        await super().acquire()
        self.used += 1
        return True

    def release(self) -> None:
        """Gives a seat back."""
        self.used -= 1
        super().release()


@dataclass(frozen=True, slots=True)
class Outbound:
    """What ``net/fetch`` needs. A request holds one of the `seats`; waiting for one does not count as server time."""

    settings: NetConfig
    engine: Engine
    seats: Seats
    dialer: Dialer
    """For protocols other than HTTP (C-10)."""
    now: Callable[[], float] = monotonic
    """The seconds by which the time of servers is measured; others than the system's only where it is simulated."""
    addresses: Callable[[str], str | None] = no_address
    """The address of a host that was last tried, without a new look-up; None if unknown (C-16)."""
    find_address: Callable[[str, float | None], Awaitable[str | None]] = nothing_found
    """The address of a host, after a look-up if needed; None if there is none, or if it is not known after so many
    seconds (None = no limit); never raises for a server's failure."""
    name_servers: Callable[[str], Awaitable[str | None]] = nothing_found
    """The name servers of a registrable domain in one text, None if unknown; never raises for a server's failure."""
    look_up: Callable[[str], Awaitable[NameAnswer]] = no_answer
    """What name servers say of a name now, past all caches (C-16)."""
    name_queries: Callable[[], tuple[int, int]] = lambda: (0, 0)
    """How many queries were sent to name servers so far, and how many of them were not answered (O-5)."""


@asynccontextmanager
async def open_session(settings: NetConfig) -> AsyncIterator[Outbound]:
    """An `Outbound` with the given limits; raises ConfigError for unusable name servers or authorities."""
    async with _open_resolver(settings) as (guard, resolver):
        engine = SocketEngine(settings, guard, resolver, tls_context(settings.ca))
        dialer = Dialer(settings, guard, resolver)
        try:
            seats = Seats(settings.connections)
            yield Outbound(
                settings,
                engine,
                seats,
                dialer,
                addresses=resolver.address_of,
                find_address=resolver.find_address,
                name_servers=resolver.name_servers_of,
                look_up=resolver.look_up,
                name_queries=lambda: (resolver.queries, resolver.failures),
            )
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
    """Of some URLs: why the guard refuses those that it does, by URL, and the hosts that no name server knows."""

    refused: Mapping[str, str]
    unknown: frozenset[str]


async def find_unreachable(settings: NetConfig, urls: Iterable[str], limit_s: float) -> Unreachable:
    """Which of these URLs of http and https could not be requested; nothing is sent but queries to name servers.

    Of what is not known after `limit_s`, nothing is said. Raises ConfigError for unusable name servers.
    """
    refused: dict[str, str] = {}
    unknown: set[str] = set()

    async def look(url: str, guard: Guard, resolver: Resolver) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or {"http": 80}.get(parts.scheme, 443)
        except ValueError:  # a port beyond all ports: whoever uses it says so
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
