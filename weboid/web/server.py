"""Listening for requests, with bounds on what a request may be. One law: no address of a reader is logged."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from weboid.errors import WeboidError
from weboid.web.question import MOST_QUERY

_MOST_LINE: Final = 2 * MOST_QUERY
"""Bytes of a request line, so that a query that is too long by a little still gets our own answer."""

_MOST_HEADER: Final = 8_190
_KEEPALIVE_S: Final = 30.0


@asynccontextmanager
async def open_site(app: web.Application, host: str, port: int) -> AsyncIterator[str]:
    """Serves the application until the block ends; gives its URL. Port 0 = any free one. Raises WeboidError if it is
    taken.
    """
    runner = web.AppRunner(
        app,
        access_log=None,
        keepalive_timeout=_KEEPALIVE_S,
        max_line_size=_MOST_LINE,
        max_field_size=_MOST_HEADER,
        shutdown_timeout=10.0,
    )
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise WeboidError(
                f"cannot listen on {host}:{port} ({error.strerror or error}); set WEBOID_WEB_PORT to another port"
            ) from None
        address = runner.addresses[0]
        name = f"[{address[0]}]" if ":" in address[0] else address[0]
        yield f"http://{name}:{address[1]}"
    finally:
        await runner.cleanup()
