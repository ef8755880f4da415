"""The way out as a whole: opened once by whoever asks, shared by all checks, closed without a trace left behind.

One law: whatever is opened here is closed here.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from weboid.config import NetConfig
from weboid.net.dial import open_connector, tls_context
from weboid.net.dns import Resolver
from weboid.net.guard import Guard
from weboid.net.hop import AiohttpEngine, Engine


@dataclass(frozen=True, slots=True)
class Session:
    """What `fetch` needs. A request holds one of the `seats`; waiting for one never counts as the server's time."""

    settings: NetConfig
    engine: Engine
    seats: asyncio.Semaphore


@asynccontextmanager
async def open_session(settings: NetConfig) -> AsyncIterator[Session]:
    """The way out under the given bounds; raises ConfigError for unusable name servers or authorities."""
    async with _open_connector(settings) as connector:
        engine = AiohttpEngine(settings, connector)
        try:
            yield Session(settings, engine, asyncio.Semaphore(settings.connections))
        finally:
            await engine.close()


@asynccontextmanager
async def open_client(settings: NetConfig) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client for the APIs of wikis and archives: the same guard, no cookies, no proxies, nothing followed."""
    async with (
        _open_connector(settings) as connector,
        aiohttp.ClientSession(
            connector=connector, connector_owner=False, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        ) as client,
    ):
        yield client


@asynccontextmanager
async def _open_connector(settings: NetConfig) -> AsyncIterator[aiohttp.TCPConnector]:
    guard = Guard(settings.deny, settings.permit)
    tls = tls_context(settings.ca)
    resolver = Resolver(guard, settings.dns, settings.connect_s / 2)
    connector = open_connector(guard, resolver, tls)
    try:
        yield connector
    finally:
        await connector.close()
        await resolver.close()
