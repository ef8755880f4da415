"""The page of a wiki: its links over months, where its dead ones are, the newest, and the oldest without a copy (W-6).

The counts are those that ``maintain/wiki_totals`` makes once a day; all that is read here is bounded.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

from aiohttp import web

from weboid.core.record.days import iso
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import OfWiki
from weboid.core.wikitext.titles import NamespaceNames
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.lists.health import Amount, Exactness, Health
from weboid.store.lists.links import DeadFilter, Order, PageLink, list_dead_links
from weboid.store.lists.wiki_totals import DeadPlace, PlaceKind, WikiTotal, list_places, list_totals
from weboid.store.pages.page_pass import SWEEP_DAYS
from weboid.store.pages.wiki import list_namespaces
from weboid.web.formats import html
from weboid.web.formats.bar_chart import BAR_HEIGHT, BAR_WIDTH, bar_chart
from weboid.web.request.parameters import LANGUAGE, only
from weboid.web.service import Service, given_in, html_words
from weboid.web.words import phrases
from weboid.web.words.messages import Messages

_SHOWN: Final = 20
"""Domains, and namespaces."""
_LINKS: Final = 10
_MOST_BARS: Final = 56
"""Days that have a bar each; of more days a week has one."""
_WEEK: Final = 7
_FIGURES: Final = {
    "dead": "weboid-wiki-dead",
    "repaired": "weboid-wiki-repaired",
    "doubtful": "weboid-wiki-doubtful",
    "died": "weboid-wiki-died",
    "back": "weboid-wiki-back",
}
"""The figures of a day with their words, in the order of the table."""
_PICTURES: Final = {"dead": "dead", "repaired": "working", "doubtful": "doubtful", "died": "dead"}
"""Those that have a picture, with the verdict whose colour it has."""
_ADDED: Final = ("died", "back")
"""Those of which a week has the sum; of the others it has its last day's."""


class PageOfWiki:
    """The handler; `status` reads the state of the system, which has the pass over each wiki."""

    def __init__(self, service: Service, status: Callable[[], Awaitable[Health]]) -> None:
        self._service = service
        self._status = status

    async def page(self, request: web.Request) -> web.Response:
        """The page of one wiki, for people."""
        given = given_in(request)
        say, day, service = html_words(request, given), self._service.today(), self._service
        name, wiki = await service.find_wiki({"dbname": request.match_info["wiki"]})
        async with service.pool.viewing() as conn:
            totals = await list_totals(conn, wiki.wiki, day)
            places = await list_places(conn, wiki.wiki)
            names = NamespaceNames(await list_namespaces(conn, wiki.wiki))
            settings = await find_settings(conn, wiki.wiki)
            rest: dict[str, Any] = {"rules": rules_of(settings, service.policy), "limit": _LINKS}
            newest = await list_dead_links(conn, wiki.wiki, order=Order.NEWEST, **rest)
            oldest = await list_dead_links(conn, wiki.wiki, DeadFilter(repaired=False), Order.OLDEST, **rest)
        status = await self._status()
        about = {"dbname": str(name), **only(given, *sorted(LANGUAGE))}
        values: dict[str, Any] = {
            "wiki": str(name),
            "about": html.query(about),
            "query_of": lambda **more: html.query({**about, **more}),
            "facts": _facts(totals[-1], say) if totals else None,
            "counted": say.date(totals[-1].day) if totals else None,
            **_trend(totals, say),
            "domains": _places(places, PlaceKind.DOMAIN, say),
            "spaces": [
                {**place, "name": names.prefixed(int(place["subject"]), "").rstrip(":")}
                for place in _places(places, PlaceKind.NAMESPACE, say)
            ],
            "newest": self._links(newest.links, settings, day, say),
            "oldest": self._links(oldest.links, settings, day, say),
            "has_older": oldest.after is not None,
            "passes": _passes(status, str(name), day, say),
        }
        return await service.html(request, "wiki.html", {**given, "dbname": str(name)}, say, **values)

    def _links(self, links: Iterable[PageLink], settings: OfWiki, day: int, say: Messages) -> list[dict[str, Any]]:
        reports = [(link.page, self._service.report(link.known, settings)) for link in links]
        return [
            {
                "page": page,
                "normal": link.normal,
                "url": phrases.shown_url(link),
                "reason": phrases.reason_words(link, day, say),
                "since": None if link.finding.since is None else html.since_html(link.finding.since, day, say),
            }
            for page, link in reports
        ]


def _facts(total: WikiTotal, say: Messages) -> list[tuple[str, str]]:
    exactness = Exactness.ESTIMATE if total.sampled else Exactness.EXACT
    links, doubtful = Amount(total.links, exactness), Amount(total.doubtful, exactness)
    return [
        (say.text("weboid-status-pages"), say.number(total.pages)),
        (say.text("weboid-wiki-links"), phrases.amount_words(links, say)),
        (say.text("weboid-wiki-dead"), say.number(total.dead)),
        (say.text("weboid-wiki-repaired"), say.number(total.repaired)),
        (say.text("weboid-wiki-doubtful"), phrases.amount_words(doubtful, say)),
        (say.text("weboid-wiki-died"), say.number(total.died)),
        (say.text("weboid-wiki-back"), say.number(total.back)),
    ]


def _trend(totals: Sequence[WikiTotal], say: Messages) -> dict[str, Any]:
    """Pictures and a table of the figures: of each day, or of each week where there are many days."""
    if len(totals) < 2:
        return {"pictures": [], "rows": []}
    size = _WEEK if totals[-1].day - totals[0].day >= _MOST_BARS else 1
    first, last = totals[0].day, totals[-1].day
    bars: list[dict[str, int]] = [{} for _ in range((last - first) // size + 1)]
    for total in totals:
        bar = bars[(total.day - first) // size]
        for name in _FIGURES:
            value: int = getattr(total, name)
            bar[name] = bar.get(name, 0) + value if name in _ADDED else value
    pictures = []
    for name, verdict in _PICTURES.items():
        values = [bar.get(name, 0) for bar in bars]
        if any(values):
            pictures.append(bar_chart(values, say.text(_FIGURES[name]), say.number(max(values)), verdict))
    rows = []
    for place, bar in enumerate(bars):
        begin = first + place * size
        day = min(begin + size - 1, last)
        if bar:
            amounts = [say.number(bar[name]) for name in _FIGURES]
            rows.append({"iso": iso(day), "day": say.date(day), "amounts": amounts})
    return {
        "pictures": pictures,
        "rows": rows[::-1],
        "headings": [say.text(key) for key in _FIGURES.values()],
        "first": say.date(first),
        "last": say.date(last),
        "bar_width": BAR_WIDTH,
        "bar_height": BAR_HEIGHT,
    }


def _places(places: Iterable[DeadPlace], kind: PlaceKind, say: Messages) -> list[dict[str, Any]]:
    return [
        {"subject": place.subject, "dead": say.number(place.dead), "repaired": say.number(place.repaired)}
        for place in [each for each in places if each.kind is kind][:_SHOWN]
    ]


def _passes(status: Health, name: str, day: int, say: Messages) -> list[tuple[str, Any]]:
    """The newest pass over the wiki, the one under way, and how far its changes are followed."""
    found = [each for each in status.wikis if str(each.name) == name]
    facts: list[tuple[str, Any]] = []
    for each in found:
        passed = say.text("weboid-status-never") if each.passed is None else html.time_html(each.passed, day, say)
        facts.append((say.text("weboid-status-passed"), passed))
        if each.pass_s is not None:
            facts.append((say.text("weboid-status-took"), say.duration(each.pass_s)))
        if each.started is not None:
            running = say.html("weboid-status-step", html.time_html(each.started, day, say), each.step or 0)
            facts.append((say.text("weboid-status-running"), running))
        facts.append((say.text("weboid-status-swept"), say.number(-(-each.pages.value // SWEEP_DAYS))))
        facts.append((say.text("weboid-status-waiting"), phrases.amount_words(each.waiting, say)))
    facts += [(say.text("weboid-status-lag"), say.duration(lag_s)) for lag_s in status.streams.values()]
    return facts
