"""Which living URLs wait for their saving, and whether one of them is really to be submitted (A-2).

Which URLs may be saved at all is ``savable``'s business.
One law: only a URL is submitted of which every service has said, with two voices, that there is no copy.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from weboid.archive.saving.account import SavingLimits
from weboid.archive.saving.living_copies import LivingCopies
from weboid.archive.saving.progress import SavingProgress
from weboid.archive.saving.savable import unsavable_now, unsavable_url
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import ArchiveService, services_for
from weboid.core.url.farms import Farm
from weboid.store.archives.lookup import list_lookups
from weboid.store.archives.saving import Saving, SavingState, count_savings, record_savable
from weboid.store.archives.snapshot import list_snapshots
from weboid.store.db.pool import Pool
from weboid.store.db.rows import KnownUrl
from weboid.store.pages.spam import is_spam_somewhere
from weboid.store.urls.url import find_urls

_QUEUED: Final = 500


class SavingCandidates:
    """URLs that wait for their saving. `services` are asked for copies; `today` is called for each."""

    def __init__(
        self,
        pool: Pool,
        limits: SavingLimits,
        progress: SavingProgress,
        copies: LivingCopies,
        services: Sequence[ArchiveService],
        farms: Iterable[Farm],
        *,
        today: Callable[[], int],
    ) -> None:
        self._pool = pool
        self._limits = limits
        self._progress = progress
        self._copies = copies
        self._services = services
        self._farms = tuple(farms)
        self._today = today
        self._has_begun = False
        self._before: int | None = None
        """The place in the log before which there may be more to save; None = there is nothing more."""

    async def queue(self) -> None:
        """Queues living URLs while few wait: from the newest lines of the log, then from one older stretch of it."""
        day = self._today()
        async with self._pool.connection() as conn:
            room = _QUEUED - (await count_savings(conn, limit=_QUEUED)).get(SavingState.WAITING, 0)
        if room > 0:
            async with self._pool.connection() as conn:
                newest = await record_savable(conn, day, limit=room)
            room -= newest.queued
            if not self._has_begun:
                self._has_begun, self._before = True, newest.before
        if room > 0 and self._before is not None:
            async with self._pool.connection() as conn:
                self._before = (await record_savable(conn, day, before=self._before, limit=room)).before

    async def is_to_be_saved(self, saving: Saving) -> bool:
        """Whether a URL lives, may be saved, and has no copy anywhere; if not, its state says why. Raises Resting."""
        async with self._pool.connection() as conn:
            known = (await find_urls(conn, [saving.key])).get(saving.key)
            is_spam = await is_spam_somewhere(conn, saving.key)
            has_copy = bool(await list_snapshots(conn, [saving.key]))
        if has_copy:
            self._progress.tally.found += 1
            await self._progress.put(saving, SavingState.KEPT, None, why="found")
            return False
        why = "spam" if is_spam else "not-watched" if known is None else unsavable_url(saving.url, self._farms)
        if why or known is None:
            await self._progress.refuse(saving, why)
            return False
        if why := unsavable_now(known.record, known.host, self._today()):
            await self._progress.put_off(saving, why)
            return False
        return await self._has_none(saving, known)

    async def _has_none(self, saving: Saving, known: KnownUrl) -> bool:
        """Whether every service says with two voices that there is no copy; whatever else is found is recorded."""
        day = self._today()
        async with self._pool.connection() as conn:
            earlier = (await list_lookups(conn, [saving.key])).get(saving.key, ())
        none = {one.archive for one in earlier if one.outcome is LookupOutcome.NONE and one.due > day}
        if all(service.archive.number in none for service in services_for(saving.url, self._services)):
            return True
        self._limits.count_lookup()
        match await self._copies.look_for(saving, known, self._services, earlier, passing=none):
            case LookupOutcome.NONE:
                return True
            case LookupOutcome.FOUND:
                self._progress.tally.found += 1
            case (LookupOutcome.ERROR | LookupOutcome.UNKNOWN) as outcome:
                await self._progress.put_off(saving, outcome.word)
            case outcome:
                await self._progress.refuse(saving, outcome.word)
        return False
