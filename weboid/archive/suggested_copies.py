"""Visits the snapshots that people suggest: each before it is shown, then once a quarter (A-3, A-4).

They are played raw like all copies, whatever their archive's pages for people say; what follows is ``suggestions``'.
One law: as there, and what an archive does not say of a copy is not held against it.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

from weboid.archive.client import Resting
from weboid.archive.replays import Replays
from weboid.archive.suggestions import JudgedSuggestion, SuggestionFate, is_given_up, judged, record_judged
from weboid.core.archive.replay import ReplayResult
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.urls import parse
from weboid.errors import StoreError
from weboid.mechanism.ending import ending
from weboid.store.db.pool import Pool
from weboid.store.people.replacement import Replacement, lease_replacements

log = logging.getLogger(__name__)

_TAKEN_AT_ONCE: Final = 20
_PAUSE_S: Final = 30.0


class SuggestedCopies:
    """One worker's visits to suggested snapshots; `today` is called at every visit, `stopped` ends them in order."""

    def __init__(self, pool: Pool, replays: Replays, *, today: Callable[[], int], stopped: asyncio.Event) -> None:
        self._pool = pool
        self._replays = replays
        self._today = today
        self._stopped = stopped

    async def run(self) -> None:
        """Calls `sweep` again and again, with pauses, until stopped."""
        while not self._stopped.is_set():
            try:
                await self.sweep()
            except StoreError as error:
                log.warning("suggested copies wait: %s", error)
            except Exception as error:
                log.error("suggested copies wait: %r", error, exc_info=error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), _PAUSE_S)

    async def sweep(self) -> int:
        """Visits all that are due, one after another; returns how many. Ends early if stopped. Raises StoreError."""
        count = 0
        async with ending(self._stopped):
            while not self._stopped.is_set():
                async with self._pool.connection() as conn:
                    taken = await lease_replacements(conn, self._today(), limit=_TAKEN_AT_ONCE, archived=True)
                if not taken:
                    break
                for suggestion in taken:
                    if self._stopped.is_set():
                        break
                    await self._visit(suggestion)
                    count += 1
        return count

    async def _visit(self, suggestion: Replacement) -> None:
        day = self._today()
        seen = await self._played(suggestion)
        if seen is not None:
            await record_judged(self._pool, suggestion, judged(suggestion, seen, day), seen.reason.word, day)
        elif is_given_up(suggestion, day):
            gone = JudgedSuggestion(SuggestionFate.GONE, day, suggestion.strikes)
            await record_judged(self._pool, suggestion, gone, "not-asked", day)

    async def _played(self, suggestion: Replacement) -> Observation | None:
        """What the archive shows of the copy; None if that proves nothing, or it is not to be asked now."""
        try:
            play = await self._replays.play_cited(parse(suggestion.target))
        except Resting as rests:
            log.debug("not visited now: %s", rests)
            return None
        if play is None or play.seen is None:
            return None
        if play.replayed is not None and play.replayed.result is ReplayResult.MOVED_FAR:
            # This copy was suggested, and its readers would come to another one.
            return Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=play.seen.http)
        return play.seen
