"""The names of wikis' namespaces, for titles with their prefix: from the store, else from the wiki.

A wiki is queried once for all processes. One that does not answer is not queried again for a while, and its pages have
the English names that every wiki understands.
"""

import asyncio
import logging
from collections.abc import Collection
from typing import Final

from weboid.core.wikitext.titles import MAIN, NamespaceNames
from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.wiki import StoredWiki, list_namespaces, record_namespaces
from weboid.web.answer.live import LiveReader

log = logging.getLogger(__name__)

_MOST: Final = 2_000
_KEPT_S: Final = 600.0
"""Names are read from the store again after that."""
_ASKED_S: Final = 3_600.0
"""A wiki is queried again for a missing name after that."""
_CANONICAL: Final = NamespaceNames()


class WikiNamespaces:
    """Finds the names of each wiki's namespaces."""

    def __init__(self, pool: Pool, live: LiveReader) -> None:
        self._pool = pool
        self._live = live
        self._kept: BoundedMap[int, tuple[NamespaceNames, float]] = BoundedMap(_MOST)
        self._asked_s: BoundedMap[int, float] = BoundedMap(_MOST)

    async def stored(self, conn: Connection, wiki: StoredWiki) -> NamespaceNames:
        """The names as the store has them; raises StoreError."""
        now_s = asyncio.get_running_loop().time()
        names, until_s = self._kept.get(wiki.wiki) or (None, 0.0)
        if names is None or now_s > until_s:
            names = NamespaceNames(await list_namespaces(conn, wiki.wiki))
            self._kept[wiki.wiki] = names, now_s + _KEPT_S
        return names

    async def current(self, wiki: StoredWiki, numbers: Collection[int]) -> NamespaceNames:
        """The names of at least these namespaces, of a wiki that answers: it is queried if the store lacks one.

        Raises StoreError.
        """
        if {*numbers} <= {MAIN}:
            return _CANONICAL
        async with self._pool.viewing() as conn:
            names = await self.stored(conn, wiki)
        now_s, asked_s = asyncio.get_running_loop().time(), self._asked_s.get(wiki.wiki)
        if all(map(names.knows, numbers)) or (asked_s is not None and now_s < asked_s + _ASKED_S):
            return names
        self._asked_s[wiki.wiki] = now_s
        if not (listed := await self._live.find_namespaces(wiki)):
            return names
        names = NamespaceNames(listed)
        self._kept[wiki.wiki] = names, now_s + _KEPT_S
        try:
            async with self._pool.connection() as conn:
                await record_namespaces(conn, wiki.wiki, listed)
        except StoreError as error:
            log.warning("the namespaces of %s could not be stored: %s", wiki.dbname, error)
        return names
