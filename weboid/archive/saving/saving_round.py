"""Lets the Wayback Machine save living links of which no archive has a copy (A-2): Save Page Now 2, with keys.

A sweep looks first for what was saved, then asks about jobs (``jobs``), then submits what waits, within the limits of
``account``. Only a URL is submitted of which every service says, with two voices, that there is no copy.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from weboid.archive.saving.account import AT_ONCE, SavingLimits
from weboid.archive.saving.jobs import FIRST_POLL_S, JOB_LEASE_S, SavingJobs
from weboid.archive.saving.progress import SavingProgress, SavingTally
from weboid.archive.saving.savable import unsavable_now, unsavable_url
from weboid.archive.saving.save_keys import save_headers
from weboid.archive.service.client import ArchiveClient, Resting
from weboid.config import ArchiveConfig
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import ArchiveService, services_for
from weboid.core.url.farms import Farm
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.errors import StoreError
from weboid.mechanism.patience import sweep_until_stopped
from weboid.store.archives.lookup import list_lookups
from weboid.store.archives.saving import BEFORE_ALL, Saving, SavingState, count_savings, lease_savings, record_savable
from weboid.store.archives.snapshot import list_snapshots
from weboid.store.db.pool import Pool
from weboid.store.db.rows import KnownUrl
from weboid.store.pages.spam import is_spam_somewhere
from weboid.store.urls.url import find_urls

log = logging.getLogger(__name__)

SAVES_A_DAY: Final = 1_000
"""Captures of a day that the account may have: a thirtieth of what the service allows. With their look-ups they take a
tenth of the index requests of a day."""
_LEASE_S: Final = 900.0
_IDLE_S: Final = 300.0
_QUEUED: Final = 500


class SavingRound:
    """One worker's savings at `service`, one of those of `archive`; `today` is called for each, `stopped` ends it in
    order. Raises ConfigError for keys that cannot be used, or that would travel unencrypted."""

    def __init__(
        self,
        pool: Pool,
        client: ArchiveClient,
        service: ArchiveService,
        archive: ArchiveConfig,
        *,
        farms: Iterable[Farm],
        today: Callable[[], int],
        stopped: asyncio.Event,
        daily: int = SAVES_A_DAY,
        first_poll_s: float = FIRST_POLL_S,
    ) -> None:
        self._pool = pool
        self._stopped = stopped
        self._today = today
        self._farms = tuple(farms)
        self._progress = SavingProgress(pool, client, today=today)
        self._limits = SavingLimits(
            *(pool, client, service, self.tally),
            headers=save_headers(service, archive.save_key, archive.save_secret),
            daily=daily,
            today=today,
            stopped=stopped,
        )
        self._services = (
            service,
            *(other for other in archive.services if other.archive.number != service.archive.number),
        )
        self._jobs = SavingJobs(pool, service, self._limits, self._progress, stopped=stopped, first_poll_s=first_poll_s)
        self._after = UrlKey(secrets.randbelow(BUCKETS), 0, 0)
        """The last URL that was looked at; the first is anywhere, so that one that is often started gets to all."""

    @property
    def tally(self) -> SavingTally:
        """The counts so far."""
        return self._progress.tally

    async def run(self) -> None:
        await sweep_until_stopped(self.sweep, self._stopped, what="savings", log=log, idle_s=_IDLE_S)

    async def sweep(self) -> SavingTally:
        """Does all that is to be done now: looks for what was saved, asks about jobs, and saves what waits. Raises
        StoreError."""
        self._limits.begin()
        await self._in_slots(AT_ONCE, SavingState.SAVED, self._jobs.confirm)
        await self._in_slots(AT_ONCE, SavingState.SENT, self._jobs.resume)
        if not self._limits.is_ended and (slots := await self._limits.open_slots()):
            await self._queue()
            await self._in_slots(slots, SavingState.WAITING, self._save)
        return self.tally

    async def _save(self, saving: Saving) -> None:
        if await self._is_to_be_saved(saving):
            await self._jobs.submit(saving)

    async def _in_slots(self, slots: int, state: SavingState, work: Callable[[Saving], Awaitable[None]]) -> None:
        """Does the work for all savings of a state whose time has come, so many at a time."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(slots):
                    group.create_task(self._one_after_another(state, work))
        except* StoreError as errors:
            raise errors.exceptions[0] from None

    async def _one_after_another(self, state: SavingState, work: Callable[[Saving], Awaitable[None]]) -> None:
        lease_s = JOB_LEASE_S if state is SavingState.SENT else _LEASE_S
        while not self._limits.is_resting:
            if state is SavingState.WAITING and not self._limits.has_budget:
                return
            async with self._pool.connection() as conn:
                leased = await lease_savings(conn, state=state, limit=1, lease_s=lease_s)
            if not leased:
                return
            try:
                await work(leased[0])
            except Resting as rests:
                # Nothing was sent: it stays what it is.
                await self._progress.put(leased[0], state, leased[0].job, next_s=rests.seconds, why=leased[0].why)
                self._limits.end(rests.why, rests.seconds)

    async def _queue(self) -> None:
        """Queues living URLs while few wait: from the next stretch of all, after the last from the first."""
        day = self._today()
        async with self._pool.connection() as conn:
            room = _QUEUED - (await count_savings(conn, limit=_QUEUED)).get(SavingState.WAITING, 0)
        for _ in range(2):
            if room > 0:
                async with self._pool.connection() as conn:
                    found = await record_savable(conn, day, self._after, limit=room)
                room -= found.queued
                self._after = found.after or BEFORE_ALL

    async def _is_to_be_saved(self, saving: Saving) -> bool:
        """Returns whether a URL lives, may be saved, and has no copy; if not, its state says why. Raises Resting."""
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
        """Returns whether every service says with two voices that there is no copy; other results are recorded."""
        day = self._today()
        async with self._pool.connection() as conn:
            earlier = (await list_lookups(conn, [saving.key])).get(saving.key, ())
        none = {one.archive for one in earlier if one.outcome is LookupOutcome.NONE and one.due > day}
        if all(service.archive.number in none for service in services_for(saving.url, self._services)):
            return True
        self._limits.count_lookup()
        match await self._progress.look_for(saving, known, self._services, earlier, passing=none):
            case LookupOutcome.NONE:
                return True
            case LookupOutcome.FOUND:
                self._progress.tally.found += 1
            case (LookupOutcome.ERROR | LookupOutcome.UNKNOWN) as outcome:
                await self._progress.put_off(saving, outcome.word)
            case outcome:
                await self._progress.refuse(saving, outcome.word)
        return False
