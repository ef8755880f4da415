"""The files that are served as they are: the style sheet, the icon, and our own source (W-2)."""

import asyncio
from typing import Final

from aiohttp import web

from weboid.web.formats.static_files import files
from weboid.web.http import source_archive
from weboid.web.http.respond import sent

_IMMUTABLE: Final = "public, max-age=31536000, immutable"


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
