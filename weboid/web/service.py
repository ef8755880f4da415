"""The services that all handlers share, and functions that make answers of values."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import hdrs, web

from weboid.core.record.policy import Policy
from weboid.core.url.farms import WikiName
from weboid.core.verdict.link_report import LinkReport, PageReport, link_report
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import NOTHING_SAID, OfWiki
from weboid.errors import NotFound
from weboid.store.db.pool import Pool
from weboid.store.db.rows import KnownUrl
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.answers import Answers
from weboid.web.answer.lookup import watched_link
from weboid.web.answer.page import payload_head
from weboid.web.answer.report import PageAnswer
from weboid.web.formats import html
from weboid.web.formats.machine_format import payload_format
from weboid.web.http.cache import AnswerCache
from weboid.web.http.rendered import Rendered
from weboid.web.http.respond import html_language, machine_language, sent
from weboid.web.identity.session import Sessions
from weboid.web.repair.repairing import Repairs
from weboid.web.request.accept import Format
from weboid.web.request.cursor import PAGES
from weboid.web.request.fields import fields_of
from weboid.web.request.parameters import (
    MOST_SHOWN,
    Parameters,
    at_of,
    page_query_of,
    parameters_of,
    url_of,
    wiki_of,
    without,
)
from weboid.web.request.problem import Problem
from weboid.web.request.route import Route, format_of, route_of
from weboid.web.request.work import FORMAT, LINKS
from weboid.web.words.language import requested_language
from weboid.web.words.messages import Messages, messages_in

_ERRORS: Final = (Format.HTML, Format.JSON, Format.XML)
"""The formats in which an address for programs may write an error; a script would run in the page that requests it."""


@dataclass(frozen=True, slots=True)
class Service:
    """All that a handler uses in addition to its request, and no state of a request.

    `public_url` is the URL of this service, without a final slash; `source` is the URL of its source code (W-2).
    """

    pool: Pool
    answers: Answers
    policy: Policy
    today: Callable[[], int]
    public_url: str
    source: str
    wiki_names: Callable[[], Awaitable[Sequence[str]]]
    sessions: Sessions
    kept: AnswerCache
    repairs: Repairs
    rendered: Rendered = field(default_factory=Rendered)

    async def named(self, given: Parameters) -> Parameters:
        """The parameters with the wiki and the page by their own names, however somebody wrote them (W-3): a wiki by
        its domain, in any case, or without its farm; both by the address of the page. What names nothing stays.
        """
        found = await self.answers.wikis.named(given.get("dbname", ""), given.get("title", ""))
        if found is None:
            return given
        if found.page or found.title:
            given = without(given, "title", "pageid", "curid")
        page = {"pageid": found.page} if found.page else {"title": found.title} if found.title else {}
        return {**given, "dbname": str(found.wiki), **page}

    async def find_wiki(self, given: Parameters) -> tuple[WikiName, StoredWiki]:
        """The wiki that a request names; raises Problem or NotFound."""
        name = wiki_of(await self.named(given))
        wiki, _ = await self.answers.wikis.find(name)
        return name, wiki

    async def find_members(self, wiki: StoredWiki, category: str) -> tuple[tuple[int, ...], bool]:
        """The first pages of a category by id, as its wiki listed them, and whether it has others; raises Problem."""
        if (members := await self.answers.live.list_first_members(wiki, category)) is None:
            raise Problem(503, "wiki-silent")
        return tuple(page for page in members.pages if page in PAGES), bool(members.place)

    async def find_link(self, request: web.Request, given: Parameters) -> tuple[PageAnswer, PageReport, LinkReport]:
        """The one link of the one page that a request names, in the answer about that part of the page (W-5, U-9).

        Raises Problem (400, 404, 503) and NotFound.
        """
        url, query, at = url_of(given), page_query_of(given), at_of(given)
        if len(query.ids) + len(query.titles) > 1:
            raise Problem(400, "too-many", 1)
        answer, request[LINKS] = await self.answers.find_link(query, url)
        if not answer.pages:
            raise Problem(404, "unknown-page", ", ".join(answer.missing), given["dbname"])
        answer = answer if at is None else answer.cited_on(at)
        for link in answer.pages[0].links:
            if link.normal == str(url):
                return answer, answer.pages[0], link
        raise Problem(404, "not-on-page", str(url)[:MOST_SHOWN])

    async def is_for_reader(self, request: web.Request, given: Parameters) -> bool:
        """True if the page about a URL is shown at once (W-5): to people who come from a page of ours, have sent a form
        of ours or signed in, and to all who name a page that has the link, as the gadget's card does."""
        if await self.sessions.is_interactive(request):
            return True
        if not {"dbname", "pageid"} <= given.keys():
            return False
        try:
            await self.find_link(request, await self.named(given))
        except (Problem, NotFound):
            return False
        return True

    def report(self, known: KnownUrl, settings: OfWiki = NOTHING_SAID) -> LinkReport:
        """The link report of a URL in the store, in its normal form; `settings` are what the wiki at hand says."""
        rules = rules_of(settings, self.policy)
        return link_report(watched_link(known.url), known, rules, services=self.answers.services)

    def head(self, day: int, say: Messages) -> dict[str, Any]:
        """The first keys of a payload, as in `payload_head`."""
        return payload_head(self.source, day, say)

    async def html(
        self, request: web.Request, template: str, given: Parameters, say: Messages, **values: Any
    ) -> web.Response:
        """A page for people, from a template and its values."""
        page = html.render(template, say, given, self.source, await self.wiki_names(), **values)
        return sent(request, page, html.CONTENT_TYPE, vary="Accept-Language")

    async def shared_html(
        self,
        request: web.Request,
        template: str,
        given: Parameters,
        find: Callable[[Messages], Awaitable[dict[str, Any]]],
    ) -> web.Response:
        """A page that is the same for all who ask with these parameters in a language, rendered once a second at most;
        `find` gives the template's values."""
        say = html_words(request, given)
        key = (template, say.language.code, tuple(given.items()))
        if (page := self.rendered.find(key)) is None:
            values = await find(say)
            page = self.rendered.keep(
                key, html.render(template, say, given, self.source, await self.wiki_names(), **values)
            )
        return sent(request, page, html.CONTENT_TYPE, vary="Accept-Language")

    async def form_html(
        self,
        request: web.Request,
        template: str,
        given: Parameters,
        say: Messages,
        refused: Problem | None = None,
        **values: Any,
    ) -> web.Response:
        """A page for this reader alone, which no cache may keep: one with a form token, or with what they may do.

        `refused` is the reason why a form that was sent had no effect; the template shows it in words.
        """
        values["refused"] = None if refused is None else html.problem_words(refused, say)
        page = html.render(template, say, given, self.source, await self.wiki_names(), **values)
        response = sent(request, page, html.CONTENT_TYPE, cache="no-store", vary="Accept-Language, Cookie")
        if refused is not None:
            response.set_status(refused.http)
            if refused.retry_s:
                response.headers[hdrs.RETRY_AFTER] = str(refused.retry_s)
        return response

    async def posted(self, request: web.Request, purpose: str) -> Parameters:
        """The fields of a form that was sent, of those that its route takes; raises Problem as `Sessions.posted`."""
        return await self.sessions.posted(request, purpose, _route(request).fields)

    def send_payload(
        self, request: web.Request, payload: dict[str, Any], *, http: int = 200, cache: str = "no-cache"
    ) -> web.Response:
        """An answer with a payload for programs, in the format that the request wants."""
        writer = payload_format(format_of(request))
        return sent(request, writer.text(payload), writer.content_type, http=http, cache=cache, vary="Accept")


class ServiceHandlers:
    """Handlers of requests that need the service alone."""

    def __init__(self, service: Service) -> None:
        self._service = service


def given_in(request: web.Request, fields: Sequence[tuple[str, str]] = ()) -> Parameters:
    """The parameters of a request that its route takes, from its address and from these fields.

    Raises Problem, also for a format that the route does not offer.
    """
    route = _route(request)
    length = len(request.rel_url.raw_query_string)
    names = route.parameters | route.tolerated | (route.fields if fields else frozenset())
    given = parameters_of([*request.query.items(), *fields], length, names)
    if "format" not in route.tolerated and (requested := given.get("format") or request.query.get("format")):
        if requested in route.formats.offered or (route.is_open and requested in _ERRORS):
            request[FORMAT] = Format(requested)
        if requested not in route.formats.offered:
            raise Problem(400, "format", ", ".join(route.formats.offered))
    return given


async def given_or_sent(request: web.Request) -> Parameters:
    """The parameters of a request for programs: those of its address, and of a form.

    Raises Problem, as `given_in` and `fields_of`.
    """
    is_form = request.method == hdrs.METH_POST and request.body_exists
    return given_in(request, await fields_of(request) if is_form else ())


def html_words(request: web.Request, given: Parameters) -> Messages:
    """The messages of a page: in the language that is given, else in the browser's. Raises Problem."""
    return messages_in(html_language(request, _code(given)))


def machine_words(given: Parameters) -> Messages:
    """The messages of a payload: in the language that is given, else in English. Raises Problem."""
    return messages_in(machine_language(_code(given)))


def _route(request: web.Request) -> Route:
    route = route_of(request)
    assert route is not None, "every handler is bound to a route"
    return route


def _code(given: Parameters) -> str | None:
    """The language that is given: `lang` goes before `uselang`. Raises Problem if either is no code at all."""
    codes = [given[name] for name in ("lang", "uselang") if name in given]
    for code in codes:
        requested_language(code)
    return codes[0] if codes else None
