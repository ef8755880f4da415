"""Lists of a wiki's dead or doubtful links by page, by domain or by day (W-6); pages with spam have their own module.

A list is continued by the cursor of the previous answer; no rows are skipped, and at most 10,000 are counted. The log
alone knows since when there is doubt: the newest doubtful links are those of its newest changes, without a next part.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Final

from aiohttp import web

from weboid.core.record.days import iso
from weboid.core.url.farms import WikiName
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import OfWiki
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.lists import links as stored
from weboid.store.lists.changes import list_newest_doubtful
from weboid.store.lists.health import Amount, Exactness
from weboid.store.lists.search import list_doubtful_links_below
from weboid.store.lists.wiki_totals import list_totals
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.repaired import list_repaired
from weboid.web.answer.page import link_payload
from weboid.web.formats.link_view import link_view
from weboid.web.pages.list_answer import Row, list_csv, list_html, list_payload
from weboid.web.request.accept import Format
from weboid.web.request.cursor import INT64, PAGES, Cursor
from weboid.web.request.dead_filter import NAMES, dead_filter_of
from weboid.web.request.parameters import Parameters, category_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.service import ServiceHandlers, given_in, html_words, machine_words
from weboid.web.words.phrases import amount_words

ROWS: Final = 100
"""Links in one answer."""
_VERDICTS: Final = ("dead", "doubtful")
_SORTS: Final = {"oldest": stored.Order.OLDEST, "newest": stored.Order.NEWEST}
_COLUMNS: Final = ("page", "namespace", "title", "url", "verdict", "reason", "since", "checked", "copy", "repaired")
_KEY: Final = (range(BUCKETS), INT64, INT64)
_SPOT: Final = Cursor(PAGES, *_KEY)
"""A page, and the key of a URL."""
_SPOT_BY_DAY: Final = Cursor(range(-(2**15), 2**15), PAGES, *_KEY)
"""The day since when a link is dead, and as above."""
_SPOT_BELOW: Final = Cursor(PAGES, INT64, text="[a-zA-Z0-9._-]{1,260}")
"""A page, the last part of a key, and its host from the end."""
_After = stored.DeadSpot | stored.Spot | stored.SpotBelow | None
_Listed = tuple[stored.PageTitle, LinkReport]


@dataclass(frozen=True, slots=True)
class _Query:
    """A list that is requested of a wiki; `settings` are what the wiki says."""

    name: WikiName
    wiki: StoredWiki
    settings: OfWiki
    verdict: str
    wanted: stored.DeadFilter
    order: stored.Order

    @property
    def is_by_host(self) -> bool:
        """True if its order is that of the domain's hosts."""
        return bool(self.wanted.domain) and self.order is stored.Order.PLACE

    @property
    def is_by_day(self) -> bool:
        """True if the day since when links are dead is a part of its order."""
        return self.verdict == "dead" and (self.order is not stored.Order.PLACE or self.wanted.pages is not None)

    @property
    def is_log(self) -> bool:
        """True if it has the newest changes alone: of doubt the log knows since when it is."""
        return self.verdict == "doubtful" and self.order is not stored.Order.PLACE


class ListPages(ServiceHandlers):
    async def dead(self, request: web.Request) -> web.StreamResponse:
        """The dead links of a wiki, or the doubtful ones; by page, with a domain by its hosts, or by day."""
        given = given_in(request)
        wanted = format_of(request)
        say = html_words(request, given) if wanted is Format.HTML else machine_words(given)
        query = await self._query_of(given)
        spot = _after_of(given, query)
        if wanted is Format.CSV:

            async def read(after: _After, limit: int) -> tuple[list[Row], _After]:
                links, spot = await self._links(query, after, limit)
                return [_row(page, link) for page, link in links], spot

            name = f"{query.verdict}-{query.name}"
            text_of = partial(_text_of, query=query)
            return await list_csv(self._service, request, name, _COLUMNS, spot, read, text_of)
        links, spot = await self._links(query, spot, ROWS)
        after = _text_of(spot, query)
        day = self._service.today()
        total = None if "after" in given else await self._total(query, day, len(links), is_all=spot is None)
        # In a list by domain, or by day, a page may come again.
        pages = [(page, [report for _, report in some]) for page, some in groupby(links, key=lambda link: link[0])]
        values: dict[str, Any] = {"wiki": str(query.name), "verdict": query.verdict}
        values |= {name: given.get(name) for name in (*NAMES, "sort")}
        place = query.wanted
        values |= {"domain": place.domain or None, "path": place.path or None, "namespace": place.namespace}
        if wanted is Format.HTML:
            views = [(page, [link_view(report, day, say) for report in reports]) for page, reports in pages]
            values["total"] = None if total is None else amount_words(total, say)
            values["is_all"] = total is not None and total.exactness is Exactness.EXACT
            return await list_html(self._service, request, "dead.html", given, say, after, **values, pages=views)
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
        return list_payload(self._service, request, say, {**values, "pages": rows}, after)

    async def _query_of(self, given: Parameters) -> _Query:
        """The list that is requested; raises Problem, NotFound."""
        verdict = given.get("verdict", "dead")
        if verdict not in _VERDICTS:
            raise Problem(400, "verdict")
        if verdict == "doubtful" and "repaired" in given:
            raise Problem(409, "dead-only", "repaired")
        if "sort" in given and given["sort"] not in _SORTS:
            raise Problem(400, "sort", "oldest, newest")
        if verdict == "doubtful" and given.get("sort") == "oldest":
            raise Problem(409, "dead-only", "oldest")
        order, wanted = _SORTS.get(given.get("sort", ""), stored.Order.PLACE), dead_filter_of(given)
        name, wiki = await self._service.find_wiki(given)
        if "category" in given:
            members, _ = await self._service.find_members(wiki, category_of(given))
            wanted = replace(wanted, pages=members)
        async with self._service.pool.viewing() as conn:
            settings = await find_settings(conn, wiki.wiki)
            is_sorted = wanted.pages is not None or (wanted.domain and order is not stored.Order.PLACE)
            if verdict == "dead" and is_sorted:
                counted = await stored.count_dead_links(conn, wiki.wiki, stored.DeadFilter(wanted.domain, wanted.pages))
                if counted.exactness is not Exactness.EXACT:
                    raise Problem(409, "sort-many", stored.MOST_COUNTED)
        return _Query(name, wiki, settings, verdict, wanted, order)

    async def _total(self, query: _Query, day: int, found: int, *, is_all: bool) -> Amount | None:
        """The number of links of a list, of which the first part has `found`; None where nobody knows it.

        Doubt is not stored: of a whole wiki it is an estimate, of a choice what the first part has found.
        """
        async with self._service.pool.viewing() as conn:
            if query.verdict == "dead":
                return await stored.count_dead_links(conn, query.wiki.wiki, query.wanted)
            is_whole = query.wanted == stored.ALL_DEAD and not query.is_log and not is_all
            totals = await list_totals(conn, query.wiki.wiki, day) if is_whole else []
        if totals:
            return Amount(totals[-1].doubtful, Exactness.ESTIMATE)
        is_exact = is_all and not query.is_log
        return Amount(found, Exactness.EXACT if is_exact else Exactness.AT_LEAST) if found or is_exact else None

    async def _links(self, query: _Query, after: _After, limit: int) -> tuple[list[_Listed], _After]:
        """The next links, each with its page, and the place after which to go on."""
        wiki, wanted, rules = query.wiki.wiki, query.wanted, rules_of(query.settings, self._service.policy)
        rest: dict[str, Any] = {"rules": rules, "limit": limit, "after": after}
        is_dead = query.verdict == "dead"
        found: stored.ListedLinks[Any]
        async with self._service.pool.viewing() as conn:
            if is_dead:
                found = await stored.list_dead_links(conn, wiki, wanted, query.order, **rest)
            elif query.is_log:
                items = await list_newest_doubtful(conn, wiki, wanted, rules=rules)
                found = stored.ListedLinks(
                    tuple(stored.PageLink(page, item.known) for item in items for page in item.pages), None
                )
            elif wanted.domain:
                found = await list_doubtful_links_below(conn, wiki, wanted, **rest)
            else:
                found = await stored.list_doubtful_links(
                    conn, wiki, wanted, **(rest | {"after": after or stored.START})
                )
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


def _row(page: stored.PageTitle, link: LinkReport) -> Row:
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
    if query.is_log and "after" in given:
        raise Problem(404, "after", "after")
    if query.is_by_host:
        begin = reversed_name(query.wanted.domain)
        if (parts := _SPOT_BELOW.parts_in(given, fits=lambda host: host.startswith(begin))) is None:
            return None
        page, key = parts.numbers
        return stored.DeadSpot(parts.text, 0, page, 0, 0, key) if is_dead else stored.SpotBelow(page, key, parts.text)
    if (parts := (_SPOT_BY_DAY if query.is_by_day else _SPOT).parts_in(given)) is None:
        return None
    if query.is_by_day:
        return stored.DeadSpot("", *parts.numbers)
    page, *places = parts.numbers
    return stored.DeadSpot("", 0, page, *places) if is_dead else stored.Spot(page, UrlKey(*places))


def _text_of(after: _After, query: _Query) -> str | None:
    """The cursor to what comes after a place."""
    match after:
        case None:
            return None
        case stored.Spot(page, key):
            return _SPOT.text_of(page, *key)
        case stored.SpotBelow(page, key, host):
            return _SPOT_BELOW.text_of(page, key, host)
        case stored.DeadSpot() if query.is_by_host:
            return _SPOT_BELOW.text_of(after.page, after.url_key, after.reversed)
        case stored.DeadSpot():
            return (_SPOT_BY_DAY if query.is_by_day else _SPOT).text_of(*after[1 if query.is_by_day else 2 :])
