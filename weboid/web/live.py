"""Reading pages from their wiki this second, within a budget (W-10).

What is done where the wiki does not answer is `answers`' business.
One law: callers who ask the same at the same time share one read, and none of them can end it for the others.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from weboid.errors import SourceError
from weboid.store.wiki import StoredWiki
from weboid.wiki.source import PageLinks, PageReader

log = logging.getLogger(__name__)

Sources = Callable[[StoredWiki], PageReader | None]
"""The source that reads a wiki live; None = it has none that is known."""

_MOST_READS: Final = 40
"""At one time over all wikis; who comes later waits, within the budget."""

_Asked = tuple[int, tuple[int, ...], str]


class LiveReader:
    """Reads pages through the sources of their wikis, each question at most `budget_s` seconds."""

    def __init__(self, sources: Sources, *, budget_s: float) -> None:
        self._sources = sources
        self._budget_s = budget_s
        self._reads: dict[_Asked, asyncio.Task[list[PageLinks] | None]] = {}
        self._free = asyncio.Semaphore(_MOST_READS)

    async def find_pages(self, wiki: StoredWiki, ids: tuple[int, ...], title: str) -> list[PageLinks] | None:
        """The pages as they are now, without those that are not there; None if the wiki does not answer in time."""
        asked = (wiki.wiki, ids, title)
        if (read := self._reads.get(asked)) is None:
            read = self._reads[asked] = asyncio.create_task(self._read(wiki, ids, title))
            read.add_done_callback(lambda _: self._reads.pop(asked))
        return await asyncio.shield(read)

    async def close(self) -> None:
        """Gives up what is still being read."""
        reads = list(self._reads.values())
        for read in reads:
            read.cancel()
        await asyncio.gather(*reads, return_exceptions=True)

    async def _read(self, wiki: StoredWiki, ids: tuple[int, ...], title: str) -> list[PageLinks] | None:
        source = self._sources(wiki)
        if source is None:
            return None
        try:
            async with asyncio.timeout(self._budget_s), self._free:
                return await source.find_pages(ids=ids, titles=(title,) if title else ())
        except TimeoutError:
            log.info("%s was not read within %g s", wiki.dbname, self._budget_s)
        except SourceError as error:
            log.info("%s could not be read: %s", wiki.dbname, error)
        return None
