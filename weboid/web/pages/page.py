"""The links of pages, in all formats: for people, for gadgets, for programs (W-1, W-3, W-4, W-8).

A handler reads parameters, takes the answer through the stages of `Answers` and passes it to a format.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import hdrs, web

from weboid.core.verdict.link_report import Extent
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.slices import Steps, in_slices
from weboid.web.answer.lookup import LookedUp
from weboid.web.answer.page import payload_steps
from weboid.web.answer.query import MANY_LINKS, SelectedLinks
from weboid.web.answer.report import PageAnswer
from weboid.web.formats import html
from weboid.web.formats.machine_format import SCRIPT_TYPE, payload_format, script_steps
from weboid.web.http.cache import CACHE_CONTROL, UNCHECKED_S, Kept
from weboid.web.http.lanes import lanes_of
from weboid.web.http.respond import LARGE, SharedBody, has_tag, sent, tag_of
from weboid.web.pages.link_table import sort_of
from weboid.web.pages.page_view import html_steps
from weboid.web.pages.start import StartPage
from weboid.web.pages.suggested_titles import SuggestedTitles
from weboid.web.request.accept import Format
from weboid.web.request.parameters import (
    MOST_PAGES,
    MOST_SENT,
    LinkFilter,
    PageQuery,
    Parameters,
    at_of,
    callback_of,
    extent_of,
    link_filter_of,
    page_query_of,
)
from weboid.web.request.problem import Problem
from weboid.web.request.route import Lane, address_of, format_of
from weboid.web.request.work import FREE, LINKS, PAGES
from weboid.web.service import Service, given_in, given_or_sent, html_words, machine_words

_MOST_FREE: Final = LARGE
"""Bytes of a kept answer that costs nothing: a larger one is compressed anew each time, which takes milliseconds."""
_MOST_NAMED: Final = 50
"""Pages that a message names."""
_MOST_REMEMBERED: Final = 20_000


@dataclass(frozen=True, slots=True)
class _Rendering:
    """The form of a body: `steps` make it; `variant` is all that it depends on but the query and the day."""

    content_type: str
    extent: Extent
    variant: tuple[Hashable, ...]
    steps: Callable[[PageAnswer], Steps[bytes]]
    vary: str


@dataclass(frozen=True, slots=True)
class _Body:
    """The body of an answer, empty if the caller has it; `found` is what it was made of if it is new."""

    selected: SelectedLinks
    body: SharedBody
    found: LookedUp | None = None


class LinksPage:
    """The handlers. A request that names no page at all gets the start page."""

    def __init__(self, service: Service, start: StartPage, titles: SuggestedTitles) -> None:
        self._service = service
        self._titles = titles
        self._start = start
        self._kept = service.kept
        self._large: BoundedMap[int, bool] = BoundedMap(_MOST_REMEMBERED)
        """By query, in short: whether its last answer was large, and so the next one is from the beginning."""

    async def link_info(self, request: web.Request) -> web.Response:
        """W-3 and W-4: the links of a page as HTML, with the form."""
        given = given_in(request)
        extent_of(given, Extent.FINDINGS)
        if not given.keys() - {"lang", "uselang", "all"}:
            async with lanes_of(request).turn(request, Lane.PAGES):
                return await self._start.page(request)
        return await self._html(request, await self._service.named(given))

    async def by_name(self, request: web.Request) -> web.Response:
        """W-3: the links of a page at an address that can be read and shared, of the names of wiki and page."""
        place = {"dbname": request.match_info["wiki"], "title": request.match_info["title"]}
        given = {**given_in(request), **place}
        return await self._html(request, await self._service.named(given))

    async def link_problem(self, request: web.Request) -> web.Response:
        """W-1: one call with the dead links of a page."""
        given = await self._service.named(given_in(request))
        callback, say, source = callback_of(given), machine_words(given), self._service.source

        def steps(answer: PageAnswer) -> Steps[bytes]:
            # `extent` and filters are for the other formats: this call runs inside a page and has dead links only.
            payload = yield from payload_steps(answer, LinkFilter(Extent.DEAD), say, source)
            return (yield from script_steps(payload, callback))

        rendering = _Rendering(SCRIPT_TYPE, Extent.DEAD, (say.language.code, callback), steps, vary="")
        return await self._kept_or_made(request, given, page_query_of(given), rendering)

    async def api(self, request: web.Request) -> web.Response:
        """W-8: pages by id or title, in the format that the request wants. A form may name more of them, for programs:
        a page for people is continued by addresses, which are too short for so many.
        """
        given = await self._service.named(await given_or_sent(request))
        requested = format_of(request)
        shown = link_filter_of(given, Extent.DEAD if requested is Format.JSON else Extent.FINDINGS)
        if requested is Format.HTML:
            return await self._html(request, given, vary="Accept, Accept-Language")
        writer, say, source = payload_format(requested), machine_words(given), self._service.source

        def steps(answer: PageAnswer) -> Steps[bytes]:
            payload = yield from payload_steps(answer, shown, say, source)
            return (yield from writer.steps(payload))

        verdicts = tuple(sorted(verdict.value for verdict in shown.verdicts))
        variant = (say.language.code, shown.extent, verdicts, shown.copied, shown.reason, shown.repaired)
        rendering = _Rendering(writer.content_type, shown.extent, variant, steps, "Accept")
        query = page_query_of(given, MOST_SENT if request.method == hdrs.METH_POST else MOST_PAGES)
        return await self._kept_or_made(request, given, query, rendering)

    async def _html(self, request: web.Request, given: Parameters, vary: str = "Accept-Language") -> web.Response:
        say, source = html_words(request, given), self._service.source
        query, names = page_query_of(given), await self._service.wiki_names()
        shown = link_filter_of(given, Extent.FINDINGS)
        sort_of(given)  # before the wiki is asked

        def steps(answer: PageAnswer) -> Steps[bytes]:
            return html_steps(answer, shown, names, given, say, source)

        variant = (say.language.code, tuple(sorted(given.items())), tuple(names))
        rendering = _Rendering(html.CONTENT_TYPE, shown.extent, variant, steps, vary)
        try:
            made = await self._made(request, given, query, rendering, None)
        except Problem as problem:
            if problem.http == 404 and query.names == query.titles[:1]:
                name, wiki = await self._service.find_wiki(given)
                titles = await self._titles.list(wiki, query.titles[0])
                problem.near = [(title, address_of("page", wiki=str(name), title=title)) for title in titles]
            raise
        return sent(request, made.body, html.CONTENT_TYPE, vary=vary)

    async def _kept_or_made(
        self, request: web.Request, given: Parameters, query: PageQuery, rendering: _Rendering
    ) -> web.Response:
        """The answer for programs. A kept one may do: if the caller names its revision, or if the wiki has the same
        content as when it was made (W-10).
        """
        content_type, vary = rendering.content_type, rendering.vary
        key = (replace(query, revision=None), at_of(given), rendering.variant, content_type, self._service.today())
        kept = self._kept.find(key)
        if kept is not None and query.revision is not None and kept.revision == query.revision:
            request[FREE] = len(kept.body.data) <= _MOST_FREE or has_tag(request, kept.body.tag)
            async with lanes_of(request).turn(request, Lane.FILES):
                response = sent(request, kept.body, content_type, cache=CACHE_CONTROL, vary=vary)
            response.headers[hdrs.AGE] = str(kept.age_s)
            return response
        position = self._kept.position
        made = await self._made(request, given, query, rendering, kept)
        revision, state = made.selected.revision, made.selected.fingerprint
        if made.found is not None and not made.found.is_late:
            lasts_s = UNCHECKED_S if made.found.has_unchecked else None
            self._kept.keep(key, *made.body[:2], made.found.watched, position, revision, state, lasts_s)
        cache = CACHE_CONTROL if query.revision is not None and query.revision == revision else "no-cache"
        return sent(request, made.body, content_type, cache=cache, vary=vary)

    async def _made(
        self, request: web.Request, given: Parameters, query: PageQuery, rendering: _Rendering, kept: Kept | None
    ) -> _Body:
        """The body of an answer, which is not made if the caller has it or it is `kept`; raises Problem."""
        answers, lanes, number = self._service.answers, lanes_of(request), hash((query.wiki, query.names))
        lane = Lane.LARGE if kept is None and self._large.get(number) else Lane.PAGES

        async def enter_large() -> None:
            self._large[number] = True
            await lanes.enter(request, Lane.LARGE)

        async with lanes.turn(request, lane):
            selected = await answers.select(query, enter_large if lane is Lane.PAGES else None)
            if request.method == hdrs.METH_POST:
                request[PAGES] = max(selected.names, 1) if query.is_for_store else len(query.names)
            if selected.is_empty:
                if selected.is_silent:
                    raise Problem(503, "wiki-silent")
                missing = [*selected.missing[:_MOST_NAMED], *(["…"] if len(selected.missing) > _MOST_NAMED else [])]
                raise Problem(404, "unknown-page", ", ".join(missing), given["dbname"])
            if kept is not None and kept.state == selected.fingerprint:
                request[LINKS] = selected.links
                answers.notify_feeder(selected)
                return _Body(selected, kept.body)
            self._large[number], request[LINKS] = selected.links > MANY_LINKS, selected.links
            return await self._new(request, selected, rendering, at_of(given))

    async def _new(self, request: web.Request, selected: SelectedLinks, rendering: _Rendering, at: int | None) -> _Body:
        """The body with these links, which is not made if the caller has it."""
        answers = self._service.answers
        found = await answers.look_up(selected, rendering.extent)
        made_of = (self._service.source, answers.setup, rendering.content_type, rendering.variant, at)
        tag = await in_slices(found.version(*made_of))
        if tag is not None and has_tag(request, tag):
            return _Body(selected, SharedBody(b"", tag, {}))
        # Nobody else holds the answer: its memory is given back in the turn in which the body is done.
        body = await in_slices(rendering.steps(await answers.report(found, rendering.extent, at)))
        return _Body(selected, SharedBody(body, tag or tag_of(body), {}), found)
