"""Limits of the saving service and its account: keys, captures of a day and at a time, pauses (A-2)."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Final

from weboid.archive.saving.progress import SavingTally
from weboid.archive.saving.savable import is_well
from weboid.archive.service.client import ArchiveClient, Resting
from weboid.core.archive.addresses import save_request, save_status_request
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.save_replies import SaveReply, SaveState, account_of, job_status
from weboid.core.archive.services import ArchiveService
from weboid.core.url.urls import Url
from weboid.store.archives.service_limit import RequestKind
from weboid.store.db.pool import Pool
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm

AT_ONCE: Final = 2
"""Captures under way at a time."""
UNWELL_S: Final = 900.0
"""So long nothing is sent to a service that says that it is not well."""
_LOOKUPS_A_SAVE: Final = 3
"""So many look-ups there may be in a day for each saving."""
_REPLY_BYTES: Final = 1 << 18
_OPTIONS: Final = {
    "if_not_archived_within": "30d",
    "skip_first_archive": "1",
    "delay_wb_availability": "1",
    "js_behavior_timeout": "0",
}


@dataclass(eq=False)
class SavingLimits:
    """The requests that one worker may send to `service`, `daily` captures a day at most; `today` is called each time.

    `headers` have the keys of the account.
    """

    pool: Pool
    client: ArchiveClient
    service: ArchiveService
    tally: SavingTally
    _: KW_ONLY
    headers: Mapping[str, str]
    daily: int
    today: Callable[[], int]
    stopped: asyncio.Event

    def __post_init__(self) -> None:
        self._day = self._ended_day = -1
        self._left = self._looked = self._sent = 0
        self._rest_until = 0.0

    def begin(self) -> None:
        """Begins a sweep; on a new day the counts begin anew."""
        if self._day != (day := self.today()):
            self._day, self._looked, self._sent = day, 0, 0
        self.tally.why = ""
        self._left = self.daily

    @property
    def is_resting(self) -> bool:
        """Returns whether nothing at all is sent for now."""
        return self.stopped.is_set() or self._rest_until > asyncio.get_running_loop().time()

    @property
    def is_ended(self) -> bool:
        """Returns whether nothing more is submitted for now."""
        return self.is_resting or self._ended_day == self.today()

    @property
    def has_budget(self) -> bool:
        """Returns whether another URL may be looked up and submitted; if not, this day has ended."""
        if self._left < 1:
            self.end("daily-limit", None)
        elif self._looked >= self.daily * _LOOKUPS_A_SAVE:
            self.end("lookup-limit", None)
        return not self.is_ended

    def count_lookup(self) -> None:
        """Counts a look-up that is sent for a saving."""
        self._looked += 1
        self.tally.looked += 1

    def take(self) -> bool:
        """Takes one capture of those that are left; False = there is none, and this day has ended."""
        if self._left < 1:
            self.end("daily-limit", None)
            return False
        self._left -= 1
        self._sent += 1
        return True

    def end(self, why: str, rest_s: float | None) -> None:
        """Sends nothing more for so many seconds; None = on this day."""
        self.tally.why = why
        if rest_s is None:
            self._ended_day = self.today()
        else:
            self._rest_until = asyncio.get_running_loop().time() + rest_s

    async def end_by(self, answer: SaveReply) -> None:
        """Ends what is sent, as a reply demands that speaks of no single URL."""
        if answer.state is not SaveState.REFUSED:
            is_day_over = answer.state is SaveState.LATER and not answer.rest_s
            self.end(answer.why or "no-account", None if is_day_over else UNWELL_S)
            return
        self.end(answer.why, None)
        async with self.pool.connection() as conn:
            detail = f"{self.service.name} does not accept the keys for saving: {answer.why}"
            await raise_alarm(conn, AlarmKind.ARCHIVE_SAVING, self.service.name, self.today(), detail)

    async def open_slots(self) -> int:
        """The number of captures that may be under way, as the service says of itself and of the account."""
        try:
            if not is_well(await self.ask("system", keys={})):
                self.end("not-well", UNWELL_S)
                return 0
            reply = await self.ask("user")
        except Resting as rests:
            self.end(rests.why, rests.seconds)
            return 0
        account = account_of(reply)
        if account is None:
            await self.end_by(job_status(reply, "user"))
            return 0
        async with self.pool.connection() as conn:
            await lower_alarm(conn, AlarmKind.ARCHIVE_SAVING, self.service.name)
        allowed = self.daily if account.daily_limit is None else min(self.daily, account.daily_limit)
        self._left = allowed - max(account.daily or 0, self._sent)
        if not account.available:
            self.tally.why = "no-session"
        return min(AT_ONCE, account.available or 0)

    async def ask(self, job: str, *, keys: Mapping[str, str] | None = None) -> ServiceReply:
        """The state of a job, of the service (*system*) or of the account (*user*). Raises Resting."""
        address = save_status_request(self.service, job)
        headers = self.headers if keys is None else keys
        return await self.client.send(self.service, RequestKind.SAVE, address, most=_REPLY_BYTES, headers=headers)

    async def submit(self, url: Url) -> ServiceReply:
        """The reply to a request to save a URL. Raises Resting."""
        return await self.client.send(
            self.service,
            RequestKind.SAVE,
            save_request(self.service),
            most=_REPLY_BYTES,
            headers=self.headers,
            form={"url": str(url), **_OPTIONS},
        )
