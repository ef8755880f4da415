import json

from aiohttp import hdrs
from lxml import etree
from support.webservice import Site

from weboid.web.request.accept import Format
from weboid.web.request.route import ROUTES

_SHOWN = [
    route
    for route in ROUTES
    if hdrs.METH_GET in route.methods and "{" not in route.path and route.parameters and route.name != "account-back"
]
"""The addresses that take parameters, but that to which a wiki sends people back."""
# Errors of files are JSON.
_TYPES = {
    "html": "text/html",
    "json": "application/json",
    "xml": "application/xml",
    "js": "text/javascript",
    "csv": "application/json",
}
_KEY = "weboid-error-format"


def is_format_error(body: str, kind: str) -> bool:
    """True if an answer is the error for formats; a page has the key nowhere, but names the formats."""
    match kind:
        case "application/json":
            return bool(json.loads(body).get("error", {}).get("key") == _KEY)
        case "application/xml":
            error = etree.fromstring(body.encode()).find("error")
            return error is not None and error.get("key") == _KEY
        case _:
            return "“format” is one of: " in body


async def test_a_format_that_an_address_does_not_offer_is_an_error_in_the_callers_format(site: Site) -> None:
    for route in _SHOWN:
        offered = route.formats.offered
        for given in (*Format, "exe", "%E2%80%AE"):
            status, body, response = await site.fetch(f"{route.path}?format={given}")
            at = f"{status} {response.content_type} for format={given}: {body[:300]}"
            is_left_out = "format" in route.tolerated or status == 403  # for trusted programs or administrators only
            assert is_format_error(body, response.content_type) == (given not in offered and not is_left_out), at
            if not is_left_out:
                has_own = given in offered or (route.is_open and given in ("html", "json", "xml"))
                assert response.content_type == _TYPES[given if has_own else offered[0]], at
                assert given in offered or status == 400, at
