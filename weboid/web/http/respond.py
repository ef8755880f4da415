"""What all answers share: security headers, languages, ETags, compression (W-12).

One law: every answer has these headers, whatever happens inside, and shows nothing of our code.
"""

from hashlib import sha256
from typing import Final

from aiohttp import hdrs, web

from weboid.web.words.language import DEFAULT, Language, accepted_language, languages, requested_language

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: with that, browsers would send the Origin of our own forms as null.
    "Referrer-Policy": "same-origin",
    "Server": "Weboid",
}
OPEN_TO_ALL: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Age, ETag, Retry-After",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Headers of answers for programs, which hold nothing that depends on the caller."""

_WORTH_COMPRESSING: Final = 1_400


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Adds the headers; to be connected to aiohttp's signal for all responses, including its own errors."""
    response.headers.update(HEADERS)


def sent(
    request: web.Request,
    body: str | bytes,
    content_type: str,
    *,
    http: int = 200,
    cache: str = "no-cache",
    vary: str = "",
) -> web.Response:
    """A body with its ETag, or 304 if the caller has it already.

    `cache` is the header Cache-Control: ``no-cache`` = keep it, but revalidate before use; ``no-store`` = never keep
    it, and then there is no ETag and no compression, which could reveal what is in a page (BREACH).
    """
    data = body.encode("utf-8", "replace") if isinstance(body, str) else body
    response = web.Response(status=http, body=data, content_type=content_type)
    if content_type.startswith(("text/", "application/")) and content_type != "application/zip":
        response.charset = "utf-8"
    response.headers[hdrs.CACHE_CONTROL] = cache
    response.headers[hdrs.VARY] = f"Accept-Encoding, {vary}" if vary else "Accept-Encoding"
    if content_type != "text/html":
        response.headers.update(OPEN_TO_ALL)
    if http != 200 or cache == "no-store":
        return response
    # Weak, because the same answer may be sent compressed or not.
    tag = sha256(data).hexdigest()[:32]
    response.headers[hdrs.ETAG] = f'W/"{tag}"'
    if any(known.value in (tag, "*") for known in request.if_none_match or ()):
        kept = (hdrs.CACHE_CONTROL, hdrs.VARY, hdrs.ETAG, *OPEN_TO_ALL)
        headers = {name: response.headers[name] for name in kept if name in response.headers}
        return web.Response(status=304, headers=headers)
    if len(data) >= _WORTH_COMPRESSING and request.method == hdrs.METH_GET:
        response.enable_compression()
    return response


def see_other(address: str) -> web.Response:
    """The answer to a form that was sent: a redirect to an address of this service (303)."""
    # Not aiohttp's redirect, which parses an address and writes it anew in its own way.
    return web.Response(status=303, headers={hdrs.LOCATION: address, hdrs.CACHE_CONTROL: "no-store"})


def html_language(request: web.Request, given: str | None) -> Language:
    """The language of a page: the one given, else the one that the browser prefers. Raises Problem."""
    if given is not None:
        return requested_language(given)
    return accepted_language(request.headers.get(hdrs.ACCEPT_LANGUAGE, ""))


def machine_language(given: str | None) -> Language:
    """The language of words for machines: never the browser's, so that one address has one answer. Raises Problem."""
    return languages()[DEFAULT] if given is None else requested_language(given)
