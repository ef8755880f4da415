"""Stage 2: reads pages live as far as an answer needs them, and keeps large ones for the answers that continue (W-10).

A read takes at most `MOST_READ` links; a page with more is not read live, and no other page suffers for it.
"""

import asyncio
from contextlib import suppress
from typing import Final, NamedTuple

from weboid.errors import TooManyLinks
from weboid.mechanism.bounded import BoundedMap
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.live import LiveReader, Name
from weboid.web.request.parameters import BEGIN, PageQuery
from weboid.wiki.source import PageLinks

MOST_READ: Final = 50_000
"""Links of one read."""
_LONGEST_S: Final = 5.0
"""Pages that are read one by one are read for so long, and the last one to its end."""

_KEPT_S: Final = 60.0
_MOST_BYTES: Final = 32 << 20
_LINK_BYTES: Final = 80
_PAGE_BYTES: Final = 400
"""Memory of a link and of a page in addition to their characters, roughly."""
_MOST_LARGE: Final = 1_000

_Found = dict[Name, PageLinks | None]
"""Pages in the order of the query; None = there is no such page."""


class _Kept(NamedTuple):
    read_s: float
    page: PageLinks | None
    weight: int


class LivePageCache:
    """Reads pages for answers that may have to be continued."""

    def __init__(self, live: LiveReader) -> None:
        self._live = live
        self._kept: BoundedMap[tuple[int, Name], _Kept] = BoundedMap(_MOST_BYTES, weigh=lambda kept: kept.weight)
        self._large: BoundedMap[tuple[int, tuple[Name, ...]], float] = BoundedMap(_MOST_LARGE)
        """Queries, and single pages, that have too many links, and when that expires."""

    async def read(self, wiki: StoredWiki, query: PageQuery, links: int) -> dict[Name, PageLinks | None] | None:
        """The pages of a query from its bookmark on, at least so many that they have that many links there, else all.

        None if the wiki does not answer in time. Raises TooManyLinks if the first page has more than may be read.
        """
        names = query.names[query.begin.index :]
        begun = {} if query.begin == BEGIN else self._begun(wiki, names)
        offset = query.begin.offset
        if len(begun) == len(names) or _links_of(begun, offset) >= links:
            return begun
        with suppress(TooManyLinks):
            found = await self._find(wiki, names, query.names)
            if found is not None and _links_of(found, offset) > links:
                self._keep(wiki, found)
            return found
        return await self._read_singly(wiki, names, begun, links, offset)

    def earlier(self, wiki: StoredWiki, query: PageQuery) -> set[int]:
        """The ids of pages before the bookmark, as far as they are remembered: two titles may lead to one page."""
        kept = (self._kept.get((wiki.wiki, name)) for name in query.names[: query.begin.index])
        return {found.page.page for found in kept if found is not None and found.page is not None}

    async def _read_singly(
        self, wiki: StoredWiki, names: tuple[Name, ...], begun: _Found, links: int, offset: int
    ) -> _Found | None:
        """Reads pages that have too many links together: one after the other."""
        found, until_s = dict(begun), self._now_s() + _LONGEST_S
        for name in names[len(begun) :]:
            if _links_of(found, offset) >= links or (found and self._now_s() > until_s):
                break
            try:
                one = await self._find(wiki, (name,), (name,))
            except TooManyLinks:
                if not found:
                    raise
                break
            if one is None:
                return found or None
            found |= one
            self._keep(wiki, one)
        return found

    async def _find(self, wiki: StoredWiki, names: tuple[Name, ...], query: tuple[Name, ...]) -> _Found | None:
        """Reads these pages of a query; raises TooManyLinks also if it did so within the last minute."""
        if (self._large.get((wiki.wiki, query)) or 0.0) > self._now_s():
            raise TooManyLinks("these pages had too many links a moment ago")
        try:
            return await self._live.find_pages(wiki, names, MOST_READ)
        except TooManyLinks:
            self._large[wiki.wiki, query] = self._now_s() + _KEPT_S
            raise

    def _begun(self, wiki: StoredWiki, names: tuple[Name, ...]) -> _Found:
        """The first of these pages, as far as they were read for the answer before."""
        begun: _Found = {}
        for name in names:
            kept = self._kept.use((wiki.wiki, name))
            if kept is None or kept.read_s < self._now_s() - _KEPT_S:
                break
            begun[name] = kept.page
        return begun

    def _keep(self, wiki: StoredWiki, found: _Found) -> None:
        now_s = self._now_s()
        for name, page in found.items():
            self._kept[wiki.wiki, name] = _Kept(now_s, page, _bytes_of(page))

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()


def _links_of(found: _Found, offset: int) -> int:
    """The number of links from that one of the first page on; a page that does not have it begins anew."""
    counts = [0 if page is None else len(page.all_urls) for page in found.values()]
    return sum(counts) - (offset if counts and offset < counts[0] else 0)


def _bytes_of(page: PageLinks | None) -> int:
    if page is None:
        return _PAGE_BYTES
    local = sum([len(link.url) + _LINK_BYTES for link in page.local])
    return _PAGE_BYTES + sum(map(len, page.urls)) + _LINK_BYTES * (len(page.urls) + len(page.interwiki)) + local
