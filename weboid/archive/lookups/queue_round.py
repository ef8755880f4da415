"""Looks up what waits in the queue of wanted copies: the newly dead first, several at once (A-1, A-2).

The queue belongs to ``store/archives/copy_queue``, one look-up to ``look_up``. A URL leaves the queue only in the
transaction that writes what was found; a stop, a crash or a service that rests leaves it there.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import KW_ONLY, dataclass, field
from math import inf
from time import monotonic
from typing import Final

from weboid.archive.lookups import queue_rows
from weboid.archive.lookups.look_up import look_up
from weboid.archive.lookups.look_up_result import LookUpResult
from weboid.archive.service.client import ArchiveClient
from weboid.core.archive.choice import CHANGING
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import ArchiveService, playing
from weboid.core.record.days import NEVER_DUE, day_of
from weboid.core.url.farms import language_of
from weboid.core.url.keys import UrlKey
from weboid.errors import StoreAway, StoreError
from weboid.mechanism.patience import ending, is_stopped_within, sweep_until_stopped
from weboid.store.archives.changing_page import ChangingPage, list_changing, record_changing
from weboid.store.archives.copy_queue import (
    WantedCopy,
    count_queue,
    follow_changes,
    lease_wanted,
    list_citing,
    record_done,
    record_due_again,
    record_released,
)
from weboid.store.archives.lookup import StoredLookup, list_lookups, record_lookups
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots, record_snapshots
from weboid.store.db.pool import Pool
from weboid.store.db.statements import Connection
from weboid.store.pages.wiki import list_wikis

log = logging.getLogger(__name__)

AT_ONCE: Final = 32
"""Look-ups under way at a time."""
LEASE_S: Final = 900.0
"""So long a URL is kept from other workers; one that waits for a service that rests is taken up again after it."""
_BATCH: Final = 64
"""URLs written at a time at most."""
_WRITE_S: Final = 0.5
"""Results wait no longer than so many seconds after the last writing, if there is a look-up."""
_FOLLOW_S: Final = 5.0
_IDLE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 60.0
"""So often it is looked whether a service rests no more: another worker may have had an answer."""


@dataclass(slots=True)
class QueueTally:
    """Counts: look-ups by outcome, those that needed no request, those that wait for a service, and requests."""

    outcomes: Counter[LookupOutcome] = field(default_factory=Counter)
    spared: int = 0
    waiting: int = 0
    requests: int = 0
    requests_of: Counter[LookupOutcome] = field(default_factory=Counter)
    """The requests by the outcome of the look-up that they were sent for."""

    @property
    def done(self) -> int:
        """URLs that have left the queue."""
        return self.outcomes.total() + self.spared


@dataclass(frozen=True, slots=True)
class _Task:
    """A URL of the queue with what the store knows of its copies."""

    wanted: WantedCopy
    lookups: tuple[StoredLookup, ...]
    snapshots: tuple[StoredSnapshot, ...]
    changing: ChangingPage | None
    languages: Set[str]
    """Of the wikis that cite it, those for which there are services."""


_Done = tuple[_Task, LookUpResult | None]
"""A task with its result; None = no look-up was needed."""


@dataclass(eq=False)
class QueueRound:
    """One worker's look-ups; `today` is called for each, `stopped` ends it, `show` is called after each batch.

    `waits_s`: for so long a sweep waits for the first of all services if that rests.
    """

    pool: Pool
    client: ArchiveClient
    services: Sequence[ArchiveService]
    _: KW_ONLY
    today: Callable[[], int]
    stopped: asyncio.Event
    at_once: int = AT_ONCE
    lease_s: float = LEASE_S
    show: Callable[[QueueTally], None] | None = None
    waits_s: float = 0.0

    def __post_init__(self) -> None:
        self.tally = QueueTally()
        self.rests: dict[str, float] = {}
        """By name of a service that rested when it was last wanted: until when, by ``monotonic``."""
        self._numbers = playing(self.services)
        self._open: dict[UrlKey, _Task] = {}
        self._done: list[_Done] = []
        self._lines: Counter[int] = Counter()
        self._recorded = monotonic()

    async def run(self) -> None:
        """Sweeps again and again until stopped."""
        await sweep_until_stopped(self.sweep, self.stopped, what="look-ups of copies", log=log, idle_s=self._pause_s)

    def _pause_s(self) -> float:
        return max(min(self.rest_s or 0.0, _LONGEST_PAUSE_S), _IDLE_S)

    @property
    def rest_s(self) -> float | None:
        """Seconds until the service that is asked for every URL may be asked again; None if it does not rest."""
        until = self.rests.get(self.services[0].name) if self.services else None
        left_s = 0.0 if until is None else until - monotonic()
        return left_s if left_s > 0 else None

    async def sweep(self) -> QueueTally:
        """Looks up all that waits; raises StoreError. Ends early if stopped, or if the first of all services rests."""
        await self._sweep_once()
        while (rest_s := self.rest_s) is not None and rest_s <= self.waits_s and await self._is_more():
            log.info("look-ups of copies wait for %.0f s, since %s rests", rest_s, self.services[0].name)
            if await is_stopped_within(self.stopped, rest_s):
                break
            await self._sweep_once()
        return self.tally

    async def _is_more(self) -> bool:
        async with self.pool.connection() as conn:
            return any(length.count for length in (await count_queue(conn, limit=1)).values())

    async def _sweep_once(self) -> None:
        self.rests.clear()
        # What a sweep had taken that ended while the store was away, so that it could not give it back.
        await self._record()
        await self._release()
        supply: asyncio.Queue[_Task | None] = asyncio.Queue(1)  # what one worker holds, no other can look up
        try:
            async with ending(self.stopped), asyncio.TaskGroup() as group:
                group.create_task(self._supply(supply))
                for _ in range(self.at_once):
                    group.create_task(self._work(supply))
        except* StoreError as errors:
            raise errors.exceptions[0] from None
        finally:
            await self._record()
            await self._release()

    @property
    def _is_ended(self) -> bool:
        return self.stopped.is_set() or self.rest_s is not None

    async def _supply(self, supply: asyncio.Queue[_Task | None]) -> None:
        """Leases URLs as they are needed; changes of the store are in the queue before the next ones are leased."""
        followed = -inf
        while not self._is_ended:
            if monotonic() - followed > _FOLLOW_S:
                await self._follow()
                followed = monotonic()
            if not (tasks := await self._lease()):
                break
            _heed_cancellation()
            for task in tasks:
                await supply.put(task)
        for _ in range(self.at_once):
            await supply.put(None)

    async def _follow(self) -> None:
        """Brings the queue up to the log of changes, and lets what has become old wait again."""
        is_more = True
        while is_more and not self.stopped.is_set():
            async with self.pool.connection() as conn:
                is_more = await follow_changes(conn) > 0
        async with self.pool.connection() as conn:
            await record_due_again(conn, self.today())

    async def _lease(self) -> list[_Task]:
        async with self.pool.connection() as conn:
            wanted = await lease_wanted(conn, self.today(), limit=max(self.at_once // 2, 1), lease_s=self.lease_s)
            keys = [one.key for one in wanted]
            lookups = await list_lookups(conn, keys) if keys else {}
            snapshots = await list_snapshots(conn, keys) if keys else {}
            changing = await list_changing(conn, keys) if keys else {}
            languages = await self._languages(conn, keys)
            tasks = [
                _Task(one, lookups.get(key, ()), snapshots.get(key, ()), changing.get(key), languages.get(key, set()))
                for key, one in zip(keys, wanted, strict=True)
            ]
            # Before the commit, at which it may be cancelled: what it has taken is given back.
            self._open |= {task.wanted.key: task for task in tasks}
        return tasks

    async def _languages(self, conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, set[str]]:
        wanted = {language for service in self.services for language in service.languages}
        wikis = {each.wiki: language_of(each.dbname) for each in (await list_wikis(conn) if wanted else ())}
        languages: dict[UrlKey, set[str]] = {}
        for key, wiki in await list_citing(conn, keys, [wiki for wiki in wikis if wikis[wiki] in wanted]):
            languages.setdefault(key, set()).add(wikis[wiki])
        return languages

    async def _work(self, supply: asyncio.Queue[_Task | None]) -> None:
        """Makes one look-up after another; results of the other tasks are written together with its own."""
        while True:
            _heed_cancellation()
            if (task := await supply.get()) is None:
                break
            if self._is_ended:
                continue
            result = await self._look_up(task)
            self._done.append((task, result))
            if len(self._done) >= _BATCH or monotonic() - self._recorded > _WRITE_S:
                await self._record()

    async def _look_up(self, task: _Task) -> LookUpResult | None:
        """Looks a URL up; None if that is not needed."""
        day = self.today()
        if queue_rows.is_settled(task.wanted, task.snapshots, task.lookups) or (
            task.changing is not None and not task.changing.is_lifted
        ):
            return None
        is_lifted = task.changing is not None
        known = [
            one.archive for one in task.lookups if one.due > day and not (is_lifted and queue_rows.says_changing(one))
        ]
        try:
            result = await look_up(
                self.client,
                self.services,
                queue_rows.wish_of(task.wanted, day),
                given=queue_rows.given_copies(task.wanted, self._numbers, known),
                known=known,
                languages=task.languages,
                is_lifted=is_lifted,
                waits=True,
                lines=self._lines,
            )
        except StoreError:
            raise
        except Exception as error:
            log.error("%s cannot be looked up: %r", task.wanted.url, error, exc_info=error)
            return LookUpResult([], is_broken=True)
        for tried in result.tries:
            if tried.rest_s is not None:
                self.rests[tried.service.name] = monotonic() + tried.rest_s
        return result

    async def _record(self) -> None:
        """Writes what was found, and takes it out of the queue; while the store is away it is kept for later."""
        done, self._done, self._recorded = self._done, [], monotonic()
        try:
            await self._write(done)
        except StoreAway:
            self._done = done + self._done
            raise

    async def _write(self, done: list[_Done]) -> None:
        day = self.today()
        changed = _Rows()
        for task, result in sorted(done, key=lambda one: one[0].wanted.key):
            changed.add(task, result, day)
        # Of what waits for a service the answers of the others are written, too.
        if changed.days or changed.lookups:
            async with self.pool.connection() as conn:
                await record_snapshots(conn, changed.snapshots)
                await record_lookups(conn, changed.lookups)
                await record_changing(conn, changed.changing, day)
                await record_done(conn, changed.days)
        for task, result in done:
            is_done = task.wanted.key in changed.days
            # What waits for the first of all services goes back to its place; for another one, when its lease ends.
            if is_done or self.rest_s is None:
                self._open.pop(task.wanted.key, None)
            self._count(result, is_done=is_done)
        if done and self.show:
            self.show(self.tally)

    async def _release(self) -> None:
        """Gives back what was not looked up."""
        if keys := sorted(self._open):
            async with self.pool.connection() as conn:
                await record_released(conn, keys)
        self._open.clear()

    def _count(self, result: LookUpResult | None, *, is_done: bool) -> None:
        if result is None:
            self.tally.spared += 1
            return
        self.tally.requests += result.requests
        self.tally.requests_of[result.outcome] += result.requests
        if is_done:
            self.tally.outcomes[result.outcome] += 1
        else:
            self.tally.waiting += 1


class _Rows:
    """The rows that a batch writes."""

    def __init__(self) -> None:
        self.lookups: list[StoredLookup] = []
        self.snapshots: list[StoredSnapshot] = []
        self.changing: list[UrlKey] = []
        self.days: dict[UrlKey, int] = {}

    def add(self, task: _Task, result: LookUpResult | None, day: int) -> None:
        """Adds the rows of one URL; while a service rests that might have a copy, the URL stays in the queue."""
        key = task.wanted.key
        if result is None:
            self.days[key] = NEVER_DUE
            return
        rows = queue_rows.lookup_rows(key, result, task.lookups, day)
        self.lookups += rows
        if result.found is not None:
            wanted = day_of(queue_rows.cited_on(task.wanted, day))
            origin = Origin.CITED if result.found.is_given else Origin.CHOSEN
            self.snapshots.append(queue_rows.snapshot_row(key, result.found, day, wanted=wanted, origin=origin))
        if any(tried.why == CHANGING for tried in result.tries):
            self.changing.append(key)
        if result.found is not None or result.rest_s is None:
            self.days[key] = queue_rows.again_day(result, rows, task.lookups, day)


def _heed_cancellation() -> None:
    """Ends a task that was cancelled and took no notice, as wait_for of Python 3.11 may forget that, also within a
    statement: it would wait for others that have ended."""
    if (own := asyncio.current_task()) and own.cancelling():
        raise asyncio.CancelledError
