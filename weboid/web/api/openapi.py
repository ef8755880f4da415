"""The description of the API (OpenAPI 3.1), and what browsers ask before a web page's script may (W-12).

The description itself is ``openapi.json`` beside this file, written by hand.
One law: an address that is described may be read by every web page, without credentials; all others have no CORS.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from aiohttp import hdrs, web

from weboid.web.formats.json import CONTENT_TYPE, text_of
from weboid.web.http.respond import sent
from weboid.web.service import Service

PATH: Final = "/api/openapi.json"
_KEPT_S: Final = 86_400
_HTML: Final = "text/html"


@cache
def description() -> dict[str, Any]:
    """The description as it stands in the file. Nobody may change it."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "openapi.json").read_text(encoding="utf-8"))
    return loaded


def open_methods() -> dict[str, list[str]]:
    """What scripts of web pages may do, by address: those that tell people alone are left out."""
    return {
        path: sorted(method.upper() for method in operations)
        for path, operations in description()["paths"].items()
        if any(_is_for_machines(operation) for operation in operations.values())
    }


def _is_for_machines(operation: dict[str, Any]) -> bool:
    told = [answer["content"] for code, answer in operation["responses"].items() if code.startswith("20")]
    return any(kind != _HTML for content in told for kind in content)


class OpenApi:
    """The handlers."""

    def __init__(self, service: Service) -> None:
        self._told = text_of({**description(), "servers": [{"url": service.public_url}]})

    def add_routes(self, app: web.Application) -> None:
        """The description's address, and OPTIONS of all that it describes."""
        app.router.add_get(PATH, self.document)
        for path in open_methods():
            app.router.add_route(hdrs.METH_OPTIONS, path, _preflight)

    async def document(self, request: web.Request) -> web.Response:
        """The description, which names this service."""
        return sent(request, self._told, CONTENT_TYPE)


async def _preflight(request: web.Request) -> web.Response:
    """What may be done here, for whatever page asks (Fetch, 3.2.2). `Authorization` is not for scripts of web pages."""
    resource = request.match_info.route.resource
    assert resource is not None, "it was added with an address"
    methods = open_methods()[resource.canonical]
    if methods == [hdrs.METH_GET]:
        methods = [hdrs.METH_GET, hdrs.METH_HEAD]
    return web.Response(
        status=204,
        headers={
            hdrs.ALLOW: ", ".join(sorted([*methods, hdrs.METH_OPTIONS])),
            hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: "*",
            hdrs.ACCESS_CONTROL_ALLOW_METHODS: ", ".join(methods),
            hdrs.ACCESS_CONTROL_ALLOW_HEADERS: "If-None-Match, If-Modified-Since",
            hdrs.ACCESS_CONTROL_MAX_AGE: str(_KEPT_S),
        },
    )
