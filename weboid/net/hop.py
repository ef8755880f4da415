"""One request and its reply: what an engine must do, and the engine made of aiohttp.

Redirects, second attempts and what a reply means are `fetch`'s business.
One law: an engine raises what its transport raises, and only `faults` knows what that means.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Final, Protocol

import aiohttp
from aiohttp import hdrs
from yarl import URL

from weboid.config import NetConfig
from weboid.net.coding import decoded

HEADERS: Final = 40
"""Headers of a reply that are kept."""
HEADER_CHARS: Final = 1000
"""Characters of a header's value that are kept; a Location is kept whole."""
HEADER_LINES: Final = 256
"""Header lines of a reply that are read; more are a broken protocol."""
BODY_S: Final = 10.0
"""Seconds for the body: whoever sent a status has answered, the rest is a bonus."""


@dataclass(frozen=True, slots=True)
class Request:
    """What goes out. `url` is absolute ASCII as it stands on the wire, `headers` are all but Host."""

    method: str
    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came in, bounded: lower-case header names with the first value each, the body's beginning decompressed.

    `location` and `cookies` are as sent; bytes that are no UTF-8 stand in them as surrogates.
    """

    code: int
    headers: Mapping[str, str]
    location: str | None = None
    cookies: tuple[str, ...] = ()
    body: bytes = b""


class Engine(Protocol):
    """Sends one request at a time and place; never follows, repeats, or remembers cookies."""

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request; raises whatever `faults.fault_of` can read."""
        ...


class AiohttpEngine:
    """The engine on an aiohttp connector, which it owns."""

    def __init__(self, settings: NetConfig, connector: aiohttp.TCPConnector) -> None:
        self._settings = settings
        reuse = aiohttp.TraceConfig()
        reuse.on_connection_reuseconn.append(_note_reuse)
        self._client = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=(hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.USER_AGENT, hdrs.CONTENT_TYPE),
            auto_decompress=False,
            trust_env=False,
            read_bufsize=32_768,
            max_line_size=settings.header_bytes,
            max_field_size=settings.header_bytes,
            max_headers=HEADER_LINES,
            trace_configs=[reuse],
        )

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.close()

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request, or an exception of aiohttp, `guard` or `dns`."""
        contact = _Contact()
        response = await self._client.request(
            request.method,
            URL(request.url, encoded=True),
            headers=request.headers,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=timeout_s, connect=min(self._settings.connect_s, timeout_s)),
            middlewares=(contact.ask,),
            trace_request_ctx=contact,
        )
        try:
            body = b""
            if not 300 <= response.status <= 399:
                body = await _beginning(response.content, self._settings.body_bytes)
            return _reply(response, body, self._settings.body_bytes)
        finally:
            # Closes the connection if there is more to come, else keeps it for a moment.
            response.release()


class _Contact:
    """One request's knowledge of its connection. aiohttp repeats any request after a hang-up, also the first one to a
    server; we want that only where a connection kept from before had gone stale (C-3: a request takes its turn)."""

    reused = False

    async def ask(self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        try:
            return await handler(request)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as hang_up:
            if self.reused:
                raise
            raise aiohttp.ClientConnectionError from hang_up


async def _note_reuse(
    _: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceConnectionReuseconnParams
) -> None:
    context.trace_request_ctx.reused = True


async def _beginning(stream: aiohttp.StreamReader, limit: int) -> bytes:
    """At most `limit` bytes of a body; what came before it broke off or ran out of time."""
    data = bytearray()
    # The status stands already: a body that breaks off takes nothing back.
    with contextlib.suppress(TimeoutError, OSError, aiohttp.ClientError):
        async with asyncio.timeout(BODY_S):
            while len(data) < limit and (part := await stream.readany()):
                data += part
    return bytes(data[:limit])


def _reply(response: aiohttp.ClientResponse, body: bytes, limit: int) -> Reply:
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        if len(headers) == HEADERS:
            break
        headers.setdefault(_clean(name.lower()), _clean(value))
    return Reply(
        code=response.status,
        headers=headers,
        location=response.headers.get(hdrs.LOCATION),
        cookies=tuple(response.headers.getall(hdrs.SET_COOKIE, ())),
        body=decoded(body, headers.get("content-encoding", ""), limit),
    )


def _clean(text: str) -> str:
    """A header's text fit to be stored: bounded, and UTF-8 whatever bytes came in."""
    return text[:HEADER_CHARS].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
