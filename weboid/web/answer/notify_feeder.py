"""Telling the feeder which pages were asked about (P-8, P-10).

One law: an answer does not depend on it (O-8), and a page that is asked about again and again is told once a day.
"""

import logging
from collections.abc import Iterable
from typing import Final, NamedTuple

from weboid.errors import StoreError
from weboid.store.db.pool import Pool
from weboid.store.pages.pending import record_asked
from weboid.wiki.source import PageLinks

log = logging.getLogger(__name__)

_MOST: Final = 20_000
"""Pages that are remembered as told; of others the store knows it by itself (P-3)."""


class _Told(NamedTuple):
    wiki: int
    page: int
    revision: int
    day: int


class FeederNotifier:
    """What this process has told; a page with another revision may have become one that is watched."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._told: dict[_Told, None] = {}

    async def tell(self, wiki: int, pages: Iterable[PageLinks], day: int) -> None:
        """Hands in those pages that were not yet today."""
        new = {_Told(wiki, page.page, page.latest, day): None for page in pages}.keys() - self._told.keys()
        if not new:
            return
        try:
            async with self._pool.connection() as conn, conn.pipeline():
                await record_asked(conn, wiki, [told.page for told in new], day)
        except StoreError as error:
            log.warning("pages that were asked for could not be noted: %s", error)
            return
        self._told |= dict.fromkeys(new)
        while len(self._told) > _MOST:
            del self._told[next(iter(self._told))]
