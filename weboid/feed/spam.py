"""Refreshing the spam lists, and classifying again the links that they concern (L-3, L-8, O-6).

``wiki/spamlist`` fetches the pages of the lists, ``store/pages/spam`` stores them. After a list has changed, every link
of a watched page is classified as an intake of that page by the new lists would do it; if that is broken off anywhere,
the next refresh goes on with it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from weboid.core.url.farms import Farm
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamFilter, parse_lines
from weboid.core.url.urls import Url, parse
from weboid.feed.intake import SpamFilters
from weboid.mechanism.patience import Again, at_once
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.spam import FARM, ListKind, Reclassified, SpamBatch
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.action import ActionApi
from weboid.wiki.spamlist import ListTexts, fetch_global_list, fetch_local_lists

_BATCH: Final = 500


@dataclass(slots=True)
class Refreshed:
    """The result of a refresh: whether any list changed, lines in force, lines that cannot be run, links changed."""

    changed: bool = False
    lines: int = 0
    unusable: int = 0
    links: Reclassified = field(default_factory=Reclassified)


async def refresh_spam(
    core: FeedStore, api: ActionApi, wiki: StoredWiki, *, day: int, again: Again = at_once
) -> Refreshed:
    """Fetches a wiki's own lists, stores them, and classifies its links again if a line was added or removed.

    Raises SourceError if the wiki cannot be read, which changes nothing, and StoreError; `again` does what is stored.
    """
    texts = await fetch_local_lists(api)
    return await _refresh(core, texts, wiki.farm, wiki.dbname, [wiki], day=day, again=again)


async def refresh_farm_spam(
    core: FeedStore, api: ActionApi, farm: Farm, *, day: int, again: Again = at_once
) -> Refreshed:
    """As `refresh_spam`, for the list of all wikis of a farm; `api` is that of the wiki that has it."""
    texts = await fetch_global_list(api)
    wikis = [wiki for wiki in await again(core.wikis.list_all) if wiki.farm == farm.code]
    return await _refresh(core, texts, farm.code, FARM, wikis, day=day, again=again)


async def reclassify(
    core: FeedStore, wiki: StoredWiki, spam: SpamFilter, *, day: int, batch: int = _BATCH, again: Again = at_once
) -> Reclassified:
    """Classifies all links of a wiki's watched pages again, and changes those that became spam or are so no longer.

    It reads `batch` pages at a time, so that memory does not grow with the wiki. Raises StoreError.
    """
    total, after = Reclassified(), 0

    async def classify_some() -> tuple[int, Reclassified | None] | None:
        stretch = await core.lists.find_stretch(wiki.wiki, after, batch)
        if stretch is None:
            return None
        now_spam, no_spam = await asyncio.to_thread(_judged, stretch, spam)
        if not now_spam and not no_spam:
            return stretch.last, None
        return stretch.last, await core.lists.reclassify(wiki.wiki, now_spam, no_spam, day)

    while done := await again(classify_some):
        after, changed = done
        if changed is not None:
            total += changed
    return total


async def _refresh(
    core: FeedStore, texts: ListTexts, farm: int, dbname: str, wikis: Sequence[StoredWiki], *, day: int, again: Again
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
    refreshed.changed = await again(partial(core.lists.record, farm, dbname, fetched, day))
    if refreshed.changed:
        filters = SpamFilters(core.lists)
        for wiki in wikis:
            spam, _ = await again(partial(filters.renew, wiki.farm, wiki.dbname))
            refreshed.links += await reclassify(core, wiki, spam, day=day, again=again)
        await again(partial(core.lists.record_applied, farm, dbname, day))
    return refreshed


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
