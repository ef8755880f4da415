"""From a question to the values of its answer: the page's links as they are now, and all that is known of them (W-10).

One law: the wiki is read before a connection to the database is taken, and all URLs come with one statement.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weboid.core.classify import Classified, UrlClass, classify
from weboid.core.farms import Farm, WikiName, farm_named
from weboid.core.keys import UrlKey
from weboid.core.policy import Policy
from weboid.core.report import PageReport, link_reports, watched_keys
from weboid.core.urls import suspicious
from weboid.errors import ConfigError, NotFound, StoreError
from weboid.store.page import StoredPage, find_page
from weboid.store.pending import record_asked
from weboid.store.pool import Connection, Pool
from weboid.store.rows import KnownUrl
from weboid.store.spam import list_spam_links
from weboid.store.url import find_urls
from weboid.store.wiki import StoredWiki, find_wiki
from weboid.web.live import LiveReader
from weboid.web.question import Question
from weboid.wiki.source import PageLinks

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """Reports on the pages that were found, in the order asked for; `missing` names the others. Given on `day`."""

    wiki: StoredWiki
    pages: tuple[PageReport, ...]
    missing: tuple[str, ...]
    day: int


@dataclass(frozen=True, slots=True)
class Answers:
    """All that it takes to answer."""

    pool: Pool
    live: LiveReader
    farms: Sequence[Farm]
    policy: Policy
    today: Callable[[], int]

    async def find_answer(self, question: Question) -> Answer:
        """The answer to a question; raises NotFound for a wiki that is not known, StoreError."""
        day = self.today()
        wiki, farm = await self.find_wiki(question.wiki)
        pages = await self.live.find_pages(wiki, question.ids, question.title)
        if pages is None:
            reports = await self._find_stored(wiki, question)
        else:
            reports = await self._find_known(question.wiki, wiki.wiki, farm, pages, day)
            await self._hand_in(wiki.wiki, [report.page for report in reports], day)
        found = {report.page: report for report in reports}
        missing = [str(page) for page in question.ids if page not in found]
        if question.title and not found:
            missing.append(question.title)
        ordered = [found[page] for page in question.ids if page in found] if question.ids else reports
        return Answer(wiki, tuple(ordered), tuple(missing), day)

    async def find_wiki(self, name: WikiName) -> tuple[StoredWiki, Farm]:
        """The wiki of that name and its farm; raises NotFound."""
        try:
            farm = farm_named(name.farm, self.farms)
        except ConfigError:
            raise NotFound(str(name)) from None
        async with self.pool.connection() as conn:
            wiki = await find_wiki(conn, farm, name)
        if wiki is None:
            raise NotFound(str(name))
        return wiki, farm

    async def _find_known(
        self, name: WikiName, wiki: int, farm: Farm, pages: Sequence[PageLinks], day: int
    ) -> list[PageReport]:
        """What is known of the links that the wiki has just told."""
        links = {page.page: [classify(url, farm) for url in page.urls] for page in pages}
        keys = set().union(*(watched_keys(of_page) for of_page in links.values()))
        async with self.pool.connection() as conn:
            known = await find_urls(conn, sorted(keys)) if keys else {}
            spam = await list_spam_links(conn, wiki, links)
        return [
            PageReport(
                wiki=name,
                page=page.page,
                namespace=page.namespace,
                title=page.title,
                revision=page.latest,
                links=link_reports(links[page.page], known, self.policy, spam=spam.get(page.page, {})),
                read=day,
                live=True,
            )
            for page in pages
        ]

    async def _hand_in(self, wiki: int, pages: Sequence[int], day: int) -> None:
        """Tells the feeder what was asked for; an answer does not depend on it (O-8)."""
        try:
            async with self.pool.connection() as conn:
                await record_asked(conn, wiki, pages, day)
        except StoreError as error:
            log.warning("pages that were asked for could not be noted: %s", error)

    async def _find_stored(self, wiki: StoredWiki, question: Question) -> list[PageReport]:
        """The pages with their watched links as the last pass left them."""
        async with self.pool.connection() as conn:
            pages = await _find_pages(conn, wiki.wiki, question)
            keys = {key for page in pages for key in page.urls}
            known = await find_urls(conn, sorted(keys)) if keys else {}
            spam = await list_spam_links(conn, wiki.wiki, [page.page for page in pages])
        return [
            PageReport(
                wiki=question.wiki,
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


async def _find_pages(conn: Connection, wiki: int, question: Question) -> list[StoredPage]:
    if question.title:
        found = [await find_page(conn, wiki, title=question.title)]
    else:
        found = [await find_page(conn, wiki, page=page) for page in question.ids]
    return [page for page in found if page is not None]


def _stored_links(page: StoredPage, known: Mapping[UrlKey, KnownUrl], spam: Mapping[UrlKey, str]) -> list[Classified]:
    """A page's links as they were stored: those that are watched, and those that are spam there."""
    urls = [known[key].url for key in page.urls if key in known]
    watched = [Classified(str(url), UrlClass.WATCHED, url, note=suspicious(url.path)) for url in urls]
    return watched + [classify(url, None) for url in spam.values()]
