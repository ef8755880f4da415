"""From the links of a page to the URLs that are recorded: the watched ones, judged by the spam lists in force (L-3).

All other links are only reported in answers (U-9). Links are recorded with the stamp of the lists that judged them; if
these have changed meanwhile, nothing is recorded, and the links are judged again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from weboid.core.url.classify import UrlClass, class_of_host
from weboid.core.url.farms import Farm
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamFilter
from weboid.core.url.urls import Url, parse
from weboid.errors import StoreAway
from weboid.remote.feed.batches import Stamp
from weboid.remote.feed.calls import SpamLists
from weboid.store.pages.page import PageUrls
from weboid.store.pages.spam import FARM
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.source import PageLinks

NO_SPAM: Final = SpamFilter((), ())
_TRIES: Final = 10

_Result = TypeVar("_Result")


class Judge(NamedTuple):
    """A filter of links, and the stamp of the lists that it was made of; None: of none."""

    spam: SpamFilter
    stamp: Stamp | None


class WikiSpam:
    """Judges the links of a wiki, by no lists in this class itself. Both methods raise StoreError."""

    async def judge(self) -> Judge:
        """Returns the filter as it was when its lists were last looked at."""
        return Judge(NO_SPAM, None)

    async def renew(self) -> Judge:
        """Returns the filter after looking whether one of its lists has changed."""
        return await self.judge()


class SpamFilters:
    """The filters of wikis, each built when it is first needed and again when one of its lists has changed.

    All wikis of a farm share the matcher of the farm's lists. At most `wikis` filters are kept.
    """

    def __init__(self, lists: SpamLists, wikis: int = 1_000) -> None:
        self._lists = lists
        self._wikis = wikis
        self._filters: dict[tuple[int, str], Judge] = {}

    def of(self, farm: int, dbname: str) -> WikiSpam:
        return _OfWiki(self, farm, dbname)

    async def judge(self, farm: int, dbname: str) -> Judge:
        """The filter for the pages of a wiki, by its farm's lists and its own."""
        known = self._filters.pop((farm, dbname), None) or await self._renewed(farm, dbname, None)
        return self._kept(farm, dbname, known)

    async def renew(self, farm: int, dbname: str) -> Judge:
        """Looks first whether one of the lists has changed."""
        return self._kept(farm, dbname, await self._renewed(farm, dbname, self._filters.get((farm, dbname))))

    async def filter_of(self, wiki: StoredWiki) -> SpamFilter:
        """The filter of a wiki by the lists that are in force now."""
        return (await self.renew(wiki.farm, wiki.dbname)).spam

    def _kept(self, farm: int, dbname: str, judge: Judge) -> Judge:
        self._filters.pop((farm, dbname), None)
        self._filters[farm, dbname] = judge
        while len(self._filters) > self._wikis:
            # Least recently used first; the farm's own filter counts as one.
            del self._filters[next(iter(self._filters))]
        return judge

    async def _renewed(self, farm: int, dbname: str, known: Judge | None) -> Judge:
        had = known.stamp if known else None
        if dbname == FARM:
            lines = await self._lists.find(farm, FARM, had.farm if had else None)
            if lines is None and known:
                return known
            above: SpamFilter | None = None
            above_stamp: tuple[str, ...] = ()
        else:
            farm_judge = await self.renew(farm, FARM)
            above, above_stamp = farm_judge.spam, farm_judge.stamp.farm if farm_judge.stamp else ()
            is_above_same = had is not None and had.farm == above_stamp
            lines = await self._lists.find(farm, dbname, had.own if had and is_above_same else None)
            if lines is None and known:
                return known
            if lines is not None and not lines.stamp:
                return Judge(farm_judge.spam, Stamp(above_stamp))
        assert lines is not None, "lists that are not known are always returned"
        spam = await asyncio.to_thread(SpamFilter, lines.black, lines.white, base=above)
        return Judge(spam, Stamp(lines.stamp) if dbname == FARM else Stamp(above_stamp, lines.stamp))


@dataclass(frozen=True, slots=True)
class _OfWiki(WikiSpam):
    filters: SpamFilters
    farm: int
    dbname: str

    async def judge(self) -> Judge:
        return await self.filters.judge(self.farm, self.dbname)

    async def renew(self) -> Judge:
        return await self.filters.renew(self.farm, self.dbname)


async def judged(spam: WikiSpam, record: Callable[[Judge], Awaitable[_Result | None]]) -> _Result:
    """Calls `record` until it returns a result: None while the lists of its judge are no longer in force.

    Raises StoreAway if they change faster than they are read.
    """
    judge = await spam.judge()
    for _ in range(_TRIES):
        if (result := await record(judge)) is not None:
            return result
        judge = await spam.renew()
    raise StoreAway("the spam lists change again and again")


def page_urls(page: PageLinks, farm: Farm, spam: SpamFilter = NO_SPAM) -> PageUrls:
    """Returns the page with its watched URLs, each once even if the page has several forms of it."""
    urls, unwanted = watched_urls(page.urls, farm, spam)
    return PageUrls(page.page, page.namespace, page.title, page.latest, page.mark, urls, unwanted)


def watched_urls(links: Iterable[str], farm: Farm, spam: SpamFilter) -> tuple[dict[UrlKey, Url], dict[UrlKey, str]]:
    """Returns the URLs among these links that are watched (L-3), and those that are spam, as given.

    A URL is spam if any form of it is.
    """
    urls: dict[UrlKey, Url] = {}
    unwanted: dict[UrlKey, str] = {}
    has_spam = bool(spam)
    for text in links:
        try:
            url = parse(text)
        except InvalidUrl:
            continue
        if class_of_host(url.host, farm) is not UrlClass.WATCHED:
            continue
        key = key_of(url)
        if has_spam and spam.is_spam(text, str(url)):
            unwanted.setdefault(key, text)
        else:
            urls[key] = url
    return ({key: url for key, url in urls.items() if key not in unwanted} if unwanted else urls), unwanted
