"""Lists of a wiki: its dead or doubtful links by page or by domain, and its pages with spam (W-6).

A list is continued by the cursor of the previous answer; no rows are counted or skipped.
"""

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any, Final

from aiohttp import web

from weboid.core.url.hosts import InvalidUrl, host_form, reversed_name
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.core.url.patterns import is_domain
from weboid.core.url.urls import parse
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.wiki_rules import WikiRules, rules_of
from weboid.core.wikitext.settings import OfWiki
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.pool import Connection
from weboid.store.lists.links import (
    START,
    PageLink,
    Spot,
    SpotBelow,
    list_dead_links,
    list_dead_links_below,
    list_doubtful_links,
)
from weboid.store.lists.search import list_doubtful_links_below
from weboid.store.pages.spam import list_spam_pages
from weboid.store.urls.repaired import PageUse, list_repaired
from weboid.web.answer.page import link_payload
from weboid.web.formats import html
from weboid.web.formats.link_view import link_view
from weboid.web.request.accept import Format
from weboid.web.request.cursor import INT64, PAGES, Cursor
from weboid.web.request.parameters import LANGUAGE, Parameters, copied_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.service import Service, given_in, html_words, machine_words
from weboid.web.words.messages import Messages

ROWS: Final = 100
"""Links, or pages with spam, in one answer."""

_VERDICTS: Final = ("dead", "doubtful")
_SPOT: Final = Cursor(PAGES, range(BUCKETS), INT64, INT64)
"""A page, and the key of a URL."""
_SPOT_BELOW: Final = Cursor(PAGES, INT64, text="[a-zA-Z0-9._-]{1,260}")
"""A page, the last part of a key, and its host from the end."""
_PAGE: Final = Cursor(PAGES)


class ListPages:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def dead(self, request: web.Request) -> web.Response:
        """The dead links of a wiki, or the doubtful ones; by page, or with a domain by its hosts."""
        given = given_in(request)
        is_html = format_of(request) is Format.HTML
        say = html_words(request, given) if is_html else machine_words(given)
        verdict = given.get("verdict", "dead")
        if verdict not in _VERDICTS:
            raise Problem(400, "verdict")
        domain, path, copied = _domain_of(given), _path_of(given), copied_of(given)
        name, wiki = await self._service.find_wiki(given)
        async with self._service.pool.connection() as conn:
            settings = await find_settings(conn, wiki.wiki)
            rules = rules_of(settings, self._service.policy)
            links, after = await self._links(conn, wiki.wiki, rules, verdict, domain, path, copied, given)
            uses = [(link.page.page, link.known.key) for link in links]
            repaired = await list_repaired(conn, wiki.wiki, uses, dead=verdict == "dead")
        day = self._service.today()
        pages = [
            (some[0].page, [self._report(link, settings, repaired) for link in some])
            # In a list by domain a page may come again under another host.
            for some in (list(group) for _, group in groupby(links, key=lambda link: link.page.page))
        ]
        values: dict[str, Any] = {"wiki": str(name), "verdict": verdict, "copy": given.get("copy")}
        values |= {"domain": domain or None, "path": path or None}
        if is_html:
            views = [(page, [link_view(report, day, say) for report in reports]) for page, reports in pages]
            return await self._html(request, "dead.html", given, say, after, **values, pages=views)
        rows = [
            {
                "namespace": page.namespace,
                "title": page.title,
                "links": [link_payload(report, day, say, settings.writes) for report in reports],
                "id": page.page,
            }
            for page, reports in pages
        ]
        return self._payload(request, say, {**values, "pages": rows}, after)

    def _report(self, link: PageLink, settings: OfWiki, repaired: Collection[PageUse]) -> LinkReport:
        is_repaired = (link.page.page, link.known.key) in repaired
        return self._service.report(link.known, settings)._replace(is_repaired=is_repaired)

    async def spam(self, request: web.Request) -> web.Response:
        """The pages of a wiki with spam, each with the number of such links."""
        given = given_in(request)
        is_html = format_of(request) is Format.HTML
        say = html_words(request, given) if is_html else machine_words(given)
        name, wiki = await self._service.find_wiki(given)
        parts = _PAGE.parts_in(given)
        async with self._service.pool.connection() as conn:
            found = await list_spam_pages(conn, wiki.wiki, after=parts.numbers[0] if parts else 0, limit=ROWS + 1)
        pages = found[:ROWS]
        after = _PAGE.text_of(pages[-1].page) if len(found) > ROWS else None
        if is_html:
            return await self._html(request, "spam.html", given, say, after, wiki=str(name), pages=pages)
        rows = [
            {"id": page.page, "namespace": page.namespace, "title": page.title, "spam": page.links} for page in pages
        ]
        return self._payload(request, say, {"wiki": str(name), "pages": rows}, after)

    async def _html(
        self, request: web.Request, template: str, given: Parameters, say: Messages, after: str | None, **values: Any
    ) -> web.Response:
        first = {name: value for name, value in given.items() if name != "after"}
        other = html.query({name: value for name, value in given.items() if name in ("dbname", *LANGUAGE)})
        values |= {"is_first": "after" not in given, "first": html.query(first), "other": other, "feed_query": other}
        values["next"] = None if after is None else html.query({**given, "after": after})
        return await self._service.html(request, template, given, say, **values)

    def _payload(
        self,
        request: web.Request,
        say: Messages,
        values: dict[str, Any],
        after: str | None,
    ) -> web.Response:
        head = self._service.head(self._service.today(), say)
        return self._service.send_payload(request, {**head, **values, "next": after})

    async def _links(
        self,
        conn: Connection,
        wiki: int,
        rules: WikiRules,
        verdict: str,
        domain: str,
        path: str,
        copied: bool | None,
        given: Parameters,
    ) -> tuple[Sequence[PageLink], str | None]:
        """The links, and the cursor to the next ones."""
        is_doubtful = verdict == "doubtful"
        if domain:
            list_below = list_doubtful_links_below if is_doubtful else list_dead_links_below
            spot = _spot_below_of(given, domain)
            below = await list_below(conn, wiki, domain, path=path, copied=copied, rules=rules, after=spot, limit=ROWS)
            return below.links, None if below.after is None else _SPOT_BELOW.text_of(*below.after)
        list_links = list_doubtful_links if is_doubtful else list_dead_links
        found = await list_links(conn, wiki, copied=copied, rules=rules, after=_spot_of(given), limit=ROWS)
        return found.links, None if found.after is None else _SPOT.text_of(found.after.page, *found.after.key)


def _domain_of(given: Parameters) -> str:
    """The domain in normal form, empty if none is given; ``*.`` in front of it is ignored."""
    if "domain" not in given:
        return ""
    try:
        domain = host_form(given["domain"].removeprefix("*."))
    except InvalidUrl:
        raise Problem(400, "domain") from None
    if not is_domain(domain):
        raise Problem(400, "domain-wide", domain)
    return domain


def _path_of(given: Parameters) -> str:
    """The given beginning of paths in the form in which paths are stored, empty if none is given."""
    if "path" not in given:
        return ""
    if "domain" not in given:
        raise Problem(400, "path")
    try:
        return parse(f"http://a.aa/{given['path'].removeprefix('/')}").path
    except InvalidUrl:
        raise Problem(400, "path") from None


def _spot_of(given: Parameters) -> Spot:
    if (parts := _SPOT.parts_in(given)) is None:
        return START
    page, *key = parts.numbers
    return Spot(page, UrlKey(*key))


def _spot_below_of(given: Parameters, domain: str) -> SpotBelow | None:
    parts = _SPOT_BELOW.parts_in(given, fits=lambda host: host.startswith(reversed_name(domain)))
    if parts is None:
        return None
    (page, key), host = parts
    return SpotBelow(page, key, host)
