"""A real archive behind a server that writes ``&`` as ``&amp;`` where links are, as the Wayback Machine has done it.

One law: nothing but ampersands differs from what the archive sends, and the addresses of its links lead to this server.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
from support.misbehaving import Asked, reply, serve
from yarl import URL

_LINKED = "application/link-format"
_KEPT = ("Memento-Datetime", "Location", "Link")


@asynccontextmanager
async def open_escaping_archive(archive: str) -> AsyncIterator[str]:
    """Runs it on a free port of 127.0.0.1 before the archive with this base; gives its own base."""
    parts = urlsplit(archive)
    origin = f"{parts.scheme}://{parts.netloc}"
    bases: list[str] = []

    async def passed_on(asked: Asked) -> AsyncIterator[bytes]:
        address = URL(f"{origin}{asked.target}", encoded=True)
        async with session.get(address, allow_redirects=False) as response:
            kind, body = response.content_type, await response.read()
            headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
        if "Link" in headers:
            headers["Link"] = headers["Link"].replace("&", "&amp;")
        if kind == _LINKED:
            body = body.replace(b"&", b"&amp;")
        lines = [f"{name}: {value}".replace(origin, bases[0]) for name, value in headers.items()]
        yield reply(response.status, *lines, body=body.replace(origin.encode(), bases[0].encode()), kind=kind)

    async with aiohttp.ClientSession(auto_decompress=True) as session, serve(passed_on) as site:
        bases.append(site.url(""))
        yield f"{bases[0]}{parts.path}"
