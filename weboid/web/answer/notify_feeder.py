"""Hands the pages that were requested to the feeder (P-8, P-10), each once a day; no answer depends on it (O-8)."""

import logging
from collections.abc import Iterable
from typing import Final

from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.disturbance import Disturbance
from weboid.store.db.pool import Pool
from weboid.store.pages.pending import record_asked
from weboid.wiki.source import PageLinks

log = logging.getLogger(__name__)

_MOST: Final = 20_000
"""Pages that this process remembers as handed in; for others the store notices it (P-3)."""


class FeederNotifier:
    """Hands in pages, each revision once a day: a page with another revision may have become one that is watched."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._notified: BoundedMap[tuple[int, int, int, int], bool] = BoundedMap(_MOST)
        self._failing = Disturbance(log, "requested pages cannot be handed to the feeder")

    def is_new(self, wiki: int, pages: Iterable[PageLinks], day: int) -> bool:
        """True if one of the pages was not handed in on this day."""
        return bool(self._new(wiki, pages, day))

    async def notify(self, wiki: int, pages: Iterable[PageLinks], day: int) -> None:
        """Hands in those of the pages that were not handed in on this day."""
        if not (new := self._new(wiki, pages, day)):
            return
        try:
            async with self._pool.connection() as conn, conn.pipeline():
                await record_asked(conn, wiki, list({page.page for page in new}), day)
        except StoreError as error:
            self._failing.met(error)
            return
        self._failing.passed()
        for page in new:
            self._notified[wiki, page.page, page.latest, day] = True

    def _new(self, wiki: int, pages: Iterable[PageLinks], day: int) -> list[PageLinks]:
        return [page for page in pages if (wiki, page.page, page.latest, day) not in self._notified]
