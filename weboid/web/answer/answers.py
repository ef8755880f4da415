"""From a `PageQuery` to the values of its answer: the links of pages as they are now, and their reports (W-10).

How a wiki is read live is in `live_pages`, what the formats write in `payload`.
One law: the wiki is read before a connection to the database is taken, and all URLs come with one statement.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Final

from weboid.core.record.policy import Policy
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import suspicious
from weboid.core.verdict.kept_copies import Services
from weboid.core.verdict.link_report import (
    KeyedLink,
    PageReport,
    cited_on,
    keyed_link,
    keyed_reports,
    link_reports,
    watched_keys,
)
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.rows import KnownUrl
from weboid.store.pages.page import StoredPage, find_page
from weboid.store.pages.spam import list_spam_links
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.url import find_urls
from weboid.web.answer.live_pages import LiveReader
from weboid.web.answer.notify_feeder import FeederNotifier
from weboid.web.answer.wiki_names import Wikis
from weboid.web.request.parameters import PageQuery
from weboid.wiki.source import PageLinks

_LINKS_KEPT: Final = 16_384
_LONGEST_KEPT: Final = 500
"""Characters: all that are kept take some 30 MB at the most."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """Reports on the pages that were found, in the order of the query; `missing` names the others. Made on `day`."""

    wiki: StoredWiki
    pages: tuple[PageReport, ...]
    missing: tuple[str, ...]
    day: int

    def is_of(self, revision: int | None) -> bool:
        """Whether it shows one page in exactly that revision, as its wiki returned it just now (W-10)."""
        return all(page.live and page.revision == revision for page in self.pages) and not self.missing

    def cited_on(self, day: int) -> "PageAnswer":
        """The same with the distances of copies to a citation on that day."""
        pages = [replace(page, links=tuple(cited_on(link, day) for link in page.links)) for page in self.pages]
        return replace(self, pages=tuple(pages))


@dataclass(frozen=True, slots=True)
class Answers:
    """Finds the answers to queries; has all that it takes."""

    pool: Pool
    live: LiveReader
    wikis: Wikis
    notifier: FeederNotifier
    policy: Policy
    today: Callable[[], int]
    services: Services
    """They make the addresses of archived copies."""

    async def find_answer(self, query: PageQuery) -> PageAnswer:
        """The answer to a query; raises NotFound for a wiki that is not known, StoreError."""
        day = self.today()
        wiki, farm = await self.wikis.find(query.wiki)
        read = await self.live.find_pages(wiki, query.ids, query.titles)
        if read is None:
            reports, titles = await self._find_stored(wiki, query)
        else:
            reports, _ = await asyncio.gather(
                self._find_known(query.wiki, wiki.wiki, farm, read.pages, day),
                self.notifier.notify(wiki.wiki, read.pages, day),
            )
            titles = read.titles
        found = {report.page: report for report in reports}
        missing = [str(page) for page in query.ids if page not in found]
        missing += [title for title in query.titles if titles.get(title) not in found]
        order = dict.fromkeys((*query.ids, *(titles[title] for title in query.titles if title in titles)))
        return PageAnswer(wiki, tuple(found[page] for page in order if page in found), tuple(missing), day)

    async def _find_known(
        self, name: WikiName, wiki: int, farm: Farm, pages: Sequence[PageLinks], day: int
    ) -> list[PageReport]:
        """The reports on pages whose links the wiki has just returned."""
        links = {page.page: [_keyed(url, farm) for url in page.urls] for page in pages}
        keys = watched_keys(chain.from_iterable(links.values()))
        async with self.pool.reading() as conn:
            known = await find_urls(conn, sorted(keys)) if keys else {}
            spam = await list_spam_links(conn, wiki, links)
        return [
            PageReport(
                wiki=name,
                page=page.page,
                namespace=page.namespace,
                title=page.title,
                revision=page.latest,
                links=keyed_reports(
                    links[page.page], known, self.policy, spam=spam.get(page.page, {}), services=self.services
                ),
                read=day,
                live=True,
            )
            for page in pages
        ]

    async def _find_stored(self, wiki: StoredWiki, query: PageQuery) -> tuple[list[PageReport], dict[str, int]]:
        """The reports on the pages as the last pass left them, and the page ids of the titles."""
        async with self.pool.connection() as conn:
            pages = [await find_page(conn, wiki.wiki, page=page) for page in query.ids]
            titled = {title: await find_page(conn, wiki.wiki, title=title) for title in query.titles}
            found = {page.page: page for page in (*pages, *titled.values()) if page is not None}
            reports = await self.list_reports(conn, query.wiki, wiki, list(found.values()))
        return reports, {title: page.page for title, page in titled.items() if page is not None}

    async def list_reports(
        self, conn: Connection, name: WikiName, wiki: StoredWiki, pages: Sequence[StoredPage]
    ) -> list[PageReport]:
        """The reports on stored pages: their watched links as the last pass left them."""
        keys = {key for page in pages for key in page.urls}
        known = await find_urls(conn, sorted(keys)) if keys else {}
        spam = await list_spam_links(conn, wiki.wiki, [page.page for page in pages])
        return [
            PageReport(
                wiki=name,
                page=page.page,
                namespace=page.namespace,
                title=page.title,
                revision=page.latest,
                links=link_reports(
                    _stored_links(page, known, spam.get(page.page, {})),
                    known,
                    self.policy,
                    spam=spam.get(page.page, {}),
                    services=self.services,
                ),
                # Of the pass, not of the page: a pass writes only pages that differ, and requests touch them too.
                read=page.touched if wiki.passed is None else wiki.passed,
                live=False,
            )
            for page in pages
        ]


def _keyed(url: str, farm: Farm) -> KeyedLink:
    """A link of a page of that farm. Classified links are cached, as the same ones are requested again and again."""
    return _kept_link(url, farm) if len(url) <= _LONGEST_KEPT else keyed_link(classify(url, farm))


@lru_cache(_LINKS_KEPT)
def _kept_link(url: str, farm: Farm) -> KeyedLink:
    return keyed_link(classify(url, farm))


def _stored_links(page: StoredPage, known: Mapping[UrlKey, KnownUrl], spam: Mapping[UrlKey, str]) -> list[Classified]:
    """A page's links as they were stored: those that are watched, and those that are spam there."""
    urls = [known[key].url for key in page.urls if key in known]
    watched = [Classified(str(url), UrlClass.WATCHED, url, note=suspicious(url.path)) for url in urls]
    return watched + [classify(url, None) for url in spam.values()]
