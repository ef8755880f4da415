"""The description of the API (OpenAPI 3.1), and what browsers ask before a web page's script may (W-12).

The description itself is ``openapi.json`` beside this file, written by hand; a test holds it equal to the table of
routes, both ways.
One law: a route that is open may be read by every web page, without credentials; all others have no CORS.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from aiohttp import hdrs, web

from weboid.web.formats.json import CONTENT_TYPE, text_of
from weboid.web.http.respond import sent
from weboid.web.request.route import route_of
from weboid.web.service import Service

_KEPT_S: Final = 86_400


@cache
def description() -> dict[str, Any]:
    """The description as it stands in the file. Nobody may change it."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "openapi.json").read_text(encoding="utf-8"))
    return loaded


class OpenApi:
    """The handler."""

    def __init__(self, service: Service) -> None:
        self._told = text_of({**description(), "servers": [{"url": service.public_url}]})

    async def document(self, request: web.Request) -> web.Response:
        """The description, which names this service."""
        return sent(request, self._told, CONTENT_TYPE)


async def preflight(request: web.Request) -> web.Response:
    """What may be done at a route that is open to all, for whatever page asks (Fetch, 3.2.2).

    `Authorization` is not for scripts of web pages.
    """
    route = route_of(request)
    assert route is not None, "it is bound to routes"
    return web.Response(
        status=204,
        headers={
            hdrs.ALLOW: ", ".join(sorted([*route.methods, hdrs.METH_OPTIONS])),
            hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: "*",
            hdrs.ACCESS_CONTROL_ALLOW_METHODS: ", ".join(route.methods),
            hdrs.ACCESS_CONTROL_ALLOW_HEADERS: "If-None-Match, If-Modified-Since",
            hdrs.ACCESS_CONTROL_MAX_AGE: str(_KEPT_S),
        },
    )
