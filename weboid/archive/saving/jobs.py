"""The job of a saving, from its submission to the service's last word on it, and the copy days later (A-2).

The meaning of replies is decided in ``core/archive/save_replies``. A URL whose saving was submitted is asked about, and
later looked for, before it is ever submitted again; nothing counts as saved before its copy was played.
"""

import asyncio
from dataclasses import KW_ONLY, dataclass, replace
from typing import Final

from weboid.archive.lookups.look_up_result import GivenCopy
from weboid.archive.saving.account import UNWELL_S, SavingLimits
from weboid.archive.saving.progress import DAY_S, SavingProgress
from weboid.archive.service.client import Resting
from weboid.core.archive.addresses import taken_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.save_replies import SaveReply, SaveState, job_status, submitted
from weboid.core.archive.services import ArchiveService
from weboid.core.url.spellings import is_other_page
from weboid.mechanism.patience import is_stopped_within
from weboid.store.archives.lookup import list_lookups
from weboid.store.archives.saving import Saving, SavingState
from weboid.store.db.pool import Pool
from weboid.store.urls.url import find_urls

POLLS: Final = 20
"""So often a job is asked about: some sixteen minutes. Jobs of which the service knows nothing are pending for ever."""
FIRST_POLL_S: Final = 15.0
JOB_LEASE_S: Final = 1_800.0
"""So long a job is left to the worker that sent it."""
_LONGEST_POLL_S: Final = 60.0
_CONFIRM_S: Final = 3 * DAY_S
"""The service knows new captures hours later, in the worst case days."""
_NOT_SHOWN_S: Final = 7 * DAY_S
_UNSENT: Final = frozenset({"refused", "dns", "tls", "not-public"})
"""Faults after which the service cannot have got the request."""
_SENDING: Final = "sending"
_NOT_SHOWN: Final = "not-shown"


@dataclass(eq=False)
class SavingJobs:
    """One worker's jobs at `service`; `stopped` leaves them to the next worker."""

    pool: Pool
    service: ArchiveService
    limits: SavingLimits
    progress: SavingProgress
    _: KW_ONLY
    stopped: asyncio.Event
    first_poll_s: float = FIRST_POLL_S

    async def submit(self, saving: Saving) -> None:
        """Has a URL saved, and follows its job to the end."""
        if not self.limits.take():
            await self.progress.put(saving, SavingState.WAITING, saving.job)
            return
        # A worker that finds it like this after a crash looks for the copy before anything is submitted again.
        await self.progress.put(saving, SavingState.SENT, None, next_s=JOB_LEASE_S, why=_SENDING)
        try:
            reply = await self.limits.submit(saving.url)
        except Resting as rests:
            await self._rest(saving, SavingState.WAITING, None, rests)
            return
        self.progress.tally.sent += 1
        if reply.code is None and reply.fault not in _UNSENT:
            await self.progress.put(saving, SavingState.SAVED, None, next_s=_CONFIRM_S, why="unanswered")
            return
        answer = submitted(reply)
        if answer.job is not None and answer.state in (SaveState.STARTED, SaveState.ALREADY):
            await self.progress.put(saving, SavingState.SENT, answer.job, next_s=JOB_LEASE_S)
            await self._follow(replace(saving, job=answer.job), answer.job)
        else:
            await self._settle(saving, answer)

    async def resume(self, saving: Saving) -> None:
        """Goes on with a URL that another worker, or this one before a stop, has submitted."""
        if saving.job is None:
            await self.progress.put(saving, SavingState.SAVED, None, next_s=_CONFIRM_S, why="unanswered")
        else:
            await self._follow(saving, saving.job)

    async def confirm(self, saving: Saving) -> None:
        """Plays, days later, what was saved: from then on it is the URL's snapshot. Raises Resting."""
        async with self.pool.connection() as conn:
            known = (await find_urls(conn, [saving.key])).get(saving.key)
            earlier = (await list_lookups(conn, [saving.key])).get(saving.key, ())
        if known is None:
            await self.progress.refuse(saving, "not-watched")
            return
        given = [] if saving.job is None else [GivenCopy(self.service, taken_of(int(saving.job)), saving.url)]
        outcome = await self.progress.look_for(saving, known, [self.service], earlier, given=given, since=saving.day)
        if outcome is LookupOutcome.FOUND:
            self.progress.tally.shown += 1
        elif outcome is LookupOutcome.ERROR:
            await self.progress.put(saving, SavingState.SAVED, saving.job, next_s=DAY_S, why=saving.why)
        elif saving.job is not None and saving.why != _NOT_SHOWN:
            await self.progress.put(saving, SavingState.SAVED, saving.job, next_s=_NOT_SHOWN_S, why=_NOT_SHOWN)
        else:
            await self.progress.put_off(saving, _NOT_SHOWN)

    async def _follow(self, saving: Saving, job: str) -> None:
        """Asks about a job until it ends, or until it has been asked about often enough."""
        pause_s = self.first_poll_s
        for _ in range(POLLS):
            if await is_stopped_within(self.stopped, pause_s):
                await self.progress.put(saving, SavingState.SENT, job)
                return
            try:
                reply = await self.limits.ask(job)
            except Resting as rests:
                await self._rest(saving, SavingState.SENT, job, rests)
                return
            answer = job_status(reply, job)
            if answer.state is SaveState.REFUSED or (answer.state is SaveState.LATER and reply.code != 200):
                await self.progress.put(saving, SavingState.SENT, job, next_s=answer.rest_s or UNWELL_S)
                await self.limits.end_by(answer)
                return
            # Where the question failed, nothing is known of the job.
            if reply.code == 200 and answer.state is not SaveState.PENDING:
                await self._settle(saving, answer)
                return
            pause_s = min(1.5 * pause_s, _LONGEST_POLL_S)
        await self.progress.put(saving, SavingState.SAVED, None, next_s=_CONFIRM_S, why="pending")

    async def _rest(self, saving: Saving, state: SavingState, job: str | None, rests: Resting) -> None:
        """Leaves a URL as it is while the service rests: what was submitted stays so."""
        await self.progress.put(saving, state, job, next_s=rests.seconds)
        self.limits.end(rests.why, rests.seconds)

    async def _settle(self, saving: Saving, answer: SaveReply) -> None:
        """Records what became of a URL by the service's last word on it."""
        match answer.state:
            case SaveState.SAVED if why := _misfit(saving, answer):
                await self.progress.refuse(saving, why)
            case SaveState.SAVED | SaveState.ALREADY:
                self.progress.tally.saved += 1
                stamp = None if answer.stamp is None else str(answer.stamp)
                await self.progress.put(saving, SavingState.SAVED, stamp, next_s=_CONFIRM_S, why=answer.why)
            case SaveState.NEVER:
                await self.progress.refuse(saving, answer.why)
            case SaveState.LATER | SaveState.REFUSED:
                await self.progress.put(
                    saving, SavingState.WAITING, None, next_s=answer.rest_s or DAY_S, why=answer.why
                )
                await self.limits.end_by(answer)
            case _:
                await self.progress.put_off(saving, answer.why)


def _misfit(saving: Saving, answer: SaveReply) -> str:
    """The reason why the saved copy is not the page, "" if it is."""
    if answer.status is not None and answer.status >= 400:
        return "status"
    return "other-page" if answer.original is not None and is_other_page(answer.original, saving.url) else ""
