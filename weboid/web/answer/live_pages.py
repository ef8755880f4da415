"""Reads pages from their wiki at the moment of the request, within a time limit (W-10).

What happens if the wiki does not answer is decided in `answers`.
One law: callers that want the same at the same time share one read, and none of them can end it for the others.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from weboid.errors import SourceError
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.single_flight import SingleFlight
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.source import Members, PageLinks, WikiItself

log = logging.getLogger(__name__)

Sources = Callable[[StoredWiki], WikiItself | None]
"""The source that reads a wiki live; None = no such source is known."""

_MOST_READS: Final = 40
"""At one time over all wikis; later ones wait, within their time limit."""

_MOST_CATEGORIES: Final = 500
_CATEGORY_KEPT_S: Final = 300.0
"""The members of a category are read again after that."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LivePages:
    """Pages as they are now; `titles` has the ids of those that were requested by title."""

    pages: list[PageLinks]
    titles: dict[str, int]


class LiveReader:
    """Reads pages through the sources of their wikis; each read takes at most `budget_s` seconds."""

    def __init__(self, sources: Sources, *, budget_s: float) -> None:
        self._sources = sources
        self._budget_s = budget_s
        self._reads: SingleFlight[Any] = SingleFlight()
        self._categories: BoundedMap[tuple[int, str], tuple[float, Members]] = BoundedMap(_MOST_CATEGORIES)
        self._free = asyncio.Semaphore(_MOST_READS)

    async def find_pages(self, wiki: StoredWiki, ids: tuple[int, ...], titles: tuple[str, ...]) -> LivePages | None:
        """The pages as they are now, without missing ones; None if the wiki does not answer in time."""

        async def read(source: WikiItself) -> LivePages:
            pages = {page.page: page for page in await source.find_pages(ids=ids)} if ids else {}
            titled = await source.find_titled(titles) if titles else {}
            pages |= {page.page: page for page in titled.values()}
            return LivePages(
                [pages[page] for page in sorted(pages)], {title: page.page for title, page in titled.items()}
            )

        return await self._shared(wiki, (wiki.wiki, ids, titles), read)

    async def list_members(
        self, wiki: StoredWiki, category: str, *, place: str = "", limit: int = 500
    ) -> Members | None:
        """Pages of a category after `place`, as in `WikiItself`; None if the wiki does not answer in time."""
        return await self._shared(
            wiki,
            (wiki.wiki, category, place, limit),
            lambda source: source.list_members(category, place=place, limit=limit),
        )

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
        """Cancels the reads that are under way."""
        await self._reads.close()

    async def _shared(
        self, wiki: StoredWiki, key: tuple[Hashable, ...], read: Callable[[WikiItself], Awaitable[T]]
    ) -> T | None:
        return cast("T | None", await self._reads.result(key, lambda: self._read(wiki, read)))

    async def _read(self, wiki: StoredWiki, read: Callable[[WikiItself], Awaitable[T]]) -> T | None:
        source = self._sources(wiki)
        if source is None:
            return None
        try:
            async with asyncio.timeout(self._budget_s), self._free:
                return await read(source)
        except TimeoutError:
            log.info("%s was not read within %g s", wiki.dbname, self._budget_s)
        except SourceError as error:
            log.info("%s could not be read: %s", wiki.dbname, error)
        return None
