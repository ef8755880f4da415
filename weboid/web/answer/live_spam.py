"""The links of this second against the spam lists that the store has (L-3), whichever page they are on.

A wiki's lists are looked at every 30 seconds, once for all callers; until they are there the ones before are in force.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final

from weboid.core.url.classify import UrlClass
from weboid.core.url.keys import UrlKey
from weboid.core.url.spam_lines import SpamFilter
from weboid.core.verdict.link_report import KeyedLink
from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.single_flight import SingleFlight
from weboid.mechanism.slices import Steps, batches, in_slices
from weboid.store.pages.wiki import StoredWiki

FilterOf = Callable[[StoredWiki], Awaitable[SpamFilter]]
"""The filter by a wiki's lists and its farm's, made anew only if one of them has changed; may raise StoreError."""

_KEPT_S: Final = 30.0
_LONGEST_S: Final = 1.0
"""An answer waits no longer for lists, which take a second to be made ready if they are very long."""
_MOST: Final = 50
"""Wikis: the machines of a long list take megabytes."""
_JUDGED: Final = 16_384
_STEP: Final = 100
_NOTHING_KEPT: Final = (0.0, None)

LinksByPage = Mapping[int, Sequence[KeyedLink]]
SpamByPage = Mapping[int, Mapping[UrlKey, str]]


class LiveSpam:
    """Judges links by the lists of their wikis; by none without `filters`."""

    def __init__(self, filters: FilterOf | None) -> None:
        self._filters = filters
        self._kept: BoundedMap[int, tuple[float, SpamFilter]] = BoundedMap(_MOST)
        self._flights: SingleFlight[None] = SingleFlight()
        self._is_spam = lru_cache(_JUDGED)(SpamFilter.is_spam)

    async def find(self, wiki: StoredWiki, links: LinksByPage) -> SpamByPage:
        """By page those of its links that are spam by the lists in force; pages without any are left out."""
        if (filters := self._filters) is None or not any(links.values()):
            return {}
        until_s, spam = self._kept.use(wiki.wiki) or _NOTHING_KEPT
        if asyncio.get_running_loop().time() >= until_s:
            # Lists that are late, or cannot be read, judge the next answers.
            with suppress(TimeoutError, StoreError):
                await self._flights.result(wiki.wiki, lambda: self._renew(wiki, filters), _LONGEST_S)
            _, spam = self._kept.get(wiki.wiki) or _NOTHING_KEPT
        return await in_slices(self._judged(spam, links)) if spam else {}

    async def close(self) -> None:
        """Ends what still reads lists."""
        await self._flights.close()

    async def _renew(self, wiki: StoredWiki, filters: FilterOf) -> None:
        spam = await filters(wiki)
        _, before = self._kept.get(wiki.wiki) or _NOTHING_KEPT
        if spam is not before:
            self._is_spam.cache_clear()
        self._kept[wiki.wiki] = asyncio.get_running_loop().time() + _KEPT_S, spam

    def _judged(self, spam: SpamFilter, links: LinksByPage) -> Steps[SpamByPage]:
        found: dict[int, dict[UrlKey, str]] = {}
        for page, keyed in links.items():
            for some in batches(keyed, _STEP):
                for link, normal, key in some:
                    if key is None or normal is None or link.kind is not UrlClass.WATCHED:
                        continue
                    if self._is_spam(spam, link.given, normal):
                        found.setdefault(page, {})[key] = link.given
                yield
        return found
