"""Titles that a wiki's own search box offers for what somebody has typed (W-3): for the form, and for a title that the
wiki does not have.

Whatever the wiki does, nobody waits longer than `WAIT_S`: then there are none, and a read that goes on for those to
come takes one of few places, so that it is never in the way of reads of pages. A wiki that is silent is not asked.
"""

import asyncio
from typing import Final

from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.bulkhead import Bulkhead
from weboid.mechanism.fair_slots import aside
from weboid.mechanism.single_flight import SingleFlight
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.live import LiveReader

WAIT_S: Final = 1.5
_KEPT_S: Final = 300.0
_MOST_KEPT: Final = 2_000
"""Answers of at most ten titles of 300 characters."""
_MOST_READS: Final = 8
_MOST_OF_A_WIKI: Final = 2

Titles = tuple[str, ...]


class SuggestedTitles:
    """Looks titles up; what was asked within five minutes is not asked again. Its reads end with those of `live`."""

    def __init__(self, live: LiveReader) -> None:
        self._live = live
        self._kept: BoundedMap[tuple[int, str], tuple[float, Titles]] = BoundedMap(_MOST_KEPT)
        self._reads: SingleFlight[Titles] = SingleFlight()
        self._slots = Bulkhead(_MOST_READS, each=_MOST_OF_A_WIKI, scarce=1)

    async def list(self, wiki: StoredWiki, beginning: str) -> Titles:
        """Titles, the best first; none if the wiki offers none in time."""
        key, now_s = (wiki.wiki, beginning), asyncio.get_running_loop().time()
        kept = self._kept.use(key)
        if kept is not None and now_s < kept[0] + _KEPT_S:
            return kept[1]
        try:
            async with aside():
                return await self._reads.result(key, lambda: self._read(wiki, beginning), WAIT_S)
        except TimeoutError:
            return ()

    async def _read(self, wiki: StoredWiki, beginning: str) -> Titles:
        async with self._slots.slot(wiki.wiki, wait_s=WAIT_S / 2) as has_slot:
            found = await self._live.list_titles(wiki, beginning) if has_slot else None
        if found is None:
            return ()
        self._kept[wiki.wiki, beginning] = asyncio.get_running_loop().time(), tuple(found)
        return tuple(found)
