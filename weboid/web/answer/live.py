"""Stage 2: reads pages from their wiki at the moment of the request, within a time limit (W-10).

`query` decides what is served if the wiki does not answer. Callers that want the same pages at the same time share one
read, which none of them can cancel for the others; no wiki, silent or slow, takes all slots.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Final, TypeVar, cast

from weboid.core.wikitext.titles import Namespace
from weboid.errors import SourceError, TooManyLinks
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.bulkhead import Bulkhead
from weboid.mechanism.fair_slots import aside
from weboid.mechanism.single_flight import SingleFlight
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.silent_wikis import Attempt, SilentWikis
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.source import ListedEdit, Members, PageLinks, RevisionText, WikiItself

Sources = Callable[[StoredWiki], WikiItself | None]
"""The source that reads a wiki live; None = no such source is known."""

Name = int | str
"""A page in a query: its id, or a title."""

_MOST_READS: Final = 40
"""At one time over all wikis."""
_MOST_OF_A_WIKI: Final = 8
_FEW_OF_A_WIKI: Final = 2
"""While less than half of all slots are free."""
_LONGEST_WAIT_S: Final = 0.5
"""For a slot."""

_MOST_CATEGORIES: Final = 500
_CATEGORY_KEPT_S: Final = 300.0
"""The members of a category are read again after that."""
_MOST_ENTRIES: Final = 50_000
"""Of the interwiki maps of all wikis: Wikimedia's wikis have a thousand each."""
_MAP_KEPT_S: Final = 600.0

T = TypeVar("T")


class LiveReader:
    """Reads pages through the sources of their wikis; each read takes at most `budget_s` seconds."""

    def __init__(self, sources: Sources, *, budget_s: float) -> None:
        self._sources = sources
        self._budget_s = budget_s
        self._reads: SingleFlight[Any] = SingleFlight()
        self._categories: BoundedMap[tuple[int, str], tuple[float, Members]] = BoundedMap(_MOST_CATEGORIES)
        self._maps: BoundedMap[int, tuple[float, InterwikiMap]] = BoundedMap(
            _MOST_ENTRIES, weigh=lambda kept: 1 + len(kept[1])
        )
        self._slots = Bulkhead(_MOST_READS, each=_MOST_OF_A_WIKI, scarce=_FEW_OF_A_WIKI)
        self._silent_wikis = SilentWikis(freed=self._slots.refuse)

    @property
    def silent(self) -> int:
        """The number of wikis that do not answer at the moment."""
        return self._silent_wikis.count

    async def find_pages(
        self, wiki: StoredWiki, names: tuple[Name, ...], most_links: int | None = None
    ) -> dict[Name, PageLinks | None] | None:
        """The pages as they are now, in the order of the names, None for a missing one; None if the wiki does not
        answer in time.

        Raises TooManyLinks if they have more than `most_links` together.
        """
        ids = [name for name in names if isinstance(name, int)]
        titles = [name for name in names if isinstance(name, str)]

        async def read(source: WikiItself) -> dict[Name, PageLinks | None]:
            by_id = await source.find_pages(ids=ids, most_links=most_links) if ids else ()
            titled = await source.find_titled(titles, most_links=most_links) if titles else {}
            found: dict[Name, PageLinks] = {page.page: page for page in by_id}
            found.update(titled)
            return {name: found.get(name) for name in names}

        return await self._shared(wiki, (wiki.wiki, names, most_links), read)

    async def list_members(
        self, wiki: StoredWiki, category: str, *, place: str = "", limit: int = 500
    ) -> Members | None:
        """Pages of a category after `place`, as in `WikiItself`; None if the wiki does not answer in time."""
        return await self._shared(
            wiki,
            (wiki.wiki, "category", category, place, limit),
            lambda source: source.list_members(category, place=place, limit=limit),
        )

    async def find_texts(self, wiki: StoredWiki, revisions: tuple[int, ...]) -> dict[int, RevisionText] | None:
        """The texts of revisions by their ids, as in `WikiItself`; None if the wiki does not answer in time."""
        return await self._shared(wiki, (wiki.wiki, "texts", revisions), lambda source: source.find_texts(revisions))

    async def list_edits(self, wiki: StoredWiki, page: int, first: int) -> list[ListedEdit] | None:
        """Edits of a page from a revision on, as in `WikiItself`; None if the wiki does not answer in time."""
        return await self._shared(
            wiki, (wiki.wiki, "edits", page, first), lambda source: source.list_edits(page, first)
        )

    async def list_titles(self, wiki: StoredWiki, beginning: str) -> list[str] | None:
        """Titles for what somebody has typed, as in `WikiItself`; None if the wiki does not answer in time."""
        return await self._shared(wiki, (wiki.wiki, "titles", beginning), lambda source: source.list_titles(beginning))

    async def find_namespaces(self, wiki: StoredWiki) -> Sequence[Namespace] | None:
        """The names of the wiki's namespaces; None if it does not answer in time."""
        return await self._shared(wiki, (wiki.wiki, "namespaces"), lambda source: source.find_namespaces())

    async def find_interwiki(self, wiki: StoredWiki) -> InterwikiMap | None:
        """The wiki's interwiki map, as it was within the last ten minutes; None if it does not answer in time."""
        if (kept := self._kept_map(wiki)) is not None:
            return kept
        return await self._shared(wiki, (wiki.wiki, "interwiki"), lambda source: source.find_interwiki())

    async def list_first_members(self, wiki: StoredWiki, category: str) -> Members | None:
        """The first pages of a category, as they were within the last five minutes."""
        key, time_s = (wiki.wiki, category), asyncio.get_running_loop().time()
        kept = self._categories.get(key)
        if kept is not None and time_s < kept[0] + _CATEGORY_KEPT_S:
            return kept[1]
        members = await self.list_members(wiki, category)
        if members is not None:
            self._categories[key] = time_s, members
        return members

    async def close(self) -> None:
        """Cancels all reads."""
        await self._reads.close()

    async def _shared(
        self, wiki: StoredWiki, key: tuple[Hashable, ...], read: Callable[[WikiItself], Awaitable[T]]
    ) -> T | None:
        if self._silent_wikis.will_fail(wiki, key):
            return None
        # Others have their turn: this only waits for the wiki.
        async with aside():
            return cast("T | None", await self._reads.result(key, lambda: self._read(wiki, key, read)))

    async def _read(self, wiki: StoredWiki, key: Hashable, read: Callable[[WikiItself], Awaitable[T]]) -> T | None:
        source = self._sources(wiki)
        if source is None:
            return None
        until_s = asyncio.get_running_loop().time() + self._budget_s
        wait_s = 0.0 if self._silent_wikis.is_stalled(wiki) else _LONGEST_WAIT_S
        async with self._slots.slot(wiki.wiki, wait_s=wait_s) as has_slot:
            attempt = self._silent_wikis.attempt(wiki, key) if has_slot else None
            return None if attempt is None else await self._attempted(attempt, wiki, until_s, source, read)

    async def _attempted(
        self,
        attempt: Attempt,
        wiki: StoredWiki,
        until_s: float,
        source: WikiItself,
        read: Callable[[WikiItself], Awaitable[T]],
    ) -> T | None:
        """The result of the read; None if it fails, which is recorded of the wiki and of this read."""
        with attempt:
            source.interwiki = known = self._kept_map(wiki)
            try:
                async with attempt.limited(until_s):
                    pages = await read(source)
            except TooManyLinks:
                attempt.succeeded()
                raise
            except (TimeoutError, SourceError) as error:
                attempt.failed(error, source.answered)
                return None
            attempt.succeeded()
            if known is None and source.interwiki is not None:
                self._maps[wiki.wiki] = asyncio.get_running_loop().time() + _MAP_KEPT_S, source.interwiki
            return pages

    def _kept_map(self, wiki: StoredWiki) -> InterwikiMap | None:
        until_s, known = self._maps.use(wiki.wiki) or (0.0, None)
        return known if asyncio.get_running_loop().time() < until_s else None
