"""Lets the Wayback Machine save living links of which no archive has a copy (A-2): Save Page Now 2, with keys.

Which URLs may be saved is ``archive/savable``'s business, what replies mean ``core/archive/save_replies``'.
One law: a URL whose saving was submitted is asked about, and later looked for, before it is ever submitted again; and
nothing counts as saved before its copy was played.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Final
from urllib.parse import urlsplit

from weboid.archive.client import ArchiveClient, Resting
from weboid.archive.look_up import RESTING, FoundCopy, GivenCopy, look_up
from weboid.archive.savable import is_well, unsavable_now, unsavable_url
from weboid.archive.wanted import SNAPSHOT_DAYS, lookup_rows
from weboid.config import Config
from weboid.core.archive.addresses import save_request, save_status_request, taken_of
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.choice import Wish
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.save_replies import SaveReply, SaveState, account_of, job_status, submitted
from weboid.core.archive.services import ArchiveService, services_for
from weboid.core.record.days import date_of
from weboid.core.url.archives import is_same_page
from weboid.core.url.farms import Farm
from weboid.core.url.urls import InvalidUrl, parse
from weboid.errors import ConfigError, StoreError
from weboid.store.archives.lookup import StoredLookup, list_lookups, record_lookups
from weboid.store.archives.saving import (
    Saving,
    SavingState,
    count_savings,
    lease_savings,
    record_savable,
    record_saving,
)
from weboid.store.archives.service_limit import RequestKind
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots, record_snapshots
from weboid.store.db.pool import Pool
from weboid.store.db.rows import KnownUrl
from weboid.store.pages.spam import is_spam_somewhere
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm
from weboid.store.urls.url import find_urls

log = logging.getLogger(__name__)

SERVICE: Final = "wayback"
SAVES_A_DAY: Final = 1_000
"""Captures of a day that the account may have: a thirtieth of what the service allows. With their look-ups they take a
tenth of the index requests of a day."""
AT_ONCE: Final = 2
"""Captures under way at a time."""
MOST_TRIES: Final = 4
POLLS: Final = 20
"""So often a job is asked about: some sixteen minutes. Jobs of which the service knows nothing are pending for ever."""
FIRST_POLL_S: Final = 15.0
_LONGEST_POLL_S: Final = 60.0
_JOB_LEASE_S: Final = 1_800.0
"""So long a job is left to the worker that sent it."""
_LEASE_S: Final = 900.0
_DAY_S: Final = 86_400.0
CONFIRM_S: Final = 3 * _DAY_S
"""The service knows new captures hours later, in the worst case days."""
_NOT_SHOWN_S: Final = 7 * _DAY_S
_LOOKUPS_A_SAVE: Final = 3
"""So many look-ups there may be in a day for each saving."""
_QUEUED: Final = 500
_IDLE_S: Final = 300.0
_UNWELL_S: Final = 900.0
"""So long nothing is sent to a service that says that it is not well."""
_REPLY_BYTES: Final = 1 << 18
_UNSENT: Final = frozenset({"refused", "dns", "tls", "not-public"})
"""Faults after which the service cannot have got the request."""
_OPTIONS: Final = {
    "if_not_archived_within": "30d",
    "skip_first_archive": "1",
    "delay_wb_availability": "1",
    "js_behavior_timeout": "0",
}
_SENDING: Final = "sending"
_NOT_SHOWN: Final = "not-shown"


@dataclass(slots=True)
class SavingTally:
    """What was done: URLs looked up, submitted, saved as the service says, shown to be saved, already in an archive,
    refused for good, put off. `why` = a stable word for why no more is sent now."""

    looked: int = 0
    sent: int = 0
    saved: int = 0
    shown: int = 0
    found: int = 0
    refused: int = 0
    put_off: int = 0
    why: str = ""


class SavingRound:
    """One worker's savings at `service`; `today` is called for each, `stopped` ends it in order.

    Raises ConfigError for keys that cannot be used, or that would travel unencrypted.
    """

    def __init__(
        self,
        pool: Pool,
        client: ArchiveClient,
        service: ArchiveService,
        others: Sequence[ArchiveService],
        *,
        key: str,
        secret: str,
        farms: Iterable[Farm],
        today: Callable[[], int],
        stopped: asyncio.Event,
        daily: int = SAVES_A_DAY,
        first_poll_s: float = FIRST_POLL_S,
    ) -> None:
        self.tally = SavingTally()
        self._pool = pool
        self._client = client
        self._service = service
        self._services = (service, *(other for other in others if other.archive.number != service.archive.number))
        self._headers = _headers(service, key, secret)
        self._farms = tuple(farms)
        self._today = today
        self._stopped = stopped
        self._daily = daily
        self._first_poll_s = first_poll_s
        self._day = self._ended_day = -1
        self._left = self._looked = self._sent = 0
        self._rest_until = 0.0
        self._has_begun = False
        self._before: int | None = None
        """The place in the log before which there may be more to save; None = there is nothing more."""

    async def run(self) -> None:
        """Calls `sweep` again and again, with pauses, until stopped."""
        while not self._stopped.is_set():
            try:
                await self.sweep()
            except StoreError as error:
                log.warning("savings wait: %s", error)
            except Exception as error:
                log.error("savings wait: %r", error, exc_info=error)
            await self._is_stopped_within(_IDLE_S)

    async def sweep(self) -> SavingTally:
        """Does all that is to be done now: looks for what was saved, asks about jobs, and saves what waits.

        Raises StoreError.
        """
        if self._day != (day := self._today()):
            self._day, self._looked, self._sent = day, 0, 0
        self.tally.why = ""
        self._left = self._daily
        await self._in_slots(AT_ONCE, SavingState.SAVED, self._confirm)
        await self._in_slots(AT_ONCE, SavingState.SENT, self._resume)
        if not self._is_ended and (slots := await self._open_slots()):
            await self._queue()
            await self._in_slots(slots, SavingState.WAITING, self._save)
        return self.tally

    @property
    def _is_resting(self) -> bool:
        return self._stopped.is_set() or self._rest_until > asyncio.get_running_loop().time()

    @property
    def _is_ended(self) -> bool:
        """Whether nothing more is submitted for now."""
        return self._is_resting or self._ended_day == self._today()

    def _end(self, why: str, rest_s: float | None) -> None:
        """Sends nothing more for so many seconds; None = on this day."""
        self.tally.why = why
        if rest_s is None:
            self._ended_day = self._today()
        else:
            self._rest_until = asyncio.get_running_loop().time() + rest_s

    async def _is_stopped_within(self, seconds: float) -> bool:
        """Waits; whether it was stopped meanwhile."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)
        return self._stopped.is_set()

    async def _in_slots(self, slots: int, state: SavingState, work: Callable[[Saving], Awaitable[None]]) -> None:
        """Does the work for all savings of a state whose time has come, so many at a time."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(slots):
                    group.create_task(self._one_after_another(state, work))
        except* StoreError as errors:
            raise errors.exceptions[0] from None

    async def _one_after_another(self, state: SavingState, work: Callable[[Saving], Awaitable[None]]) -> None:
        lease_s = _JOB_LEASE_S if state is SavingState.SENT else _LEASE_S
        while not self._is_resting:
            if state is SavingState.WAITING and not self._has_budget:
                return
            async with self._pool.connection() as conn:
                leased = await lease_savings(conn, state=state, limit=1, lease_s=lease_s)
            if not leased:
                return
            try:
                await work(leased[0])
            except Resting as rests:
                # Nothing was sent: it stays what it is.
                await self._put(leased[0], state, next_s=rests.seconds, why=leased[0].why)
                self._end(rests.why, rests.seconds)

    @property
    def _has_budget(self) -> bool:
        if self._left < 1:
            self._end("daily-limit", None)
        elif self._looked >= self._daily * _LOOKUPS_A_SAVE:
            self._end("lookup-limit", None)
        return not self._is_ended

    async def _put(
        self, saving: Saving, state: SavingState, *, next_s: float = 0, why: str = "", tries: int | None = None
    ) -> None:
        """Records a state that needs nothing but what is known; the job stays."""
        await self._put_job(saving, state, saving.job, next_s=next_s, why=why, tries=tries)

    async def _put_job(
        self,
        saving: Saving,
        state: SavingState,
        job: str | None,
        *,
        next_s: float = 0,
        why: str = "",
        tries: int | None = None,
    ) -> None:
        counted = saving.tries if tries is None else tries
        async with self._pool.connection() as conn:
            await record_saving(conn, saving.key, state=state, next_s=next_s, job=job, why=why, tries=counted)

    async def _refuse(self, saving: Saving, why: str) -> None:
        self.tally.refused += 1
        await self._put_job(saving, SavingState.REFUSED, None, why=why)

    async def _again(self, saving: Saving, why: str) -> None:
        """Puts a URL off, longer each time, and gives it up after some."""
        tries = saving.tries + 1
        if tries >= MOST_TRIES:
            await self._refuse(saving, why)
            return
        self.tally.put_off += 1
        await self._put_job(saving, SavingState.WAITING, None, next_s=_DAY_S * 2**tries, why=why, tries=tries)

    # Whether anything may be sent at all.

    async def _open_slots(self) -> int:
        """How many captures may be under way, by what the service says of itself and of the account."""
        try:
            if not is_well(await self._asked("system", keys={})):
                self._end("not-well", _UNWELL_S)
                return 0
            reply = await self._asked("user")
        except Resting as rests:
            self._end(rests.why, rests.seconds)
            return 0
        account = account_of(reply)
        if account is None:
            await self._end_by(job_status(reply, "user"))
            return 0
        async with self._pool.connection() as conn:
            await lower_alarm(conn, AlarmKind.ARCHIVE_SAVING, self._service.name)
        allowed = self._daily if account.daily_limit is None else min(self._daily, account.daily_limit)
        self._left = allowed - max(account.daily or 0, self._sent)
        if not account.available:
            self.tally.why = "no-session"
        return min(AT_ONCE, account.available or 0)

    async def _asked(self, job: str, *, keys: Mapping[str, str] | None = None) -> ServiceReply:
        address = save_status_request(self._service, job)
        headers = self._headers if keys is None else keys
        return await self._client.send(self._service, RequestKind.SAVE, address, most=_REPLY_BYTES, headers=headers)

    async def _end_by(self, said: SaveReply) -> None:
        """Ends what is sent, as a reply demands that speaks of no single URL."""
        if said.state is not SaveState.REFUSED:
            self._end(
                said.why or "no-account", None if said.state is SaveState.LATER and not said.rest_s else _UNWELL_S
            )
            return
        self._end(said.why, None)
        async with self._pool.connection() as conn:
            detail = f"{self._service.name} does not accept the keys for saving: {said.why}"
            await raise_alarm(conn, AlarmKind.ARCHIVE_SAVING, self._service.name, self._today(), detail)

    async def _queue(self) -> None:
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

    # One URL, from the look-up to the end of its job.

    async def _save(self, saving: Saving) -> None:
        """Submits a URL that lives, may be saved, and has no copy anywhere."""
        async with self._pool.connection() as conn:
            known = (await find_urls(conn, [saving.key])).get(saving.key)
            is_spam = await is_spam_somewhere(conn, saving.key)
            has_copy = bool(await list_snapshots(conn, [saving.key]))
        if has_copy:
            self.tally.found += 1
            await self._put_job(saving, SavingState.KEPT, None, why="found")
            return
        why = "spam" if is_spam else "not-watched" if known is None else unsavable_url(saving.url, self._farms)
        if why or known is None:
            await self._refuse(saving, why)
            return
        if why := unsavable_now(known.record, known.host, self._today()):
            await self._again(saving, why)
            return
        if await self._has_none(saving, known):
            await self._submit(saving)

    async def _has_none(self, saving: Saving, known: KnownUrl) -> bool:
        """Whether every service says with two voices that there is no copy; whatever else is found is recorded."""
        day = self._today()
        async with self._pool.connection() as conn:
            earlier = (await list_lookups(conn, [saving.key])).get(saving.key, ())
        none = {one.archive for one in earlier if one.outcome is LookupOutcome.NONE and one.due > day}
        if all(service.archive.number in none for service in services_for(saving.url, self._services)):
            return True
        self._looked += 1
        self.tally.looked += 1
        result = await look_up(self._client, self._services, _wish(known, day), known=none)
        rows = lookup_rows(saving.key, result, earlier, day)
        if result.found is not None:
            await self._keep(saving, known, result.found, rows)
            self.tally.found += 1
            return False
        async with self._pool.connection() as conn:
            await record_lookups(conn, rows)
        if result.rest_s is not None:
            raise Resting(self._service, result.rest_s, RESTING)
        match result.outcome:
            case LookupOutcome.NONE:
                return True
            case LookupOutcome.ERROR | LookupOutcome.UNKNOWN:
                await self._again(saving, result.outcome.word)
            case _:
                await self._refuse(saving, result.outcome.word)
        return False

    async def _submit(self, saving: Saving) -> None:
        if self._left < 1:
            await self._put(saving, SavingState.WAITING)
            self._end("daily-limit", None)
            return
        self._left -= 1
        self._sent += 1
        # Whoever finds it like this after a crash looks for the copy before anything is submitted again.
        await self._put_job(saving, SavingState.SENT, None, next_s=_JOB_LEASE_S, why=_SENDING)
        try:
            reply = await self._client.send(
                self._service,
                RequestKind.SAVE,
                save_request(self._service),
                most=_REPLY_BYTES,
                headers=self._headers,
                form={"url": str(saving.url), **_OPTIONS},
            )
        except Resting as rests:
            await self._put_job(saving, SavingState.WAITING, None, next_s=rests.seconds)
            self._end(rests.why, rests.seconds)
            return
        self.tally.sent += 1
        if reply.code is None and reply.fault not in _UNSENT:
            await self._put_job(saving, SavingState.SAVED, None, next_s=CONFIRM_S, why="unanswered")
            return
        said = submitted(reply)
        if said.job is not None and said.state in (SaveState.STARTED, SaveState.ALREADY):
            await self._put_job(saving, SavingState.SENT, said.job, next_s=_JOB_LEASE_S)
            await self._follow(replace(saving, job=said.job))
        else:
            await self._settle(saving, said)

    async def _resume(self, saving: Saving) -> None:
        """Goes on with a URL that another worker, or this one before a stop, has submitted."""
        if saving.job is None:
            await self._put_job(saving, SavingState.SAVED, None, next_s=CONFIRM_S, why="unanswered")
        else:
            await self._follow(saving)

    async def _follow(self, saving: Saving) -> None:
        """Asks about a job until it ends, or until it has been asked about often enough."""
        assert saving.job is not None
        pause_s = self._first_poll_s
        for _ in range(POLLS):
            if await self._is_stopped_within(pause_s):
                await self._put(saving, SavingState.SENT)
                return
            reply = await self._asked(saving.job)
            said = job_status(reply, saving.job)
            if said.state is SaveState.LATER or said.state is SaveState.REFUSED:
                await self._put(saving, SavingState.SENT, next_s=said.rest_s or _UNWELL_S)
                await self._end_by(said)
                return
            # Where the question failed, nothing is known of the job.
            if reply.code == 200 and said.state is not SaveState.PENDING:
                await self._settle(saving, said)
                return
            pause_s = min(1.5 * pause_s, _LONGEST_POLL_S)
        await self._put_job(saving, SavingState.SAVED, None, next_s=CONFIRM_S, why="pending")

    async def _settle(self, saving: Saving, said: SaveReply) -> None:
        """Records what became of a URL by the service's last word on it."""
        match said.state:
            case SaveState.SAVED if why := _misfit(saving, said):
                await self._refuse(saving, why)
            case SaveState.SAVED | SaveState.ALREADY:
                self.tally.saved += 1
                stamp = None if said.stamp is None else str(said.stamp)
                await self._put_job(saving, SavingState.SAVED, stamp, next_s=CONFIRM_S, why=said.why)
            case SaveState.NEVER:
                await self._refuse(saving, said.why)
            case SaveState.LATER | SaveState.REFUSED:
                await self._put_job(saving, SavingState.WAITING, None, next_s=said.rest_s or _DAY_S, why=said.why)
                await self._end_by(said)
            case _:
                await self._again(saving, said.why)

    # Days later.

    async def _confirm(self, saving: Saving) -> None:
        """Plays what was saved: from then on it is the URL's snapshot."""
        day = self._today()
        async with self._pool.connection() as conn:
            known = (await find_urls(conn, [saving.key])).get(saving.key)
            earlier = (await list_lookups(conn, [saving.key])).get(saving.key, ())
        if known is None:
            await self._refuse(saving, "not-watched")
            return
        given = [] if saving.job is None else [GivenCopy(self._service, taken_of(int(saving.job)), saving.url)]
        result = await look_up(self._client, [self._service], _wish(known, day, since=saving.day), given=given)
        rows = lookup_rows(saving.key, result, earlier, day)
        if result.found is not None:
            self.tally.shown += 1
            await self._keep(saving, known, result.found, rows)
            return
        async with self._pool.connection() as conn:
            await record_lookups(conn, rows)
        if result.rest_s is not None:
            raise Resting(self._service, result.rest_s, RESTING)
        if result.outcome is LookupOutcome.ERROR:
            await self._put(saving, SavingState.SAVED, next_s=_DAY_S, why=saving.why)
        elif saving.job is not None and saving.why != _NOT_SHOWN:
            await self._put(saving, SavingState.SAVED, next_s=_NOT_SHOWN_S, why=_NOT_SHOWN)
        else:
            await self._again(saving, _NOT_SHOWN)

    async def _keep(self, saving: Saving, known: KnownUrl, found: FoundCopy, rows: Sequence[StoredLookup]) -> None:
        """Makes a copy that was played the URL's snapshot, and ends the saving, in one transaction."""
        day = self._today()
        snapshot = StoredSnapshot(
            saving.key,
            found.service.archive.number,
            found.stamp,
            Origin.CHOSEN,
            due=day + SNAPSHOT_DAYS,
            asked=day,
            wanted=_cited(known, day),
            note=int(found.note),
            address=found.own_address,
        )
        async with self._pool.connection() as conn:
            await record_snapshots(conn, [snapshot])
            await record_lookups(conn, rows)
            await record_saving(conn, saving.key, state=SavingState.KEPT, why="", tries=saving.tries)


def require_save_keys(config: Config) -> None:
    """Raises ConfigError if there are keys for saving that cannot be used: to be called before anything is begun."""
    if service := _saves_at(config):
        _headers(service, config.archive.save_key, config.archive.save_secret)


def _saves_at(config: Config) -> ArchiveService | None:
    """The service that saves; None without keys, or if it is not among those that are asked."""
    archive = config.archive
    if not (archive.save_key or archive.save_secret):
        return None
    return next((service for service in archive.services if service.name == SERVICE), None)


def saving_round(
    config: Config, pool: Pool, client: ArchiveClient, *, today: Callable[[], int], stopped: asyncio.Event
) -> SavingRound | None:
    """The savings as configured; None without keys, or if the Wayback Machine is not among the services.

    Raises ConfigError.
    """
    archive = config.archive
    if (service := _saves_at(config)) is None:
        return None
    return SavingRound(
        pool,
        client,
        service,
        archive.services,
        key=archive.save_key,
        secret=archive.save_secret,
        farms=config.farms,
        today=today,
        stopped=stopped,
    )


def _headers(service: ArchiveService, key: str, secret: str) -> dict[str, str]:
    """The headers of requests for saving. Raises ConfigError, whose text shows no key."""
    for name, value in (("KEY", key), ("SECRET", secret)):
        if not re.fullmatch(r"[!-9;-~]{1,200}", value):
            raise ConfigError(
                f"WEBOID_ARCHIVE_SAVE_{name} is missing or no key: take both from archive.org/account/s3.php"
            )
    parts = urlsplit(service.base)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ConfigError(f"the base of {service.name} is not https: the keys for saving would travel unencrypted")
    return {"Authorization": f"LOW {key}:{secret}", "Accept": "application/json"}


def _wish(known: KnownUrl, day: int, *, since: int | None = None) -> Wish:
    """What is looked for: the page as it is, or was when it came; it lives, so every copy since is one before death."""
    moment = datetime.combine(date_of(_cited(known, day) if since is None else since), time(), UTC)
    return Wish(known.url, moment, date_of(day), date_of(day), known.portrait)


def _cited(known: KnownUrl, day: int) -> int:
    """The day of the citation, as far as the store knows it."""
    return known.record.history[-1].first if known.record.history else day


def _misfit(saving: Saving, said: SaveReply) -> str:
    """Why what was saved is not the page, "" if it is."""
    if said.status is not None and said.status >= 400:
        return "status"
    try:
        is_same = said.original is None or is_same_page(parse(said.original), saving.url)
    except InvalidUrl:
        is_same = False
    return "" if is_same else "other-page"
