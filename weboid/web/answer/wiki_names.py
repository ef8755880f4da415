"""The known wikis by name: to find the one that a request names, and for the lists in forms.

The list is kept for 30 seconds, so that many requests do not cause as many queries; only a wiki that is not in it is
looked up by itself.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from weboid.core.url.farms import Farm, WikiName, farm_named
from weboid.errors import ConfigError, NotFound, StoreError
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import StoredWiki, find_wiki, list_wikis

_MOST: Final = 2_000
_KEPT_S: Final = 30.0
_IMPATIENT_S: Final = 1.0
"""The wait for a connection, while there is an older list."""


class Wikis:
    """The known wikis; reads all of them from the store at most every 30 seconds."""

    def __init__(self, pool: Pool, farms: Sequence[Farm]) -> None:
        self._pool = pool
        self.farms: Final = tuple(farms)
        self._names = {farm.code: farm.name for farm in farms}
        self._until_s = 0.0
        self._known: dict[str, StoredWiki] = {}

    async def list_known(self) -> dict[str, StoredWiki]:
        """Wikis by name, without those of farms that are no longer configured; while the store is away the last list
        (O-8). Raises StoreError if there is none yet.
        """
        now_s = asyncio.get_running_loop().time()
        if not self._known or now_s > self._until_s:
            try:
                async with self._pool.connection(_IMPATIENT_S if self._known else None) as conn:
                    wikis = (await list_wikis(conn))[:_MOST]
            except StoreError:
                if not self._known:
                    raise
            else:
                self._known = {
                    str(WikiName(wiki.dbname, self._names[wiki.farm])): wiki
                    for wiki in wikis
                    if wiki.farm in self._names
                }
            self._until_s = now_s + _KEPT_S
        return self._known

    async def find(self, name: WikiName) -> tuple[StoredWiki, Farm]:
        """The wiki of that name and its farm; raises NotFound, StoreError."""
        try:
            farm = farm_named(name.farm, self.farms)
        except ConfigError:
            raise NotFound(str(name)) from None
        if (wiki := (await self.list_known()).get(str(name))) is None:
            async with self._pool.reading() as conn:
                wiki = await find_wiki(conn, farm, name)
        if wiki is None:
            raise NotFound(str(name))
        return wiki, farm

    async def list_names(self) -> Sequence[str]:
        """The names of the known wikis; raises StoreError."""
        return list(await self.list_known())
