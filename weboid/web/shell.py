"""What stands around every answer: security headers, languages and formats of errors, ETags (W-12, issue 5's shell).

One law: whatever happens inside, what goes out has these headers and no trace of our code.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from weboid.errors import NotFound, StoreError
from weboid.web import form_js, form_json, form_xml
from weboid.web.document import problem_document
from weboid.web.language import DEFAULT, Language, accepted_language, languages, requested_language
from weboid.web.messages import Messages, messages_in
from weboid.web.problem import Problem

log = logging.getLogger(__name__)


class Form(StrEnum):
    """The formats of answers."""

    HTML = "html"
    JSON = "json"
    XML = "xml"
    JS = "js"


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
"""For answers to machines: they hold nothing that depends on who asks."""

_WORTH_COMPRESSING: Final = 1_400
_HTTP_KEYS: Final = {404: "no-such-address", 405: "method", 400: "request", 413: "too-long", 414: "too-long"}
ProblemPage = Callable[[web.Request, Problem, Messages], Awaitable[str]]


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """A signal of aiohttp: all answers pass here, its own included."""
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
    """A body with its ETag, or 304 if the caller has it already. ``no-cache`` = keep it, but ask before using it;
    ``no-store`` = never keep it: no ETag then, and no compression, which could tell what is in a page (BREACH)."""
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


def html_language(request: web.Request, given: str | None) -> Language:
    """The language of a page: as asked for, else as the browser prefers. Raises Problem."""
    if given is not None:
        return requested_language(given)
    return accepted_language(request.headers.get(hdrs.ACCEPT_LANGUAGE, ""))


def machine_language(given: str | None) -> Language:
    """The language of words for machines: never the browser's, so that one address has one answer. Raises Problem."""
    return languages()[DEFAULT] if given is None else requested_language(given)


@dataclass(frozen=True, slots=True)
class Errors:
    """Turns whatever was raised into an answer in the format of the address that was asked."""

    problem_page: ProblemPage
    form_of: Callable[[web.Request], Form]

    @property
    def middleware(self) -> Middleware:
        """The middleware to install."""

        @web.middleware
        async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                return await handler(request)
            except Exception as error:
                return await self._told(request, error)

        return errors

    async def _told(self, request: web.Request, error: Exception) -> web.Response:
        problem = _problem_of(error, has_gone=request.transport is None or request.transport.is_closing())
        if problem.http == 500:
            log.error("an answer to %r failed", request.path, exc_info=error)
        if request.writer.output_size > 0:
            # What has begun to go out can only be broken off: an error would stand in the midst of a file.
            raise ConnectionResetError("a part of the answer has been sent already") from error
        response = await self._response(request, problem)
        if isinstance(error, web.HTTPMethodNotAllowed):
            response.headers[hdrs.ALLOW] = ", ".join(sorted(error.allowed_methods))
        if problem.http == 401:
            response.headers[hdrs.WWW_AUTHENTICATE] = 'Bearer realm="Weboid", error="invalid_token"'
        if retry_s := problem.retry_s or (30 if problem.http == 503 else 0):
            response.headers[hdrs.RETRY_AFTER] = str(retry_s)
        return response

    async def _response(self, request: web.Request, problem: Problem) -> web.Response:
        form = self.form_of(request)
        try:
            code = request.query.get("lang") or request.query.get("uselang")
            language = html_language(request, code) if form is Form.HTML else machine_language(code)
        except Problem:
            language = languages()[DEFAULT]
        say = messages_in(language)
        body: str | bytes
        match form:
            case Form.HTML:
                body, kind = await self.problem_page(request, problem, say), "text/html"
            case Form.JSON:
                body, kind = form_json.text_of(problem_document(problem, say)), form_json.CONTENT_TYPE
            case Form.XML:
                body, kind = form_xml.bytes_of(problem_document(problem, say)), form_xml.CONTENT_TYPE
            case Form.JS:
                body, kind = form_js.problem_text(problem_document(problem, say)), form_js.CONTENT_TYPE
        return sent(request, body, kind, http=problem.http, cache="no-store")


def _problem_of(error: Exception, *, has_gone: bool) -> Problem:
    """What is told of an exception. If the caller has gone, broken connections are theirs."""
    match error:
        case Problem():
            return error
        case NotFound():
            return Problem(404, "unknown-wiki", str(error))
        case StoreError():
            log.warning("%s", error)
            return Problem(503, "store")
        case web.RequestPayloadError() | ConnectionError() if has_gone:
            return Problem(400, "request")
        case web.HTTPException() if error.status in _HTTP_KEYS:
            return Problem(error.status, _HTTP_KEYS[error.status])
        case web.HTTPException() if error.status < 500:
            return Problem(error.status, "request")
    return Problem(500, "ours")
