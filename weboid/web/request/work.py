"""Keys under which a handler notes on its request the work that it did, for the limits (W-9), and the format."""

from typing import Final

from aiohttp import web

from weboid.web.request.accept import Format

FREE: Final = web.RequestKey("free", bool)
"""Set on a request that was answered from a cache; it counts against no limit."""

LINKS: Final = web.RequestKey("links", int)
"""The number of links that were looked up and shown; beyond the usual number they cost more."""

PAGES: Final = web.RequestKey("pages", int)
"""The number of pages that the answer to a form covers; the limits have counted one of them."""

FORMAT: Final = web.RequestKey("format", Format)
"""The format that is requested in the fields of a form."""
