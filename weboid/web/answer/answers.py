"""From a question to the values of its answer: the page's links as they are now, and all that is known of them (W-10).

One law: the wiki is read before a connection to the database is taken, and all URLs come with one statement.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from weboid.core.record.policy import Policy
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import suspicious
from weboid.core.verdict.link_report import KeyedLink, PageReport, keyed_link, keyed_reports, link_reports, watched_keys
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
    """Reports on the pages that were found, in the order asked for; `missing` names the others. Given on `day`."""

    wiki: StoredWiki
    pages: tuple[PageReport, ...]
    missing: tuple[str, ...]
    day: int

    def is_of(self, revision: int | None) -> bool:
        """Whether it is what one page has in exactly that revision, as its wiki told just now (W-10)."""
        return all(page.live and page.revision == revision for page in self.pages) and not self.missing


@dataclass(frozen=True, slots=True)
class Answers:
    """All that it takes to answer."""

    pool: Pool
    live: LiveReader
    wikis: Wikis
    asked: FeederNotifier
    policy: Policy
    today: Callable[[], int]

    async def find_answer(self, question: PageQuery) -> PageAnswer:
        """The answer to a question; raises NotFound for a wiki that is not known, StoreError."""
        day = self.today()
        wiki, farm = await self.wikis.find(question.wiki)
        read = await self.live.find_pages(wiki, question.ids, question.titles)
        if read is None:
            reports, titles = await self._find_stored(wiki, question)
        else:
            reports, _ = await asyncio.gather(
                self._find_known(question.wiki, wiki.wiki, farm, read.pages, day),
                self.asked.tell(wiki.wiki, read.pages, day),
            )
            titles = read.titles
        found = {report.page: report for report in reports}
        missing = [str(page) for page in question.ids if page not in found]
        missing += [title for title in question.titles if titles.get(title) not in found]
        order = dict.fromkeys((*question.ids, *(titles[title] for title in question.titles if title in titles)))
        return PageAnswer(wiki, tuple(found[page] for page in order if page in found), tuple(missing), day)

    async def _find_known(
        self, name: WikiName, wiki: int, farm: Farm, pages: Sequence[PageLinks], day: int
    ) -> list[PageReport]:
        """What is known of the links that the wiki has just told."""
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
                links=keyed_reports(links[page.page], known, self.policy, spam=spam.get(page.page, {})),
                read=day,
                live=True,
            )
            for page in pages
        ]

    async def _find_stored(self, wiki: StoredWiki, question: PageQuery) -> tuple[list[PageReport], dict[str, int]]:
        """The pages with their watched links as the last pass left them, and the pages of the titles."""
        async with self.pool.connection() as conn:
            pages = [await find_page(conn, wiki.wiki, page=page) for page in question.ids]
            titled = {title: await find_page(conn, wiki.wiki, title=title) for title in question.titles}
            found = {page.page: page for page in (*pages, *titled.values()) if page is not None}
            reports = await self.list_reports(conn, question.wiki, wiki, list(found.values()))
        return reports, {title: page.page for title, page in titled.items() if page is not None}

    async def list_reports(
        self, conn: Connection, name: WikiName, wiki: StoredWiki, pages: Sequence[StoredPage]
    ) -> list[PageReport]:
        """What is known of the watched links of pages as the last pass left them."""
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
                ),
                # A pass writes only pages that differ, and a request touches them too.
                read=page.touched if wiki.passed is None else wiki.passed,
                live=False,
            )
            for page in pages
        ]


def _keyed(url: str, farm: Farm) -> KeyedLink:
    """A link of a page of that farm; the same are asked about again and again."""
    return _kept_link(url, farm) if len(url) <= _LONGEST_KEPT else keyed_link(classify(url, farm))


@lru_cache(_LINKS_KEPT)
def _kept_link(url: str, farm: Farm) -> KeyedLink:
    return keyed_link(classify(url, farm))


def _stored_links(page: StoredPage, known: Mapping[UrlKey, KnownUrl], spam: Mapping[UrlKey, str]) -> list[Classified]:
    """A page's links as they were stored: those that are watched, and those that are spam there."""
    urls = [known[key].url for key in page.urls if key in known]
    watched = [Classified(str(url), UrlClass.WATCHED, url, note=suspicious(url.path)) for url in urls]
    return watched + [classify(url, None) for url in spam.values()]
