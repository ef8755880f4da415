"""The page of a domain and all below it: its hosts, its links by verdict and wiki, when they died, where they lead.

All that is read is bounded: of a large domain the page is about its first hosts, URLs and uses, and says so. The URLs
with their pages are shown to people only, as in the search (W-5).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from aiohttp import web

from weboid.core.record.days import iso
from weboid.core.record.specials import Sights, Special
from weboid.core.url.display import unicode_host
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.patterns import pattern_below
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import NOTHING_SAID
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.rows import HostKey, KnownUrl
from weboid.store.lists import domain as stored
from weboid.store.lists.health import Amount, Exactness
from weboid.store.lists.links import MOST_COUNTED, verdict_on
from weboid.store.lists.search import Matches, list_matches
from weboid.store.urls.host_traits import list_specials
from weboid.store.urls.url import find_urls
from weboid.web.formats import html
from weboid.web.formats.bar_chart import BAR_HEIGHT, BAR_WIDTH, bar_chart
from weboid.web.pages.search import match_views
from weboid.web.request.dead_filter import domain_of
from weboid.web.request.parameters import LANGUAGE, only
from weboid.web.request.problem import Problem
from weboid.web.service import ServiceHandlers, given_in, html_words
from weboid.web.words import phrases
from weboid.web.words.messages import Messages

_SHOWN: Final = 20
"""Wikis, targets, and URLs with their pages."""
_STEPS: Final = 13
_STEP_DAYS: Final = 28
"""The days that a bar stands for: thirteen of them are a year."""
_SPECIALS: Final = {
    Special.NEEDS_GET: "weboid-special-get",
    Special.NEEDS_HTTPS: "weboid-special-https",
    Special.NEEDS_HTTP: "weboid-special-http",
    Special.NEEDS_REFERRER: "weboid-special-referrer",
    Special.RETURNED: "weboid-special-returned",
    Special.NEW_OWNER: "weboid-special-owner",
    Special.NEEDS_BROWSER: "weboid-special-browser",
}
_VERDICTS: Final = (Verdict.DEAD, Verdict.DOUBTFUL, Verdict.WORKING, Verdict.UNKNOWN)


class DomainPage(ServiceHandlers):
    async def page(self, request: web.Request) -> web.Response:
        """The page of one domain, for people; with a wiki also its pages that use the domain."""
        given = given_in(request)
        say, day, service = html_words(request, given), self._service.today(), self._service
        domain = domain_of(request.match_info["domain"])
        name, wiki = await service.find_wiki(given) if "dbname" in given else (None, None)
        is_person = await service.sessions.is_interactive(request)
        is_shown = is_person and request.headers.get("Sec-Fetch-Dest", "document") == "document"
        matches: Matches | None = None
        async with service.pool.viewing() as conn:
            if not (hosts := await stored.list_hosts(conn, domain)):
                raise Problem(404, "unknown-domain", domain)
            settings = NOTHING_SAID if wiki is None else await find_settings(conn, wiki.wiki)
            rules = rules_of(settings, service.policy)
            specials = await list_specials(conn, {host.key: host.host for host in hosts})
            keys = await stored.list_urls(conn, domain)
            known = await find_urls(conn, sorted(keys[: stored.MOST_URLS]), None if wiki is None else wiki.wiki)
            uses = await stored.count_uses(conn, domain)
            changed = await stored.count_changed(conn, domain, day - _STEPS * _STEP_DAYS)
            if wiki is not None and is_shown:
                shown: dict[str, Any] = {"wiki": wiki.wiki, "rules": rules, "limit": _SHOWN, "by_path": True}
                matches = await list_matches(conn, pattern_below(domain), **shown)
        verdicts = {key: verdict_on(url, rules) for key, url in known.items()}
        counts = Counter(verdicts.values())
        dead = next((known[key] for key, verdict in verdicts.items() if verdict is Verdict.DEAD), None)
        about = only(given, "dbname", *sorted(LANGUAGE))
        exactness = Exactness.AT_LEAST if len(keys) > stored.MOST_URLS else Exactness.EXACT
        values: dict[str, Any] = {
            "domain": domain,
            "unicode": unicode_host(domain),
            "wiki": None if name is None else str(name),
            "hosts": [_host_view(host, specials, day, say) for host in hosts],
            "total": phrases.amount_words(Amount(min(len(keys), stored.MOST_URLS), exactness), say),
            "counts": [
                (verdict.word, say.text(f"weboid-count-{verdict.word}", counts[verdict]))
                for verdict in _VERDICTS
                if counts[verdict]
            ],
            "uses": [_uses_view(each, say) for each in uses[:_SHOWN]],
            "is_part": sum(each.links for each in uses) >= MOST_COUNTED,
            "targets": _targets(known.values(), say),
            **_trend(changed, day, say),
            "report": None if dead is None else html.query({**about, "url": str(dead.url)}),
            "about": html.query(about) if about else "",
            "list_query": None if name is None else html.query({**about, "dbname": str(name), "domain": domain}),
            "search_query": html.query({**about, "pattern": f"*.{domain}"}),
            "found": None if matches is None else match_views(matches, service, settings, about, day, say),
        }
        return await service.form_html(request, "domain.html", given, say, **values)


def _host_view(host: stored.DomainHost, specials: Mapping[HostKey, Sights], day: int, say: Messages) -> dict[str, Any]:
    streak, reason = host.record.streak, host.record.reason
    exactness = Exactness.EXACT if host.urls < stored.MOST_URLS else Exactness.AT_LEAST
    return {
        "host": host.host,
        "unicode": unicode_host(host.host),
        "urls": phrases.amount_words(Amount(host.urls, exactness), say),
        "state": say.text("weboid-domain-answers") if reason is None else say.text(f"weboid-reason-{reason.word}"),
        "since": html.since_html(streak.since, day, say) if streak.strikes and streak.since is not None else None,
        "specials": [say.text(_SPECIALS[kind]) for kind in specials.get(host.key, {})],
    }


def _uses_view(uses: stored.DomainUses, say: Messages) -> dict[str, Any]:
    return {"name": str(uses.wiki), "links": say.number(uses.links), "dead": say.number(uses.dead)}


def _targets(known: Iterable[KnownUrl], say: Messages) -> list[tuple[str, str]]:
    """The hosts to which most URLs redirect, with their number."""
    hosts: Counter[str] = Counter()
    for url in known:
        if url.record.target is not None:
            try:
                hosts[parse(url.record.target).host] += 1
            except InvalidUrl:
                continue
    return [(host, say.number(count)) for host, count in hosts.most_common(_SHOWN)]


def _trend(changed: Mapping[int, Sequence[int]], day: int, say: Messages) -> dict[str, Any]:
    """Pictures and a table of the URLs that died, and came back, in each four weeks of the last year."""
    first = day - _STEPS * _STEP_DAYS + 1
    bars = [[0, 0] for _ in range(_STEPS)]
    for of_day, amounts in changed.items():
        for place, amount in enumerate(amounts):
            bars[(of_day - first) // _STEP_DAYS][place] += amount
    words = [say.text("weboid-wiki-died"), say.text("weboid-wiki-back")]
    columns = zip(zip(*bars, strict=True), words, ("dead", "working"), strict=True)
    last_days = [first + (place + 1) * _STEP_DAYS - 1 for place in range(_STEPS)]
    return {
        "pictures": [
            bar_chart(values, word, say.number(max(values)), verdict)
            for values, word, verdict in columns
            if any(values)
        ],
        "rows": [
            {"iso": iso(last), "day": say.date(last), "amounts": [say.number(each) for each in bar]}
            for last, bar in zip(last_days[::-1], bars[::-1], strict=True)
            if any(bar)
        ],
        "headings": words,
        "first": say.date(first),
        "last": say.date(day),
        "bar_width": BAR_WIDTH,
        "bar_height": BAR_HEIGHT,
    }
