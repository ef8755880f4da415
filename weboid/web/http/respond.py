"""The common features of answers: security headers, languages, ETags, compression (W-12).

Every answer has the security headers, whatever happens inside, and shows nothing of our code.
"""

import zlib
from hashlib import sha256
from typing import Final, NamedTuple

from aiohttp import hdrs, web
from isal import isal_zlib

from weboid.web.http.page_script import SOURCE
from weboid.web.request.accept import first_coding
from weboid.web.words.language import (
    DEFAULT,
    Language,
    accepted_language,
    languages,
    requested_language,
    shown_language,
)

HEADERS: Final = {
    "Content-Security-Policy": (
        f"default-src 'none'; script-src {SOURCE}; connect-src 'self'; style-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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
"""Headers of answers for programs, which hold nothing that depends on the caller (D-45)."""

_WORTH_COMPRESSING: Final = 1_400
LARGE: Final = 3 << 18
"""Bytes: larger bodies, those of more than 500 links, are compressed in a thread."""
_CODINGS: Final = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
"""With zlib's windows; the first one that a caller accepts is taken: .NET of 2020 read deflate without its header."""


class SharedBody(NamedTuple):
    """A body that is sent to many, its bare ETag, and its compressed bodies by coding, as far as one was requested."""

    data: bytes
    tag: str
    packed: dict[str, bytes]


def body_of(text: str | bytes) -> SharedBody:
    """The body that has this text."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return SharedBody(data, tag_of(data), {})


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Adds the headers; to be connected to aiohttp's signal for all responses, including its own errors."""
    response.headers.update(HEADERS)


def sent(
    request: web.Request,
    body: str | bytes | SharedBody,
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
    data, tag, packed = body if isinstance(body, SharedBody) else body_of(body)
    headers: dict[str, str] = {
        hdrs.CONTENT_TYPE: _typed(content_type),
        hdrs.CACHE_CONTROL: cache,
        hdrs.VARY: f"Accept-Encoding, {vary}" if vary else "Accept-Encoding",
    }
    if content_type != "text/html":
        headers |= OPEN_TO_ALL
    is_compressed = http == 200 and cache != "no-store" and len(data) >= _WORTH_COMPRESSING
    if request.method == hdrs.METH_POST and cache != "no-store":
        # A sender of a form has nothing to compare with, and no cache may answer the next one.
        headers[hdrs.CACHE_CONTROL] = "no-cache"
        is_compressed &= content_type != "text/html"
    elif http == 200 and cache != "no-store":
        # Weak, because the same answer may be sent compressed or not.
        headers[hdrs.ETAG] = f'W/"{tag}"'
        if has_tag(request, tag):
            del headers[hdrs.CONTENT_TYPE]
            return web.Response(status=304, headers=headers)
        is_compressed &= request.method == hdrs.METH_GET
    response = web.Response(status=http, body=data, headers=headers, zlib_executor_size=LARGE)
    if is_compressed and (coding := coding_of(request)):
        _compress(response, data, coding, packed)
    return response


def _typed(content_type: str) -> str:
    """The header Content-Type: with the charset, where it is text."""
    if content_type.startswith(("text/", "application/")):
        return f"{content_type}; charset=utf-8"
    return content_type


def coding_of(request: web.Request) -> str | None:
    """The coding in which an answer to the request may be compressed."""
    return first_coding(request.headers.get(hdrs.ACCEPT_ENCODING, ""), _CODINGS)


def _compress(response: web.Response, data: bytes, coding: str, packed: dict[str, bytes]) -> None:
    """Compresses the body by that coding, quickly, as most answers are made for one caller: in a sixth of the time of
    zlib's quickest level, to as few bytes. Large ones are left to aiohttp's threads.
    """
    if len(data) > LARGE:
        response.enable_compression(web.ContentCoding(coding))
        return
    if (body := packed.get(coding)) is None:
        body = packed[coding] = isal_zlib.compress(data, wbits=_CODINGS[coding])
    response.body = body
    response.headers[hdrs.CONTENT_ENCODING] = coding


def has_tag(request: web.Request, tag: str) -> bool:
    """True if the caller has the answer with this bare ETag already."""
    return any(known.value in (tag, "*") for known in request.if_none_match or ())


def tag_of(body: bytes) -> str:
    """The bare ETag of a body."""
    return sha256(body).hexdigest()[:32]


def see_other(address: str) -> web.Response:
    """The answer to a form that was sent: a redirect to an address of this service (303)."""
    # Not aiohttp's redirect, which parses an address and writes it anew in its own way.
    return web.Response(status=303, headers={hdrs.LOCATION: address, hdrs.CACHE_CONTROL: "no-store"})


def html_language(request: web.Request, given: str | None) -> Language:
    """The language of a page: that which is shown for the one given or for the one that the browser prefers.

    Raises Problem.
    """
    if given is not None:
        return shown_language(requested_language(given))
    return shown_language(accepted_language(request.headers.get(hdrs.ACCEPT_LANGUAGE, "")))


def machine_language(given: str | None) -> Language:
    """The language of words for machines: never the browser's, so that one address has one answer. Raises Problem."""
    return languages()[DEFAULT] if given is None else requested_language(given)
