"""Changes in a wiki: links that died and links that came back, for programs (W-14) and feed readers (W-12).

A client that follows `next` misses no change and gets none twice; the Atom feed shows the newest only.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from aiohttp import hdrs, web

from weboid.core.archive.copies import CopyState
from weboid.core.record.days import date_of, day_of, iso
from weboid.core.url.farms import WikiName
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import OfWiki
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.lists.changes import (
    NewsItem,
    find_day_start,
    list_newest,
    list_newest_doubtful,
    list_newest_of,
    list_news,
)
from weboid.store.lists.links import ALL_DEAD, list_newest_dead, list_titles
from weboid.store.urls.check import find_settled
from weboid.web.answer.page import link_payload, words_of
from weboid.web.formats import atom
from weboid.web.formats.atom import AtomEntry, AtomFeed
from weboid.web.http.respond import OPEN_TO_ALL, sent
from weboid.web.request.cursor import Cursor
from weboid.web.request.dead_filter import dead_filter_of
from weboid.web.request.parameters import Parameters, category_of, only, page_of, verdicts_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of
from weboid.web.service import ServiceHandlers, given_in, machine_words
from weboid.web.words import phrases
from weboid.web.words.copies import copy_summary
from weboid.web.words.messages import Messages

MOST_CHANGES: Final = 100
_NUMBER: Final = Cursor(range(10**18))
"""A change."""
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOST_PAGE: Final = 2**31
_CHOSEN: Final = ("verdict", "copy", "repaired", "domain", "path", "namespace")
"""Parameters that choose some of the dead links."""
_PAGES_NAMED: Final = 5
"""Pages named in the title and text of a feed's entry."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """The scope of the changes: a whole wiki, a page, or the first pages of a category (`more`: it has others)."""

    name: WikiName
    wiki: int
    page: int | None = None
    title: str = ""
    category: str | None = None
    members: tuple[int, ...] = ()
    more: bool = False

    @property
    def pages(self) -> tuple[int, ...] | None:
        """The pages; None = all."""
        if self.page is not None:
            return (self.page,)
        return None if self.category is None else self.members


class Changes(ServiceHandlers):
    async def changes(self, request: web.Request) -> web.Response:
        """W-14: the changes after a number, or from a day on, by ascending number; all, or those to some verdicts."""
        given = given_in(request)
        say = machine_words(given)
        since, to = _since_of(given), verdicts_of(given, "to")
        scope = await self._scope(given)
        async with self._service.pool.viewing() as conn:
            until = await find_settled(conn)
            if isinstance(since, date):
                start = await find_day_start(conn, _day(since))
                since = until if start is None else start
            news = await list_news(
                conn, scope.wiki, since=since, until=until, of=scope.pages, to=to, limit=MOST_CHANGES
            )
            settings = await find_settings(conn, scope.wiki)
        day = self._service.today()
        payload = {
            **self._service.head(day, say),
            "wiki": str(scope.name),
            "page": scope.page,
            "category": scope.category,
            "members": None if scope.category is None else len(scope.members),
            "partial": scope.more,
            "since": since,
            "to": words_of(to),
            "next": news.after,
            "more": news.more,
            "changes": [self._change(item, day, say, settings) for item in news.items],
        }
        return self._service.send_payload(request, payload)

    async def feed(self, request: web.Request) -> web.Response:
        """W-12: the newest links that died and are still dead: of a wiki, a page, or a list by category or domain; or
        those that became doubtful and are so still."""
        given = given_in(request)
        say, wanted, verdict = machine_words(given), dead_filter_of(given), _verdict_of(given)
        scope = await self._scope(given)
        wanted = replace(wanted, pages=scope.pages)
        async with self._service.pool.viewing() as conn:
            if verdict is Verdict.DOUBTFUL:
                rules = rules_of(await find_settings(conn, scope.wiki), self._service.policy)
                items = await list_newest_doubtful(conn, scope.wiki, wanted, rules=rules, limit=MOST_CHANGES)
            elif wanted == ALL_DEAD:
                items = await list_newest(conn, scope.wiki, limit=MOST_CHANGES)
            else:
                links = await list_newest_dead(conn, scope.wiki, wanted)
                items = await list_newest_of(conn, scope.wiki, links, limit=MOST_CHANGES)
            settings = await find_settings(conn, scope.wiki)
        day = self._service.today()
        died: dict[object, tuple[NewsItem, LinkReport]] = {}
        for item in items:
            link = self._service.report(item.known, settings)
            if item.after is verdict is link.finding.verdict:
                died.setdefault(item.known.key, (item, link))
        newest = max((item.day for item in items), default=0)
        feed = self._atom(scope, newest, died.values(), given, day, say)
        response = sent(request, atom.bytes_of(feed), atom.CONTENT_TYPE)
        return dated(request, response, newest, day)

    async def _scope(self, given: Parameters) -> _Scope:
        page = _page_of(given)
        category = category_of(given) if "category" in given else None
        if page is not None and category is not None:
            raise Problem(409, "page-or-category")
        name, wiki = await self._service.find_wiki(given)
        if category is not None:
            members, more = await self._service.find_members(wiki, category)
            return _Scope(name, wiki.wiki, category=category, members=members, more=more)
        if page is None:
            return _Scope(name, wiki.wiki)
        async with self._service.pool.viewing() as conn:
            title = (await list_titles(conn, wiki.wiki, [page])).get(page)
        if title is None:
            raise Problem(404, "unknown-page", str(page), str(name))
        return _Scope(name, wiki.wiki, page=page, title=title.title)

    def _change(self, item: NewsItem, day: int, say: Messages, settings: OfWiki) -> dict[str, Any]:
        return {
            "change": item.change,
            "day": iso(item.day),
            "before": item.before.word,
            "after": item.after.word,
            "reason": None if item.reason is None else item.reason.word,
            "pages": [
                {
                    "id": page.page,
                    "namespace": page.namespace,
                    "title": page.title,
                    "repaired": page.page in item.repaired,
                }
                for page in item.pages
            ],
            "more": item.more,
            "link": link_payload(self._service.report(item.known, settings), day, say, settings.writes),
        }

    def _atom(
        self,
        scope: _Scope,
        newest: int,
        died: Iterable[tuple[NewsItem, LinkReport]],
        given: Parameters,
        day: int,
        say: Messages,
    ) -> AtomFeed:
        public, wiki, page = self._service.public_url, str(scope.name), scope.page
        tag = f"tag:{urlsplit(public).hostname},2017:dead/{wiki}"
        language = {"lang": say.language.code} if {"lang", "uselang"} & given.keys() else {}
        query = {"dbname": wiki, **language}
        about = public + address_of("dead-links", **query)
        identity, heading = tag, say.text("weboid-feed-title", wiki)
        if page is not None:
            identity, query = f"{tag}/{page}", {"dbname": wiki, "page": str(page), **language}
            about = public + address_of("link-info", dbname=wiki, pageid=str(page), **language)
            heading = say.text("weboid-feed-title-page", phrases.visible(scope.title), wiki)
        elif scope.category is not None:
            identity = f"{tag}/category/{quote(scope.category, safe='')}"
            query = {"dbname": wiki, "category": scope.category, **language}
            heading = say.text("weboid-feed-title-category", phrases.visible(scope.category), wiki)
        chosen = only(given, *_CHOSEN)
        if chosen.get("verdict") == "dead":
            del chosen["verdict"]
        if "verdict" in chosen:
            heading = say.text("weboid-feed-title-doubtful", wiki)
        if chosen:
            identity, query = f"{identity}?{urlencode(chosen)}", {**query, **chosen}
            about = public + address_of("dead-links", **query) if page is None else about
            if "domain" in chosen and "verdict" not in chosen:
                heading = say.text("weboid-feed-title-domain", phrases.visible(chosen["domain"]), wiki)
        return AtomFeed(
            id=identity,
            title=heading,
            link=about,
            itself=public + address_of("dead-feed", **query),
            lang=say.language.bcp47,
            day=newest,
            entries=tuple(
                self._entry(item, link, f"{tag}/change/{item.change}", wiki, language, day, say) for item, link in died
            ),
        )

    def _entry(
        self,
        item: NewsItem,
        link: LinkReport,
        identity: str,
        wiki: str,
        language: dict[str, str],
        day: int,
        say: Messages,
    ) -> AtomEntry:
        pages = [phrases.visible(page.title) for page in item.pages[:_PAGES_NAMED]]
        others = len(item.pages) - len(pages)
        summary = [phrases.reason_words(link, day, say), say.text("weboid-feed-pages", ", ".join(pages))]
        if others:
            summary.append(say.text("weboid-feed-more", others))
        if item.repaired:
            summary.append(say.text("weboid-feed-repaired", len(item.repaired), len(item.pages)))
        copy = None if link.copies is None else link.copies.first
        # What died is looked up soon; feed readers keep what they have read.
        if link.copies is not None and link.copies.state is not CopyState.PENDING:
            summary.append(copy_summary(link, day, say))
        return AtomEntry(
            id=identity,
            title=say.text("weboid-feed-entry", phrases.titled_url(link), pages[0] if pages else wiki),
            link=self._service.public_url + address_of("url", url=str(link.normal), dbname=wiki, **language),
            summary=" ".join(part for part in summary if part),
            day=item.day,
            copy=None if copy is None else phrases.href(copy.address),
        )


def _verdict_of(given: Parameters) -> Verdict:
    """The verdict of a feed's links; raises Problem."""
    word = given.get("verdict", "dead")
    if word not in ("dead", "doubtful"):
        raise Problem(400, "verdict")
    if word == "doubtful" and "repaired" in given:
        raise Problem(409, "dead-only", "repaired")
    return Verdict.DEAD if word == "dead" else Verdict.DOUBTFUL


def dated(request: web.Request, response: web.Response, newest: int, day: int) -> web.Response:
    """Adds Last-Modified, and obeys If-Modified-Since, which counts only without If-None-Match (RFC 9110 §13.2.2).

    Changes have days, no times: if the newest one is of today, another may follow, so there is no Last-Modified.
    """
    if newest >= day:
        return response
    end = datetime.combine(date_of(newest + 1), time(), UTC)
    has_it = request.if_modified_since is not None and request.if_modified_since >= end
    if response.status == 200 and has_it and hdrs.IF_NONE_MATCH not in request.headers:
        kept = (hdrs.CACHE_CONTROL, hdrs.VARY, hdrs.ETAG, *OPEN_TO_ALL)
        response = web.Response(status=304, headers={name: response.headers[name] for name in kept})
    response.last_modified = end
    return response


def _since_of(given: Parameters) -> int | date:
    since = given.get("since", "0")
    if (parts := _NUMBER.parts_of(since)) is not None:
        return parts.numbers[0]
    try:
        if _DATE.fullmatch(since):
            return date.fromisoformat(since)
    except ValueError:
        pass
    raise Problem(400, "since")


def _day(since: date) -> int:
    """The number of the day; the first or last possible one for dates outside of the range."""
    try:
        return day_of(since)
    except ValueError:
        return 0 if since < date_of(0) else day_of(date_of(32_767))


def _page_of(given: Parameters) -> int | None:
    page = next(iter([page_of(given, name) for name in ("page", "pageid", "curid") if name in given]), None)
    if page is not None and page >= _MOST_PAGE:
        raise Problem(404, "unknown-page", str(page), given.get("dbname", ""))
    return page
