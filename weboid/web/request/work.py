"""What a handler notes on its request: about the work that it did, for the limits (W-9), and what it found in it."""

from typing import Final

from aiohttp import web

from weboid.web.request.accept import Format

FREE: Final = web.RequestKey("free", bool)
"""Set on a request that was answered from a cache; it counts against no limit."""

LINKS: Final = web.RequestKey("links", int)
"""How many links were looked up and shown for a request; beyond the usual number they cost more."""

PAGES: Final = web.RequestKey("pages", int)
"""How many pages the answer to a form is about; the limits have counted one of them."""

FORMAT: Final = web.RequestKey("format", Format)
"""The format that a form has asked for that was sent."""
