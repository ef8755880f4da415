"""Refreshing the spam lists, and classifying again the links that they concern (L-3, L-8, O-6).

Fetching the pages of the lists belongs to ``wiki/spamlist``, storing them to ``store/pages/spam``.
One law: after a list has changed, every link of a watched page is classified as an intake of that page by the new lists
would do it; if that is broken off anywhere, the next refresh goes on with it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from weboid.core.url.farms import Farm
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamFilter, SpamLines, parse_lines
from weboid.core.url.urls import InvalidUrl, Url, parse
from weboid.mechanism.again import Again, at_once
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.spam import (
    FARM,
    UNAPPLIED,
    ListKind,
    Reclassified,
    SpamBatch,
    find_stretch,
    list_spam_lists,
    list_stamps,
    record_applied,
    record_reclassified,
    record_spam_list,
    spam_list,
)
from weboid.store.pages.wiki import StoredWiki, list_wikis
from weboid.wiki.action import ActionApi
from weboid.wiki.spamlist import GLOBAL_TITLE, ListTexts, fetch_global_list, fetch_local_lists

_BATCH: Final = 500


@dataclass(slots=True)
class Refreshed:
    """What a refresh found: whether any list has changed, lines in force, lines that cannot be run, links changed."""

    changed: bool = False
    lines: int = 0
    unusable: int = 0
    links: Reclassified = field(default_factory=Reclassified)


Stamp = tuple[tuple[str, ...], tuple[str, ...]]
"""The stamps of a farm's lists and of a wiki's own: they change when a list does."""

Show = Callable[[Reclassified], None]


def _show_nothing(so_far: Reclassified) -> None:
    pass


class SpamFilters:
    """The filters of wikis, each built when it is first needed and again when one of its lists has changed.

    All wikis of a farm share the matcher of the farm's lists. At most `wikis` filters are kept.
    """

    def __init__(self, wikis: int = 100) -> None:
        self._wikis = wikis
        self._filters: dict[tuple[int, str], tuple[Stamp, SpamFilter]] = {}

    async def current(self, conn: Connection, farm: int, dbname: str) -> SpamFilter:
        """The filter for the pages of a wiki, by its farm's lists and its own.

        It is valid until the end of the caller's transaction: a refresh that changes a list waits for that, and then
        classifies again what was recorded in it.
        """
        stamps = await list_stamps(conn, farm, dbname)
        stamp = (stamps[FARM], stamps[dbname])
        known = self._filters.pop((farm, dbname), None)
        if known is None or known[0] != stamp:
            known = (stamp, await self._built(conn, farm, dbname, stamp))
        self._filters[farm, dbname] = known
        while len(self._filters) > self._wikis:
            # Least recently used first; the farm's own filter counts as one.
            del self._filters[next(iter(self._filters))]
        return known[1]

    async def _built(self, conn: Connection, farm: int, dbname: str, stamp: Stamp) -> SpamFilter:
        above = await self.current(conn, farm, FARM) if dbname != FARM else None
        if above is not None and not stamp[1]:
            return above
        lists = [each for each in await list_spam_lists(conn, farm, dbname) if each.dbname == dbname]
        black = [line for each in lists if each.kind is ListKind.BLACK for line in each.lines]
        white = [line for each in lists if each.kind is ListKind.WHITE for line in each.lines]
        return await asyncio.to_thread(SpamFilter, black, white, beside=above)


async def is_fresh(conn: Connection, farm: int, dbname: str, day: int) -> bool:
    """Whether the lists of a wiki, or of FARM, were fetched on `day` or later, and have taken effect."""
    own = [each for each in await list_spam_lists(conn, farm, dbname) if each.dbname == dbname]
    return bool(own) and all(each.day >= day for each in own)


async def refresh_spam(
    pool: Pool,
    api: ActionApi,
    wiki: StoredWiki,
    *,
    day: int,
    batch: int = _BATCH,
    show: Show = _show_nothing,
    again: Again = at_once,
) -> Refreshed:
    """Fetches a wiki's own lists, stores them, and classifies its links again if a line was added or removed.

    Raises SourceError if the wiki cannot be read, which changes nothing, and StoreError; `again` does what is stored.
    """
    texts = await fetch_local_lists(api)
    return await _refresh(pool, texts, wiki.farm, wiki.dbname, [wiki], day=day, batch=batch, show=show, again=again)


async def refresh_farm_spam(
    pool: Pool,
    api: ActionApi,
    farm: Farm,
    *,
    day: int,
    title: str = GLOBAL_TITLE,
    batch: int = _BATCH,
    show: Show = _show_nothing,
    again: Again = at_once,
) -> Refreshed:
    """As `refresh_spam`, for the list of all wikis of a farm; `api` is that of the wiki that has it as page `title`."""
    texts = await fetch_global_list(api, title)

    async def list_ours() -> list[StoredWiki]:
        async with pool.connection() as conn:
            return [wiki for wiki in await list_wikis(conn) if wiki.farm == farm.code]

    wikis = await again(list_ours)
    return await _refresh(pool, texts, farm.code, FARM, wikis, day=day, batch=batch, show=show, again=again)


async def reclassify(
    pool: Pool,
    wiki: StoredWiki,
    spam: SpamFilter,
    *,
    day: int,
    batch: int = _BATCH,
    show: Show = _show_nothing,
    again: Again = at_once,
) -> Reclassified:
    """Classifies all links of a wiki's watched pages again, and changes those that became spam or are so no longer.

    It reads `batch` pages at a time, so that memory does not grow with the wiki. Raises StoreError.
    """
    total, after = Reclassified(), 0

    async def classify_some() -> tuple[int, Reclassified | None] | None:
        async with pool.connection() as conn:
            stretch = await find_stretch(conn, wiki.wiki, after=after, limit=batch)
        if stretch is None:
            return None
        now_spam, no_spam = await asyncio.to_thread(_judged, stretch, spam)
        if not now_spam and not no_spam:
            return stretch.last, None
        async with pool.connection() as conn:
            return stretch.last, await record_reclassified(conn, wiki.wiki, now_spam, no_spam, day)

    while done := await again(classify_some):
        after, changed = done
        if changed is not None:
            total += changed
            show(total)
    return total


async def _refresh(
    pool: Pool,
    texts: ListTexts,
    farm: int,
    dbname: str,
    wikis: Sequence[StoredWiki],
    *,
    day: int,
    batch: int,
    show: Show,
    again: Again,
) -> Refreshed:
    fetched = {
        ListKind.BLACK: await asyncio.to_thread(parse_lines, texts.black),
        ListKind.WHITE: await asyncio.to_thread(parse_lines, texts.white),
    }
    refreshed = Refreshed(
        lines=sum(len(lines.usable) for lines in fetched.values()),
        unusable=sum(len(lines.unusable) for lines in fetched.values()),
    )
    # The lists come first, so that every intake from now on uses them; their day UNAPPLIED shows that links follow.
    refreshed.changed = await again(partial(_record_lists, pool, farm, dbname, fetched, day))
    if refreshed.changed:
        filters = SpamFilters()
        for wiki in wikis:
            spam = await again(partial(_filter_now, pool, filters, wiki))
            refreshed.links += await reclassify(pool, wiki, spam, day=day, batch=batch, show=show, again=again)
        await again(partial(_record_applied, pool, farm, dbname, day))
    return refreshed


async def _filter_now(pool: Pool, filters: SpamFilters, wiki: StoredWiki) -> SpamFilter:
    async with pool.connection() as conn:
        return await filters.current(conn, wiki.farm, wiki.dbname)


async def _record_applied(pool: Pool, farm: int, dbname: str, day: int) -> None:
    async with pool.connection() as conn:
        await record_applied(conn, farm, dbname, day)


async def _record_lists(pool: Pool, farm: int, dbname: str, fetched: Mapping[ListKind, SpamLines], day: int) -> bool:
    """Stores the lists; returns whether links have to be classified again: because lines were added or removed, now or
    in a refresh that was broken off."""
    async with pool.connection() as conn:
        known = {each.kind: each for each in await list_spam_lists(conn, farm, dbname) if each.dbname == dbname}
        changed = any(
            set(lines.usable) != set(known[kind].lines) if kind in known else bool(lines.usable)
            for kind, lines in fetched.items()
        ) or any(each.day == UNAPPLIED for each in known.values())
        for kind, lines in fetched.items():
            await record_spam_list(conn, spam_list(farm, dbname, kind, UNAPPLIED if changed else day, lines))
    return changed


def _judged(stretch: SpamBatch, spam: SpamFilter) -> tuple[dict[int, dict[UrlKey, str]], dict[int, dict[UrlKey, Url]]]:
    """From a batch of pages: the uses that are spam, and the spam links that are none."""
    found = {key: text for key, url in stretch.urls.items() if spam.is_spam(text := str(url))}
    now_spam = {
        page: those for page, keys in stretch.uses.items() if (those := {k: found[k] for k in keys if k in found})
    }
    no_spam: dict[int, dict[UrlKey, Url]] = {}
    for page, given in stretch.spam.items():
        for key, text in given.items():
            url = _url(key, text)
            if url is not None and not spam.is_spam(text, str(url)):
                no_spam.setdefault(page, {})[key] = url
    return now_spam, no_spam


def _url(key: UrlKey, given: str) -> Url | None:
    """The URL of a spam link; None if it has another key in this program's normal form."""
    try:
        url = parse(given)
    except InvalidUrl:
        return None
    return url if key_of(url) == key else None
