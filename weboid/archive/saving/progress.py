"""The progress of savings: their states, the copies found before and after, and the counts of a worker (A-2).

A saving that is put off waits longer each time, and is given up after `MOST_TRIES`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Final

from weboid.archive.lookups.look_up import RESTING, look_up
from weboid.archive.lookups.look_up_result import GivenCopy
from weboid.archive.lookups.queue_rows import lookup_rows, snapshot_row
from weboid.archive.service.client import ArchiveClient, Resting
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.services import ArchiveService
from weboid.core.record.days import date_of
from weboid.store.archives.lookup import StoredLookup, record_lookups
from weboid.store.archives.saving import Saving, SavingState, record_saving
from weboid.store.archives.snapshot import Origin, record_snapshots
from weboid.store.db.pool import Pool
from weboid.store.db.rows import KnownUrl

MOST_TRIES: Final = 4
DAY_S: Final = 86_400.0


@dataclass(slots=True)
class SavingTally:
    """Counts of URLs looked up, submitted, saved as the service says, shown to be saved, already in an archive,
    refused permanently, put off. `why` = a stable word for why no more is sent now."""

    looked: int = 0
    sent: int = 0
    saved: int = 0
    shown: int = 0
    found: int = 0
    refused: int = 0
    put_off: int = 0
    why: str = ""


class SavingProgress:
    """Writes the states of savings, counts them in `tally`, and looks for copies of their URLs."""

    def __init__(self, pool: Pool, client: ArchiveClient, *, today: Callable[[], int]) -> None:
        self.tally = SavingTally()
        self._pool = pool
        self._client = client
        self._today = today

    async def put(
        self,
        saving: Saving,
        state: SavingState,
        job: str | None,
        *,
        next_s: float = 0,
        why: str = "",
        tries: int | None = None,
    ) -> None:
        """Writes a state with the job that goes with it; it is looked at again in so many seconds."""
        counted = saving.tries if tries is None else tries
        async with self._pool.connection() as conn:
            await record_saving(conn, saving.key, state=state, next_s=next_s, job=job, why=why, tries=counted)

    async def refuse(self, saving: Saving, why: str) -> None:
        """Gives a URL up permanently."""
        self.tally.refused += 1
        await self.put(saving, SavingState.REFUSED, None, why=why)

    async def put_off(self, saving: Saving, why: str) -> None:
        """Puts a URL off, longer each time, and gives it up after some."""
        tries = saving.tries + 1
        if tries >= MOST_TRIES:
            await self.refuse(saving, why)
            return
        self.tally.put_off += 1
        await self.put(saving, SavingState.WAITING, None, next_s=DAY_S * 2**tries, why=why, tries=tries)

    async def look_for(
        self,
        saving: Saving,
        known: KnownUrl,
        services: Sequence[ArchiveService],
        earlier: Sequence[StoredLookup],
        *,
        passing: Collection[int] = (),
        given: Iterable[GivenCopy] = (),
        since: int | None = None,
    ) -> LookupOutcome:
        """Looks for a copy, taken since that day or, if None, since the citation, and records whatever is found.

        `earlier` are the look-ups that are stored, `passing` the archives that need not be asked. Raises Resting.
        """
        day = self._today()
        wish = _wish(known, day, since=since)
        result = await look_up(self._client, services, wish, known=passing, given=given)
        rows = lookup_rows(saving.key, result, earlier, day)
        if result.found is not None:
            # The copy becomes the URL's snapshot and ends its saving in one transaction.
            snapshot = snapshot_row(saving.key, result.found, day, wanted=_cited(known, day), origin=Origin.CHOSEN)
            async with self._pool.connection() as conn:
                await record_snapshots(conn, [snapshot])
                await record_lookups(conn, rows)
                await record_saving(conn, saving.key, state=SavingState.KEPT, why="", tries=saving.tries)
            return LookupOutcome.FOUND
        async with self._pool.connection() as conn:
            await record_lookups(conn, rows)
        if result.rest_s is not None:
            raise Resting(services[0], result.rest_s, RESTING)
        return result.outcome


def _wish(known: KnownUrl, day: int, *, since: int | None = None) -> Wish:
    """The page as it is, or was when it came; it lives, so every copy since is one before death."""
    moment = datetime.combine(date_of(_cited(known, day) if since is None else since), time(), UTC)
    return Wish(known.url, moment, date_of(day), date_of(day), known.portrait)


def _cited(known: KnownUrl, day: int) -> int:
    return known.record.history[-1].first if known.record.history else day
