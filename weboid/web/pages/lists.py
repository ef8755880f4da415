"""Lists of a wiki: its dead or doubtful links by page, by domain or by day, and its pages with spam (W-6).

A list is continued by the cursor of the previous answer; no rows are skipped, and at most 10,000 are counted. As CSV it
comes as a whole, in parts that are read and sent one after another, so that none is in memory but one.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from aiohttp import hdrs, web

from weboid.core.record.days import iso
from weboid.core.url.farms import WikiName
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import OfWiki
from weboid.mechanism.fair_slots import aside
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.lists.health import Amount, Exactness
from weboid.store.lists.links import (
    ALL_DEAD,
    MOST_COUNTED,
    START,
    DeadFilter,
    DeadSpot,
    ListedLinks,
    Order,
    PageTitle,
    Spot,
    SpotBelow,
    count_dead_links,
    list_dead_links,
    list_doubtful_links,
)
from weboid.store.lists.search import list_doubtful_links_below
from weboid.store.lists.wiki_totals import list_totals
from weboid.store.pages.spam import list_spam_pages
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.repaired import list_repaired
from weboid.web.answer.page import link_payload
from weboid.web.formats import csv, html
from weboid.web.formats.link_view import link_view
from weboid.web.http.respond import OPEN_TO_ALL
from weboid.web.request.accept import Format
from weboid.web.request.cursor import INT64, PAGES, Cursor
from weboid.web.request.dead_filter import NAMES, dead_filter_of
from weboid.web.request.parameters import LANGUAGE, Parameters, category_of, only
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.request.work import LINKS
from weboid.web.service import Service, given_in, html_words, machine_words
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import amount_words

ROWS: Final = 100
"""Links, or pages with spam, in one answer."""
CSV_ROWS: Final = 100_000
"""Rows of a CSV file at most."""

_PART: Final = 250
"""Rows of a CSV file that are read at a time: some ten milliseconds."""
_VERDICTS: Final = ("dead", "doubtful")
_SORTS: Final = {"oldest": Order.OLDEST, "newest": Order.NEWEST}
_OF_DEAD: Final = ("repaired", "namespace", "category", "sort")
"""Parameters of the list of dead links only: doubtful ones are found by looking at pages."""
_SPAM_COLUMNS: Final = ("page", "namespace", "title", "spam")
_COLUMNS: Final = ("page", "namespace", "title", "url", "verdict", "reason", "since", "checked", "copy", "repaired")
_KEY: Final = (range(BUCKETS), INT64, INT64)
_SPOT: Final = Cursor(PAGES, *_KEY)
"""A page, and the key of a URL."""
_SPOT_BY_DAY: Final = Cursor(range(-(2**15), 2**15), PAGES, *_KEY)
"""The day since when a link is dead, and as above."""
_SPOT_BELOW: Final = Cursor(PAGES, INT64, text="[a-zA-Z0-9._-]{1,260}")
"""A page, the last part of a key, and its host from the end."""
_PAGE: Final = Cursor(PAGES)

_After = DeadSpot | Spot | SpotBelow | None
_Listed = tuple[PageTitle, LinkReport]
_Row = tuple[str | int | None, ...]


@dataclass(frozen=True, slots=True)
class _Query:
    """A list that is requested of a wiki; `settings` are what the wiki says."""

    name: WikiName
    wiki: StoredWiki
    settings: OfWiki
    verdict: str
    wanted: DeadFilter
    order: Order

    @property
    def is_by_host(self) -> bool:
        """True if its order is that of the domain's hosts."""
        return bool(self.wanted.domain) and self.order is Order.PLACE

    @property
    def is_by_day(self) -> bool:
        """True if the day since when links are dead is a part of its order."""
        return self.order is not Order.PLACE or self.wanted.pages is not None


class ListPages:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def dead(self, request: web.Request) -> web.StreamResponse:
        """The dead links of a wiki, or the doubtful ones; by page, with a domain by its hosts, or by day."""
        given = given_in(request)
        wanted = format_of(request)
        say = html_words(request, given) if wanted is Format.HTML else machine_words(given)
        query = await self._query_of(given)
        spot = _after_of(given, query)
        if wanted is Format.CSV:
            return await self._csv(request, f"{query.verdict}-{query.name}", _COLUMNS, self._dead_rows(query, spot))
        links, spot = await self._links(query, spot, ROWS)
        after = _text_of(spot, query)
        day = self._service.today()
        total = None if "after" in given else await self._total(query, day)
        # In a list by domain, or by day, a page may come again.
        pages = [(page, [report for _, report in some]) for page, some in groupby(links, key=lambda link: link[0])]
        values: dict[str, Any] = {"wiki": str(query.name), "verdict": query.verdict}
        values |= {name: given.get(name) for name in (*NAMES, "sort")}
        place = query.wanted
        values |= {"domain": place.domain or None, "path": place.path or None, "namespace": place.namespace}
        if wanted is Format.HTML:
            views = [(page, [link_view(report, day, say) for report in reports]) for page, reports in pages]
            values["total"] = None if total is None else amount_words(total, say)
            return await self._html(request, "dead.html", given, say, after, **values, pages=views)
        values["total"] = None if total is None else {"value": total.value, "exactness": total.exactness.value}
        rows = [
            {
                "namespace": page.namespace,
                "title": page.title,
                "links": [link_payload(report, day, say, query.settings.writes) for report in reports],
                "id": page.page,
            }
            for page, reports in pages
        ]
        return self._payload(request, say, {**values, "pages": rows}, after)

    async def spam(self, request: web.Request) -> web.StreamResponse:
        """The pages of a wiki with spam, each with the number of such links."""
        given = given_in(request)
        wanted = format_of(request)
        say = html_words(request, given) if wanted is Format.HTML else machine_words(given)
        name, wiki = await self._service.find_wiki(given)
        parts = _PAGE.parts_in(given)
        begin = parts.numbers[0] if parts else 0
        if wanted is Format.CSV:
            return await self._csv(request, f"spam-{name}", _SPAM_COLUMNS, self._spam_rows(wiki.wiki, begin))
        async with self._service.pool.connection() as conn:
            found = await list_spam_pages(conn, wiki.wiki, after=begin, limit=ROWS + 1)
        pages = found[:ROWS]
        after = _PAGE.text_of(pages[-1].page) if len(found) > ROWS else None
        if wanted is Format.HTML:
            return await self._html(request, "spam.html", given, say, after, wiki=str(name), pages=pages)
        rows = [
            {"id": page.page, "namespace": page.namespace, "title": page.title, "spam": page.links} for page in pages
        ]
        return self._payload(request, say, {"wiki": str(name), "pages": rows}, after)

    async def _query_of(self, given: Parameters) -> _Query:
        """The list that is requested; raises Problem, NotFound."""
        verdict = given.get("verdict", "dead")
        if verdict not in _VERDICTS:
            raise Problem(400, "verdict")
        if verdict == "doubtful" and (only_dead := [name for name in _OF_DEAD if name in given]):
            raise Problem(400, "dead-only", only_dead[0])
        if "sort" in given and given["sort"] not in _SORTS:
            raise Problem(400, "sort")
        order, wanted = _SORTS.get(given.get("sort", ""), Order.PLACE), dead_filter_of(given)
        name, wiki = await self._service.find_wiki(given)
        if "category" in given:
            members, _ = await self._service.find_members(wiki, category_of(given))
            wanted = replace(wanted, pages=members)
        async with self._service.pool.connection() as conn:
            settings = await find_settings(conn, wiki.wiki)
            if wanted.pages is not None or (wanted.domain and order is not Order.PLACE):
                counted = await count_dead_links(conn, wiki.wiki, DeadFilter(wanted.domain, wanted.pages))
                if counted.exactness is not Exactness.EXACT:
                    raise Problem(400, "sort-many", MOST_COUNTED)
        return _Query(name, wiki, settings, verdict, wanted, order)

    async def _total(self, query: _Query, day: int) -> Amount | None:
        """The number of links of a list; of doubtful ones that of the whole wiki alone, None where nobody knows it."""
        async with self._service.pool.connection() as conn:
            if query.verdict == "dead":
                return await count_dead_links(conn, query.wiki.wiki, query.wanted)
            totals = await list_totals(conn, query.wiki.wiki, day) if query.wanted == ALL_DEAD else []
        return Amount(totals[-1].doubtful, Exactness.ESTIMATE) if totals else None

    async def _links(self, query: _Query, after: _After, limit: int) -> tuple[list[_Listed], _After]:
        """The next links, each with its page, and the place after which to go on."""
        wiki, wanted, rules = query.wiki.wiki, query.wanted, rules_of(query.settings, self._service.policy)
        rest: dict[str, Any] = {"rules": rules, "limit": limit, "after": after}
        is_dead = query.verdict == "dead"
        found: ListedLinks[Any]
        async with self._service.pool.connection() as conn:
            if is_dead:
                found = await list_dead_links(conn, wiki, wanted, query.order, **rest)
            elif wanted.domain:
                rest |= {"path": wanted.path, "copied": wanted.copied}
                found = await list_doubtful_links_below(conn, wiki, wanted.domain, **rest)
            else:
                rest |= {"copied": wanted.copied, "after": after or START}
                found = await list_doubtful_links(conn, wiki, **rest)
            uses = [(link.page.page, link.known.key) for link in found.links]
            repaired = await list_repaired(conn, wiki, uses, dead=is_dead)
        return [
            (
                link.page,
                self._service.report(link.known, query.settings)._replace(
                    is_repaired=(link.page.page, link.known.key) in repaired
                ),
            )
            for link in found.links
        ], found.after

    async def _csv(
        self, request: web.Request, name: str, columns: Sequence[str], parts: AsyncIterator[list[_Row]]
    ) -> web.StreamResponse:
        """A list as a file, part by part; nothing is sent before the first part is read."""
        part = await anext(parts, None)
        headers = {
            hdrs.CONTENT_TYPE: f"{csv.CONTENT_TYPE}; charset=utf-8; header=present",
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{name}.csv"',
            hdrs.CACHE_CONTROL: "no-cache",
            hdrs.VARY: "Accept-Encoding",
        }
        response = web.StreamResponse(headers=headers | OPEN_TO_ALL)
        if request.method != hdrs.METH_HEAD:
            response.enable_compression()
        await response.prepare(request)
        rows, begin = 0, csv.BEGIN + csv.lines_of([columns])
        try:
            while part is not None and rows < CSV_ROWS and request.method != hdrs.METH_HEAD:
                lines = begin + csv.lines_of(part[: CSV_ROWS - rows])
                rows, begin = rows + len(part), b""
                async with aside():
                    if lines:
                        await response.write(lines)
                part = await anext(parts, None)
        finally:
            request[LINKS] = rows
        return response

    async def _dead_rows(self, query: _Query, after: _After) -> AsyncIterator[list[_Row]]:
        while True:
            links, after = await self._links(query, after, _PART)
            yield [_row(page, link) for page, link in links]
            if after is None:
                return

    async def _spam_rows(self, wiki: int, after: int) -> AsyncIterator[list[_Row]]:
        while True:
            async with self._service.pool.connection() as conn:
                pages = await list_spam_pages(conn, wiki, after=after, limit=_PART)
            yield [(page.page, page.namespace, page.title, page.links) for page in pages]
            if len(pages) < _PART:
                return
            after = pages[-1].page

    async def _html(
        self, request: web.Request, template: str, given: Parameters, say: Messages, after: str | None, **values: Any
    ) -> web.Response:
        first = {name: value for name, value in given.items() if name != "after"}
        other = html.query({name: value for name, value in given.items() if name in ("dbname", *LANGUAGE)})
        values |= {"is_first": "after" not in given, "first": html.query(first), "other": other}
        values["feed_query"] = html.query(only(given, "dbname", *NAMES, *sorted(LANGUAGE)))
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


def _row(page: PageTitle, link: LinkReport) -> _Row:
    finding, checked = link.finding, link.record.checked
    copy = None if link.copies is None else link.copies.first
    return (
        *(page.page, page.namespace, page.title, link.normal, finding.verdict.word),
        *(finding.reason.word if finding.reason else None, None if finding.since is None else iso(finding.since)),
        *(None if checked is None else iso(checked), None if copy is None else copy.address),
        "yes" if link.is_repaired else "no",
    )


def _after_of(given: Parameters, query: _Query) -> _After:
    """The place after which the list goes on; raises Problem."""
    is_dead = query.verdict == "dead"
    if query.is_by_host:
        begin = reversed_name(query.wanted.domain)
        if (parts := _SPOT_BELOW.parts_in(given, fits=lambda host: host.startswith(begin))) is None:
            return None
        page, key = parts.numbers
        return DeadSpot(parts.text, 0, page, 0, 0, key) if is_dead else SpotBelow(page, key, parts.text)
    if (parts := (_SPOT_BY_DAY if query.is_by_day else _SPOT).parts_in(given)) is None:
        return None
    if query.is_by_day:
        return DeadSpot("", *parts.numbers)
    page, *places = parts.numbers
    return DeadSpot("", 0, page, *places) if is_dead else Spot(page, UrlKey(*places))


def _text_of(after: _After, query: _Query) -> str | None:
    """The cursor to what comes after a place."""
    match after:
        case None:
            return None
        case Spot(page, key):
            return _SPOT.text_of(page, *key)
        case SpotBelow(page, key, host):
            return _SPOT_BELOW.text_of(page, key, host)
        case DeadSpot() if query.is_by_host:
            return _SPOT_BELOW.text_of(after.page, after.url_key, after.reversed)
        case DeadSpot():
            return (_SPOT_BY_DAY if query.is_by_day else _SPOT).text_of(*after[1 if query.is_by_day else 2 :])
