"""Turns exceptions into answers, in the format of the address that was requested; no traceback is sent."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from weboid.core.verdict.report_json import VERSION
from weboid.errors import NotFound, StoreError
from weboid.web.formats import html
from weboid.web.formats.machine_format import SCRIPT_TYPE, payload_format, problem_script
from weboid.web.http.rendered import Rendered
from weboid.web.http.respond import body_of, html_language, machine_language, sent
from weboid.web.request.accept import Format
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.words.language import DEFAULT, languages
from weboid.web.words.messages import Messages, messages_in

log = logging.getLogger(__name__)

_HTTP_KEYS: Final = {405: "method", 400: "request", 413: "too-long", 414: "too-long"}
_REFUSALS: Final = (429, 503)
_HELD_S: Final = 0.05
"""For so long refusals are held back: some callers come again at once (O-8)."""
_SENT: Final = 4
"""Errors made and sent in one turn of the loop, so that answers are made next to them."""
_TYPES: Final = {each: payload_format(each).content_type for each in (Format.JSON, Format.XML)} | {
    Format.HTML: html.CONTENT_TYPE,
    Format.JS: SCRIPT_TYPE,
}
_MOST_SHOWN: Final = 200
"""Characters of an address at which there is nothing."""
ProblemPage = Callable[[web.Request, Problem, Messages], Awaitable[str]]


class Held:
    """Holds each error back for some seconds, then lets a few go on in each turn of the loop, in their order."""

    def __init__(self, held_s: float = _HELD_S, at_once: int = _SENT) -> None:
        self._held_s, self._at_once = held_s, at_once
        self._waiting: deque[tuple[float, asyncio.Future[None]]] = deque()

    async def wait(self) -> None:
        """Returns when the caller's time has come."""
        loop = asyncio.get_running_loop()
        due_s, turn = loop.time() + self._held_s, loop.create_future()
        if not self._waiting:
            loop.call_at(due_s, self._go_on)
        self._waiting.append((due_s, turn))
        await turn

    def _go_on(self) -> None:
        loop, waiting = asyncio.get_running_loop(), self._waiting
        for _ in range(self._at_once):
            if waiting and waiting[0][0] <= loop.time() and not (turn := waiting.popleft()[1]).done():
                turn.set_result(None)
        if waiting:
            loop.call_at(waiting[0][0], self._go_on)


@dataclass(frozen=True, slots=True)
class Errors:
    """The middleware that answers when a handler raises; `problem_page` makes the HTML.

    Refusals are rendered once a second for all who ask for the same address. Errors take no lane: a few go a turn.
    """

    problem_page: ProblemPage
    _rendered: Rendered = field(default_factory=Rendered)
    _held: Held = field(default_factory=Held)
    _paced: Held = field(default_factory=lambda: Held(held_s=0.0))

    @property
    def middleware(self) -> Middleware:
        """The middleware to install."""

        @web.middleware
        async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                return await handler(request)
            except Exception as error:
                problem = _problem_of(error, request)
                if problem.http == 500:
                    log.error("an answer to %r failed", request.path, exc_info=error)
                error.__traceback__ = None  # it holds the request, which holds the error where there is no such address
                await (self._held if problem.http in _REFUSALS else self._paced).wait()
                return await self._answer_to(request, problem, error)

        return errors

    async def _answer_to(self, request: web.Request, problem: Problem, error: Exception) -> web.Response:
        if request.writer.output_size > 0:
            # An answer that has been sent in part can only be broken off: an error would be in the middle of a file.
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
        requested = format_of(request)
        try:
            code = request.query.get("lang") or request.query.get("uselang")
            language = html_language(request, code) if requested is Format.HTML else machine_language(code)
        except Problem:
            language = languages()[DEFAULT]
        written = Format.JSON if requested is Format.CSV else requested
        key = (problem.key, problem.parameters, written, language.code, request.raw_path)
        body = self._rendered.find(key) if problem.http in _REFUSALS else None
        if body is None:
            text = await self._written(request, problem, written, messages_in(language))
            body = self._rendered.keep(key, text) if problem.http in _REFUSALS else body_of(text)
        return sent(request, body, _TYPES[written], http=problem.http, cache="no-store")

    async def _written(self, request: web.Request, problem: Problem, written: Format, say: Messages) -> str | bytes:
        if written is Format.HTML:
            return await self.problem_page(request, problem, say)
        payload = _payload_of(problem, say)
        return problem_script(payload) if written is Format.JS else payload_format(written).text(payload)


def _payload_of(problem: Problem, say: Messages) -> dict[str, Any]:
    text = say.text(problem.key, *problem.parameters)
    return {"version": VERSION, "error": {"key": problem.key, "text": text}}


def _problem_of(error: Exception, request: web.Request) -> Problem:
    """The problem to report for an exception. If the caller has gone, a broken connection is not an error of ours."""
    has_gone = request.transport is None or request.transport.is_closing()
    match error:
        case Problem():
            return error
        case NotFound():
            return Problem(404, "unknown-wiki", str(error))
        case StoreError():
            return Problem(503, "store")
        case web.RequestPayloadError() | ConnectionError() if has_gone:
            return Problem(400, "request")
        case web.HTTPNotFound():
            return Problem(404, "no-such-address", request.path[:_MOST_SHOWN])
        case web.HTTPException() if error.status in _HTTP_KEYS:
            return Problem(error.status, _HTTP_KEYS[error.status])
        case web.HTTPException() if error.status < 500:
            return Problem(error.status, "request")
    return Problem(500, "ours")
