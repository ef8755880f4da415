"""In which format a request wants its answer: of its address, by ``format=``, or by Accept (W-8).

One law: it never fails, for errors are answered in that format, too; who refuses a format does so by itself.
"""

from typing import Final

from aiohttp import hdrs, web

from weboid.web.formats import html, json, xml
from weboid.web.health import pages
from weboid.web.http.respond import Format
from weboid.web.request.accept import best_type

_TYPES: Final = {
    json.CONTENT_TYPE: Format.JSON,
    xml.CONTENT_TYPE: Format.XML,
    "text/xml": Format.XML,
    html.CONTENT_TYPE: Format.HTML,
}
_MACHINE_TYPES: Final = {kind: form for kind, form in _TYPES.items() if form is not Format.HTML}


def format_of(request: web.Request) -> Format:
    """The format that a request wants."""
    if request.path == "/externalLinkProblem":
        return Format.JS
    if request.path == pages.PATH:
        return pages.form_of(request)
    if request.path.startswith("/feeds/"):
        return Format.XML
    asked = request.query.get("format", "")
    if request.path == "/data" or request.path.startswith("/lists/"):
        return Format(asked) if asked in (Format.JSON, Format.XML) else Format.HTML
    if not request.path.startswith(("/api/", "/changes")):
        return Format.HTML
    types = _TYPES if request.path == "/api/page" else _MACHINE_TYPES
    if asked in types.values():
        return Format(asked)
    return types[best_type(request.headers.get(hdrs.ACCEPT, ""), tuple(types))]
