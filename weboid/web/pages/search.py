"""The search for external links by an address or a pattern, and for the pages of one wiki that use them (W-5).

It is for people only: the first search of a reader comes as a form of ours; then each has an address to share, which
shows others the form filled in. The answer shows no pages but those of the wiki that was named (P-1).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never

from aiohttp import web

from weboid.config import Config
from weboid.core.url.farms import WikiName
from weboid.core.url.patterns import MOST, MOST_WILDCARDS, Unfit, UnfitPattern, UrlPattern, parse_pattern
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import NOTHING_SAID, OfWiki
from weboid.errors import NotFound
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.lists.search import Matches, SearchSpot, list_matches
from weboid.store.pages.wiki import StoredWiki
from weboid.web.formats import html
from weboid.web.formats.link_view import link_view
from weboid.web.http.lanes import lanes_of
from weboid.web.request.cursor import INT64, Cursor
from weboid.web.request.parameters import LANGUAGE, MOST_SHOWN, Parameters, copied_of, namespace_of, only, without
from weboid.web.request.problem import Problem
from weboid.web.request.route import Lane
from weboid.web.service import Service, given_in, html_words
from weboid.web.words.messages import Messages
from weboid.wiki.criteria import numbers

ROWS: Final = 50
"""URLs in one answer."""

_PURPOSE: Final = "search"
_VERDICTS: Final = {verdict.word: verdict for verdict in (Verdict.WORKING, Verdict.DEAD, Verdict.DOUBTFUL)}
_SPOT: Final = Cursor(INT64, text="[a-zA-Z0-9._-]{1,260}")
"""A key of a URL, and its host in reverse."""
_MAIN: Final = frozenset({0})


@dataclass(frozen=True, slots=True)
class _SearchQuery:
    """A pattern with its conditions; `namespaces` are those of the wiki `name`."""

    pattern: UrlPattern
    verdict: Verdict | None
    copied: bool | None
    name: WikiName | None
    wiki: StoredWiki | None
    namespaces: Collection[int]
    after: SearchSpot | None


class SearchPage:
    def __init__(self, service: Service, content: Mapping[WikiName, Collection[int]]) -> None:
        self._service = service
        self._content = content

    async def form(self, request: web.Request) -> web.Response:
        """The form, filled in from the address; with what matches for people who have sent a form of ours before, as an
        address to share."""
        given = given_in(request)
        is_document = request.headers.get("Sec-Fetch-Dest", "document") == "document"
        if "pattern" in given and is_document and await self._service.sessions.is_interactive(request):
            async with lanes_of(request).turn(request, Lane.SEARCH):
                return await self._answer(request, given)
        return await self._html(request, given, html_words(request, given))

    async def found(self, request: web.Request) -> web.Response:
        """The URLs that match, and the form again."""
        given = await self._service.posted(request, _PURPOSE)
        await self._service.sessions.note_interactive(request)
        return await self._answer(request, given)

    async def _answer(self, request: web.Request, given: Parameters) -> web.Response:
        service, say = self._service, html_words(request, given)
        try:
            search = await self._search_query(given)
        except (Problem, NotFound) as error:
            problem = error if isinstance(error, Problem) else Problem(404, "unknown-wiki", str(error))
            return await self._html(request, given, say, refused=problem)
        async with service.pool.viewing() as conn:
            settings = NOTHING_SAID if search.wiki is None else await find_settings(conn, search.wiki.wiki)
            matches = await list_matches(
                conn,
                search.pattern,
                verdict=search.verdict,
                copied=search.copied,
                wiki=None if search.wiki is None else search.wiki.wiki,
                namespaces=search.namespaces,
                rules=rules_of(settings, service.policy),
                after=search.after,
                limit=ROWS,
                by_path=True,
            )
        about = only(given, "dbname", *sorted(LANGUAGE))
        views = match_views(matches, service, settings, about, service.today(), say)
        return await self._html(request, given, say, search, matches, views)

    async def _search_query(self, given: Parameters) -> _SearchQuery:
        pattern = _pattern_of(given)
        if given.get("verdict", Verdict.DEAD.word) not in _VERDICTS:
            raise Problem(400, "search-verdict")
        if (copied := copied_of(given)) is not None and given.get("verdict") == Verdict.WORKING.word:
            raise Problem(400, "copy")
        verdict = _VERDICTS[given["verdict"]] if "verdict" in given else None if copied is None else Verdict.DEAD
        name, wiki = await self._service.find_wiki(given) if {"dbname", "namespace"} & given.keys() else (None, None)
        namespaces = self._namespaces_of(given, name)
        return _SearchQuery(pattern, verdict, copied, name, wiki, namespaces, _spot_of(given, pattern))

    def _namespaces_of(self, given: Parameters, name: WikiName | None) -> Collection[int]:
        """The namespace that is given, else all content namespaces: the main one and those watched as a whole."""
        if (namespace := namespace_of(given)) is None:
            return _MAIN if name is None else self._content.get(name, _MAIN)
        return (namespace,)

    async def _html(
        self,
        request: web.Request,
        given: Parameters,
        say: Messages,
        search: _SearchQuery | None = None,
        matches: Matches | None = None,
        found: Sequence[dict[str, Any]] = (),
        refused: Problem | None = None,
    ) -> web.Response:
        after = matches.after if matches else None
        return await self._service.form_html(
            request,
            "search.html",
            given,
            say,
            token=await self._service.sessions.form_token(request, _PURPOSE),
            verdicts=list(_VERDICTS),
            most=MOST,
            refused=refused,
            wiki=None if search is None or search.name is None else str(search.name),
            is_answer=matches is not None,
            found=found,
            next=None if after is None else html.query({**given, "after": _SPOT.text_of(*after)}),
            first=html.query(without(given, "after")) if "after" in given else None,
            share=html.query(without(given, "after")) if matches else None,
        )


def match_views(
    matches: Matches, service: Service, settings: OfWiki, about: Parameters, day: int, say: Messages
) -> list[dict[str, Any]]:
    """The URLs with the pages that use them, as the template ``matches.html`` takes them."""
    return [
        {
            "link": link_view(service.report(match.known, settings), day, say),
            "pages": match.pages,
            "more": match.more,
            "query": html.query({**about, "url": str(match.known.url)}),
        }
        for match in matches.matches
    ]


def content_namespaces(config: Config) -> dict[WikiName, frozenset[int]]:
    """The content namespaces by wiki: the main one, and those of which the configuration watches all pages."""
    return {wiki.name: _MAIN | frozenset(numbers(wiki.matching, "namespaces")) for wiki in config.wikis}


def _pattern_of(given: Parameters) -> UrlPattern:
    if "pattern" not in given:
        raise Problem(400, "no-pattern")
    try:
        return parse_pattern(given["pattern"])
    except UnfitPattern as error:
        raise _problem_of(error, given["pattern"]) from None


def _problem_of(error: UnfitPattern, pattern: str) -> Problem:
    match error.unfit:
        case Unfit.UNREADABLE:
            return Problem(400, "pattern", pattern[:MOST_SHOWN])
        case Unfit.OPEN:
            return Problem(400, "pattern-open")
        case Unfit.WIDE:
            return Problem(400, "domain-wide", error.part)
        case Unfit.ADDRESS:
            return Problem(400, "pattern-address")
        case Unfit.WILDCARDS:
            return Problem(400, "pattern-wildcards", MOST_WILDCARDS)
        case Unfit.LONG:
            return Problem(400, "pattern-long", MOST)
    assert_never(error.unfit)


def _spot_of(given: Parameters, pattern: UrlPattern) -> SearchSpot | None:
    """The place where the list continues; raises Problem for one that the pattern cannot match."""
    parts = _SPOT.parts_in(given, fits=lambda host: pattern.first <= host < pattern.end)
    if parts is None:
        return None
    (key,), host = parts
    return SearchSpot(key, host)
