"""The files that are served as they are: the style sheet, the icon, our own source (W-2), and robots.txt."""

import asyncio
from typing import Final

from aiohttp import web

from weboid.web.formats.static_files import files
from weboid.web.http import source_archive
from weboid.web.http.respond import sent
from weboid.web.request.route import address_of

_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_INDEXED: Final = ("help", "bot", "privacy", "policy", "data", "status")
"""Pages that search engines may walk; the others show what wikis and the store say at that moment, of any URL."""


async def static(request: web.Request) -> web.Response:
    """One of the files that pages load."""
    if (file := files().get(request.match_info["name"])) is None:
        raise web.HTTPNotFound
    return sent(request, file.body, file.content_type, cache=_IMMUTABLE)


async def source(request: web.Request) -> web.Response:
    """The source of the running version, as a zip (W-2)."""
    if request.match_info["name"] != source_archive.NAME:
        raise web.HTTPNotFound
    packed = await asyncio.to_thread(source_archive.archive)
    return sent(request, packed, "application/zip", cache="public, max-age=3600")


async def robots(request: web.Request) -> web.Response:
    """What robots may fetch (RFC 9309): pages that explain, with their style sheet, and nothing that reads a wiki."""
    allowed = [f"{address_of('start')}$", *map(address_of, _INDEXED), address_of("static", name="")]
    lines = ["User-agent: *", *(f"Allow: {path}" for path in allowed), "Disallow: /", ""]
    return sent(request, "\n".join(lines).encode(), "text/plain", cache="public, max-age=86400")
