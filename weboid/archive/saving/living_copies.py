"""Copies of links that live: what is looked for before and after a saving, and what is kept of what is found (A-2).

One law: a copy that was found becomes the URL's snapshot, and ends its saving, in one transaction.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, time

from weboid.archive.lookups.look_up import RESTING, look_up
from weboid.archive.lookups.look_up_result import FoundCopy, GivenCopy
from weboid.archive.lookups.wanted import lookup_rows
from weboid.archive.service.client import ArchiveClient, Resting
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.services import ArchiveService
from weboid.core.archive.visits import QUARTER_DAYS
from weboid.core.record.days import date_of
from weboid.store.archives.lookup import StoredLookup, record_lookups
from weboid.store.archives.saving import Saving, SavingState, record_saving
from weboid.store.archives.snapshot import Origin, StoredSnapshot, record_snapshots
from weboid.store.db.pool import Pool
from weboid.store.db.rows import KnownUrl


class LivingCopies:
    """Looks for copies of URLs that are to be saved, or were; `today` is called for each."""

    def __init__(self, pool: Pool, client: ArchiveClient, *, today: Callable[[], int]) -> None:
        self._pool = pool
        self._client = client
        self._today = today

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
            await self._keep(saving, known, result.found, rows)
            return LookupOutcome.FOUND
        async with self._pool.connection() as conn:
            await record_lookups(conn, rows)
        if result.rest_s is not None:
            raise Resting(services[0], result.rest_s, RESTING)
        return result.outcome

    async def _keep(self, saving: Saving, known: KnownUrl, found: FoundCopy, rows: Sequence[StoredLookup]) -> None:
        """Makes a copy that was played the URL's snapshot, and ends the saving, in one transaction."""
        day = self._today()
        snapshot = StoredSnapshot(
            saving.key,
            found.service.archive.number,
            found.stamp,
            Origin.CHOSEN,
            due=day + QUARTER_DAYS,
            asked=day,
            wanted=_cited(known, day),
            note=int(found.note),
            address=found.own_address,
        )
        async with self._pool.connection() as conn:
            await record_snapshots(conn, [snapshot])
            await record_lookups(conn, rows)
            await record_saving(conn, saving.key, state=SavingState.KEPT, why="", tries=saving.tries)


def _wish(known: KnownUrl, day: int, *, since: int | None = None) -> Wish:
    """What is looked for: the page as it is, or was when it came; it lives, so every copy since is one before death."""
    moment = datetime.combine(date_of(_cited(known, day) if since is None else since), time(), UTC)
    return Wish(known.url, moment, date_of(day), date_of(day), known.portrait)


def _cited(known: KnownUrl, day: int) -> int:
    """The day of the citation, as far as the store knows it."""
    return known.record.history[-1].first if known.record.history else day
