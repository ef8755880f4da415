"""Hands the pages that were requested to the feeder (P-8, P-10).

One law: an answer does not depend on it (O-8), and a page that is requested again and again is handed in once a day.
"""

import logging
from collections.abc import Iterable
from typing import Final, NamedTuple

from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.disturbance import Disturbance
from weboid.store.db.pool import Pool
from weboid.store.pages.pending import record_asked
from weboid.wiki.source import PageLinks

log = logging.getLogger(__name__)

_MOST: Final = 20_000
"""Pages that this process remembers as handed in; for others the store notices it (P-3)."""


class _Noted(NamedTuple):
    wiki: int
    page: int
    revision: int
    day: int


class FeederNotifier:
    """Hands in pages, each revision once a day: a page with another revision may have become one that is watched."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._notified: BoundedMap[_Noted, bool] = BoundedMap(_MOST)
        self._failing = Disturbance(log, "requested pages cannot be handed to the feeder")

    async def notify(self, wiki: int, pages: Iterable[PageLinks], day: int) -> None:
        """Hands in those of the pages that were not handed in on this day."""
        noted = {_Noted(wiki, page.page, page.latest, day) for page in pages}
        new = [page for page in noted if page not in self._notified]
        if not new:
            return
        try:
            async with self._pool.connection() as conn, conn.pipeline():
                await record_asked(conn, wiki, [page.page for page in new], day)
        except StoreError as error:
            self._failing.met(error)
            return
        self._failing.passed()
        for page in new:
            self._notified[page] = True
