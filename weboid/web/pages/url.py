"""The page of one URL: all that is known of it, and the pages that use it (W-5, W-7, L-8).

It is for people only, who prove it once by sending a form of ours. A program gets a URL only as a link of a page that
has it, and the pages that are shown are never those of another farm (P-1).
"""

from typing import Any, Final

from aiohttp import web

from weboid.core.url.classify import Classified, UrlClass
from weboid.core.url.farms import WikiName
from weboid.core.url.keys import key_of
from weboid.core.verdict.link_report import Extent, LinkReport, cited_on, link_report
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.settings import NOTHING_SAID
from weboid.mechanism.slices import in_slices
from weboid.store.lists.links import UsingPage, list_uses
from weboid.store.urls.url import find_urls
from weboid.web.answer.page import payload_steps
from weboid.web.formats import html
from weboid.web.formats.bar_chart import WIDTH, bars_of
from weboid.web.formats.link_view import link_view
from weboid.web.pages.url_copies import copies_view, find_about_copies
from weboid.web.pages.url_form import UrlForm
from weboid.web.request.cursor import PAGES, Cursor
from weboid.web.request.parameters import MOST_SHOWN, LinkFilter, Parameters, at_of, url_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of
from weboid.web.service import Service, given_in, html_words, machine_words
from weboid.web.words import phrases
from weboid.web.words.messages import Messages

_CURSORS: Final = ("after", "spamafter")
_PLACES: Final = 100
_CURSOR: Final = Cursor(PAGES, PAGES)
"""A wiki and a page."""


class UrlPage:
    def __init__(self, service: Service) -> None:
        self._service = service
        self.look = UrlForm(service, "url", "url", "weboid-url-title", "weboid-url-ask")

    async def page(self, request: web.Request) -> web.Response:
        """One URL, for people."""
        # Browsers declare requests of scripts by this header; people come by following a link.
        if request.headers.get("Sec-Fetch-Dest", "document") != "document":
            raise Problem(403, "interactive", address_of("api-url"))
        given = given_in(request)
        say = html_words(request, given)
        url = url_of(given)
        at = at_of(given)
        after, spam_after = _cursor_of(given, "after"), _cursor_of(given, "spamafter")
        if not await self._service.is_for_reader(request, given):
            return await self.look.page(request, given)
        service, key, day = self._service, key_of(url), self._service.today()
        name, wiki = await service.find_wiki(given) if "dbname" in given else (None, None)
        async with service.pool.viewing() as conn:
            known = (await find_urls(conn, [key])).get(key)
            about = None if known is None else await find_about_copies(conn, known, wiki)
            is_untried = known is not None and not known.record.history
            hints = await service.answers.hints.of_host(conn, url, key, day) if is_untried else ()
            uses: list[UsingPage] = []
            spam: list[UsingPage] = []
            if wiki is not None:
                uses = await list_uses(conn, key, wiki, after=after, limit=_PLACES + 1)
                spam = await list_uses(conn, key, wiki, as_spam=True, after=spam_after, limit=_PLACES + 1)
        if known is None and not spam:
            raise Problem(404, "unknown-url", str(url)[:MOST_SHOWN])
        if known is None:
            report = link_report(Classified(str(url), UrlClass.WATCHED, url), spam=True)
        else:
            report = service.report(known, NOTHING_SAID if about is None else about.settings)
        if report.finding.verdict is Verdict.UNKNOWN:
            report = report._replace(hints=hints)
        if at is not None:
            report = cited_on(report, at)
        values: dict[str, Any] = {
            "link": link_view(report, day, say),
            "more": _more(report, day, say),
            **copies_view(report, about, day, say),
            "orphaned": None if known is None or known.orphaned is None else html.time_html(known.orphaned, day, say),
            "query": html.query({**{name: given[name] for name in given if name not in _CURSORS}, "url": str(url)}),
            "form": phrases.visible(given["url"]) if given["url"] != str(url) else None,
            "wiki": None if name is None else str(name),
            "uses": _views(uses, name),
            "spam": _views(spam, name),
            "uses_next": _next(given, "after", uses),
            "spam_next": _next(given, "spamafter", spam),
        }
        return await service.form_html(request, "url.html", given, say, **values)

    async def api(self, request: web.Request) -> web.Response:
        """One link of a page that has it, for programs; any other URL is refused (W-5)."""
        given = await self._service.named(given_in(request))
        say = machine_words(given)
        answer, _, link = await self._service.find_link(request, given)
        payload = await in_slices(payload_steps(answer, LinkFilter(Extent.ALL), say, self._service.source))
        page = payload["pages"][0]
        page["links"] = [each for each in page["links"] if each["normal"] == link.normal]
        return self._service.send_payload(request, payload)


def _cursor_of(given: Parameters, name: str) -> tuple[int, int] | None:
    if (parts := _CURSOR.parts_in(given, name)) is None:
        return None
    wiki, page = parts.numbers
    return wiki, page


def _views(found: list[UsingPage], name: WikiName | None) -> list[dict[str, Any]]:
    """The pages by wiki, in the order of the list."""
    wikis: dict[str, list[UsingPage]] = {}
    for place in found[:_PLACES]:
        wikis.setdefault(place.dbname, []).append(place)
    farm = "" if name is None else name.farm
    return [{"name": str(WikiName(dbname, farm)), "pages": places} for dbname, places in wikis.items()]


def _next(given: Parameters, name: str, found: list[UsingPage]) -> str | None:
    """The query for the next pages, None if there are no more."""
    if len(found) <= _PLACES:
        return None
    last = found[_PLACES - 1]
    return html.query({**given, name: _CURSOR.text_of(last.wiki, last.page)})


def _more(link: LinkReport, day: int, say: Messages) -> dict[str, Any]:
    history = link.record.history
    return {
        "due": None if link.due is None else say.html("weboid-url-due", html.time_html(max(link.due, day), day, say)),
        "strikes": link.record.streak.strikes,
        "history": phrases.history_words(history, say),
        "bars": bars_of(history, day),
        "width": WIDTH,
        "first": say.date(history[-1].first) if history else None,
        "today": say.date(day),
    }
