"""Hands the pages that were requested to the feeder (P-8, P-10), each once a day; no answer waits for it (O-8)."""

import asyncio
import logging
from collections.abc import Iterable
from itertools import islice
from typing import Final

from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import is_stopped_within
from weboid.mechanism.tasks import cancel
from weboid.store.db.pool import Pool
from weboid.store.pages.pending import record_asked
from weboid.wiki.source import PageLinks

log = logging.getLogger(__name__)

_MOST: Final = 20_000
"""Pages that this process remembers as handed in, and that wait; for others the store notices it (P-3)."""
_AT_ONCE: Final = 50
"""Pages that are handed in by one transaction, of which a request seldom names more."""
_WAIT_S: Final = 1.0
_Asked = tuple[int, int, int, int]
"""A page: its wiki, the day, its id, its revision."""


class FeederNotifier:
    """Hands in pages, each revision once a day: a page with another revision may have become one that is watched.

    One task does so for all pages of a second: its transaction takes six round trips to the database, an answer two.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waiting: BoundedMap[_Asked, bool] = BoundedMap(_MOST)
        self._notified: BoundedMap[_Asked, bool] = BoundedMap(_MOST)
        self._task: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        self._failing = Disturbance(log, "requested pages cannot be handed to the feeder")

    def notify(self, wiki: int, pages: Iterable[PageLinks], day: int) -> None:
        """Begins to hand in those of the pages that were not handed in on this day, and those that could not be."""
        for page in pages:
            if (asked := (wiki, day, page.page, page.latest)) not in self._notified:
                self._waiting[asked] = True
        if len(self._waiting) and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._hand_in())

    async def close(self) -> None:
        """Hands in what waits, for a second at most."""
        self._closed.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_WAIT_S)
            await cancel(self._task)

    async def _hand_in(self) -> None:
        await is_stopped_within(self._closed, _WAIT_S)
        while len(self._waiting):
            wiki, day, *_ = next(iter(self._waiting))
            some = list(islice((each for each in self._waiting if each[:2] == (wiki, day)), _AT_ONCE))
            for each in some:
                self._waiting[each] = True  # behind all others, whatever comes of them
            try:
                async with self._pool.connection() as conn, conn.pipeline():
                    await record_asked(conn, wiki, list({page for _, _, page, _ in some}), day)
            except StoreError as error:
                self._failing.met(error)
                return
            self._failing.passed()
            for each in some:
                self._waiting.take(each)
                self._notified[each] = True
