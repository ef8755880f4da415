"""The description of the API (OpenAPI 3.1), and the answer to CORS preflight requests (W-12).

The description itself is ``openapi.json`` in this folder, written by hand; a test compares it with the table of routes,
both ways; to generate it, the table would need all of its prose.
Every web page may read an open route, without credentials; all others have no CORS.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from aiohttp import hdrs, web

from weboid.web.formats.json import CONTENT_TYPE, bytes_of
from weboid.web.http.respond import body_of, sent
from weboid.web.request.route import route_of
from weboid.web.service import Service

_KEPT_S: Final = 86_400
_HEADERS: Final = "Api-User-Agent, Authorization, Content-Type, If-Modified-Since, If-None-Match"
"""Headers that scripts may send: their name, as Wikimedia's own API takes it; a client's token; a form's type."""


@cache
def description() -> dict[str, Any]:
    """The description as it is in the file. It is shared: callers must not change it."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "openapi.json").read_text(encoding="utf-8"))
    return loaded


class OpenApi:
    def __init__(self, service: Service) -> None:
        self._body = body_of(bytes_of({**description(), "servers": [{"url": service.public_url}]}))

    async def document(self, request: web.Request) -> web.Response:
        """The description, with the URL of this service."""
        return sent(request, self._body, CONTENT_TYPE)


async def preflight(request: web.Request) -> web.Response:
    """The answer to OPTIONS at a route that is open to all web pages (Fetch, 3.2.2)."""
    route = route_of(request)
    assert route is not None, "preflight is bound to routes only"
    return web.Response(
        status=204,
        headers={
            hdrs.ALLOW: ", ".join(sorted([*route.methods, hdrs.METH_OPTIONS])),
            hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: "*",
            hdrs.ACCESS_CONTROL_ALLOW_METHODS: ", ".join(route.methods),
            hdrs.ACCESS_CONTROL_ALLOW_HEADERS: _HEADERS,
            hdrs.ACCESS_CONTROL_MAX_AGE: str(_KEPT_S),
        },
    )
