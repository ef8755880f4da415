"""The links of pages, in all formats: for people, for gadgets, for programs (W-1, W-3, W-4, W-8).

A handler reads parameters, gets the answer from `Answers` and passes it to a format; it knows neither SQL nor markup.
"""

from collections.abc import Callable, Hashable

from aiohttp import hdrs, web

from weboid.core.verdict.link_report import Extent
from weboid.web.answer.answers import PageAnswer
from weboid.web.answer.payload import payload_of
from weboid.web.formats import html, javascript, json, xml
from weboid.web.http.cache import CACHE_CONTROL, FREE, AnswerCache
from weboid.web.http.respond import sent
from weboid.web.pages.page_view import answer_html
from weboid.web.pages.start import StartPage
from weboid.web.request.accept import Format
from weboid.web.request.parameters import (
    Parameters,
    at_of,
    callback_of,
    copied_of,
    extent_of,
    page_query_of,
    verdicts_of,
)
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.service import Service, given_in, html_words, machine_words


class LinksPage:
    """The handlers. A request that names no page at all gets the start page."""

    def __init__(self, service: Service, start: StartPage) -> None:
        self._service = service
        self._start = start
        self._kept = AnswerCache()

    async def link_info(self, request: web.Request) -> web.Response:
        """W-3 and W-4: the links of a page as HTML, with the form."""
        given = given_in(request)
        extent_of(given, Extent.FINDINGS)
        if not given.keys() - {"lang", "uselang", "all"}:
            return await self._start.page(request)
        return await self._html(request, given)

    async def link_problem(self, request: web.Request) -> web.Response:
        """W-1: one call with the dead links of a page."""
        given = given_in(request)
        callback, say, source = callback_of(given), machine_words(given), self._service.source
        # `all` and `verdict` are for the other formats: this call runs inside a page and has dead links only.
        return await self._kept_or_made(
            request,
            given,
            (say.language.code, callback),
            javascript.CONTENT_TYPE,
            lambda answer: javascript.text_of(payload_of(answer, Extent.DEAD, say, source), callback).encode(),
        )

    async def api(self, request: web.Request) -> web.Response:
        """W-8: pages by id or title, in the format that the request wants."""
        given = given_in(request)
        wanted = format_of(request)
        verdicts, copied = verdicts_of(given), copied_of(given)
        extent = extent_of(given, Extent.DEAD if wanted is Format.JSON else Extent.FINDINGS)
        if wanted is Format.HTML:
            return await self._html(request, given, vary="Accept, Accept-Language")
        say, source = machine_words(given), self._service.source

        def made(answer: PageAnswer) -> bytes:
            payload = payload_of(answer, extent, say, source, verdicts, copied)
            return xml.bytes_of(payload) if wanted is Format.XML else json.text_of(payload).encode()

        variant = (say.language.code, extent, verdicts, copied)
        kind = xml.CONTENT_TYPE if wanted is Format.XML else json.CONTENT_TYPE
        return await self._kept_or_made(request, given, variant, kind, made, vary="Accept")

    async def _html(self, request: web.Request, given: Parameters, vary: str = "Accept-Language") -> web.Response:
        say, source = html_words(request, given), self._service.source
        answer = await self._found(given)
        page = answer_html(answer, await self._service.wiki_names(), given, say, source)
        return sent(request, page, html.CONTENT_TYPE, vary=vary)

    async def _kept_or_made(
        self,
        request: web.Request,
        given: Parameters,
        variant: tuple[Hashable, ...],
        kind: str,
        made: Callable[[PageAnswer], bytes],
        *,
        vary: str = "",
    ) -> web.Response:
        """The answer for programs, which may come from the cache if the revision is given (W-10).

        `variant` is what the answer depends on in addition to the query, the content type and the day.
        """
        query = page_query_of(given)
        key = (query, at_of(given), variant, kind, self._service.today())
        if query.revision is not None and (kept := self._kept.find(key)) is not None:
            request[FREE] = True
            body, age_s = kept
            response = sent(request, body, kind, cache=CACHE_CONTROL, vary=vary)
            response.headers[hdrs.AGE] = str(age_s)
            return response
        answer = await self._found(given)
        body = made(answer)
        if query.revision is None or not answer.is_of(query.revision):
            return sent(request, body, kind, vary=vary)
        self._kept.keep(key, body)
        return sent(request, body, kind, cache=CACHE_CONTROL, vary=vary)

    async def _found(self, given: Parameters) -> PageAnswer:
        at = at_of(given)
        answer = await self._service.answers.find_answer(page_query_of(given))
        if not answer.pages:
            raise Problem(404, "unknown-page", ", ".join(answer.missing), given["dbname"])
        return answer if at is None else answer.cited_on(at)
