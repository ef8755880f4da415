"""Visits the kept snapshots, each once a quarter, and drops those that are no longer published (A-3).

What a visit makes of one is decided in ``core/archive/visits``; copies that pages cite are visited by ``cited_rounds``.
One law: nothing is held against a copy while its service as a whole is at fault, and no run drops more than its share.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from weboid.archive.service.client import Resting
from weboid.archive.service.replays import Replays
from weboid.archive.visits.canary_copies import CanaryCopies
from weboid.archive.visits.cited_verdict import record_cited_of
from weboid.archive.visits.withdrawals import Withdrawals
from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.replay import Replayed, ReplayResult
from weboid.core.archive.visits import (
    VisitFate,
    VisitJudgement,
    visit_judgement,
)
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.archives import BY_NUMBER
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.errors import StoreError
from weboid.mechanism.ending import ending
from weboid.store.archives.service_limit import list_services
from weboid.store.archives.snapshot import (
    StoredSnapshot,
    lease_snapshots,
    record_visit,
)
from weboid.store.db.pool import Pool

log = logging.getLogger(__name__)

_TAKEN_AT_ONCE: Final = 60
"""Snapshots of each service that are taken for one worker at a time: the most that a crash puts off by a day."""
_AT_ONCE: Final = 4
"""Copies of one service that are played at the same time, in its turns."""


@dataclass(slots=True)
class VisitTally:
    """What a run has done so far. `held` are snapshots against which nothing was held, their service being at fault;
    `stopped` those that were not dropped, for there were too many."""

    visited: int = 0
    kept: int = 0
    struck: int = 0
    dropped: int = 0
    waiting: int = 0
    held: int = 0
    stopped: int = 0


class Played(NamedTuple):
    """A snapshot of `url` as it was played, and what follows from that."""

    snapshot: StoredSnapshot
    url: Url
    replayed: Replayed
    told: VisitJudgement


@dataclass(slots=True)
class _Group:
    """Snapshots of one service that are visited together. `playing` counts those that play; what becomes of `failing`
    ones depends on the service. Not `is_open` = it is not asked for more."""

    archive: int
    waiting: Iterator[tuple[StoredSnapshot, Url]]
    keys: set[UrlKey]
    playing: int = 0
    failing: list[Played] = field(default_factory=list)
    is_open: bool = True


class SnapshotRounds:
    """One worker's visits to kept snapshots; `now` is called at every visit, `stopped` ends them in order.

    With `allow_many`, an operator's word, as many are dropped as are no longer published.
    """

    def __init__(
        self,
        pool: Pool,
        replays: Replays,
        *,
        now: Callable[[], Moment],
        stopped: asyncio.Event,
        policy: Policy = DEFAULT,
        allow_many: bool = False,
    ) -> None:
        self._pool = pool
        self._replays = replays
        self._now = now
        self._policy = policy
        self._stopped = stopped
        self._allow_many = allow_many
        self._withdrawals = Withdrawals(pool, allow_many=allow_many)
        self._canaries = CanaryCopies(pool, replays, today=self._today)
        self._paused: dict[int, int] = {}

    def _today(self) -> int:
        return self._now().day

    async def sweep(self) -> VisitTally:
        """Visits all that are due, service by service side by side; ends early if stopped. Raises StoreError."""
        tally = VisitTally()
        beside = await self._resting()
        while not self._stopped.is_set():
            day = self._today()
            beside |= {archive for archive, paused in self._paused.items() if paused == day}
            asked = [archive for archive in self._replays.archives if archive not in beside]
            async with self._pool.connection() as conn:
                taken = await lease_snapshots(conn, day, asked, limit=_TAKEN_AT_ONCE)
            if not taken:
                break
            groups = defaultdict(list)
            for snapshot, url in taken:
                groups[snapshot.archive].append((snapshot, url))
            async with asyncio.TaskGroup() as group:
                tasks = {
                    archive: group.create_task(self._visit(archive, waiting, tally))
                    for archive, waiting in groups.items()
                }
            beside |= {archive for archive, task in tasks.items() if not task.result()}
        return tally

    async def verify(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed) -> None:
        """Records that a snapshot plays, as another visit of the same copy has shown; anything else is left to its own
        visit."""
        told = self._judged(snapshot, replayed)
        if told.fate is VisitFate.KEPT:
            await self._record(Played(snapshot, url, replayed, told))

    async def drop(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed) -> bool:
        """Drops a snapshot that is a cited copy which is proven gone; False = there are too many to drop (U-8)."""
        return await self._withdrawals.drop(snapshot, url, replayed, self._today())

    async def _resting(self) -> set[int]:
        """The services that are not asked now, and would only be put off."""
        async with self._pool.connection() as conn:
            return {state.archive for state in await list_services(conn) if state.resting_s > 0}

    async def _visit(self, archive: int, waiting: Sequence[tuple[StoredSnapshot, Url]], tally: VisitTally) -> bool:
        """Visits snapshots of one service; returns whether it may be asked for more now."""
        group = _Group(archive, iter(waiting), {snapshot.key for snapshot, _ in waiting})
        try:
            async with ending(self._stopped):
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(_AT_ONCE):
                        tasks.create_task(self._visit_some(group, tally))
                await self._conclude(group, tally)
        except StoreError as error:
            log.warning("copies at %s will be visited again tomorrow: %s", BY_NUMBER[archive].name, error)
            return False
        return group.is_open

    async def _visit_some(self, group: "_Group", tally: VisitTally) -> None:
        """Plays one snapshot of the group after another and records those that stay; the others are concluded later."""
        for snapshot, url in group.waiting:
            if self._stopped.is_set() or not group.is_open:
                return
            try:
                replayed = await self._replays.play(snapshot, url)
                if replayed is None:
                    continue
                tally.visited += 1
                played = Played(snapshot, url, replayed, self._judged(snapshot, replayed))
                if played.told.fate in (VisitFate.STRUCK, VisitFate.DROPPED):
                    group.failing.append(played)
                    continue
                await self._record(played)
                if played.told.fate is VisitFate.KEPT:
                    await record_cited_of(self._pool, snapshot, url, replayed, self._now(), self._policy)
            except (Resting, StoreError) as error:
                log.log(logging.DEBUG if isinstance(error, Resting) else logging.WARNING, "%s", error)
                group.is_open = False
                return
            is_kept = played.told.fate is VisitFate.KEPT
            group.playing += is_kept
            tally.kept += is_kept
            tally.waiting += not is_kept

    async def _conclude(self, group: "_Group", tally: VisitTally) -> None:
        """Strikes and drops what fails, unless the service itself is at fault."""
        if group.failing and not self._allow_many and await self._is_at_fault(group):
            group.is_open = False
            tally.held += len(group.failing)
            return
        if group.playing and not group.failing:
            await self._canaries.lower(group.archive)
        for played in group.failing:
            if played.told.fate is VisitFate.STRUCK:
                await self._record(played)
                tally.struck += 1
            else:
                if await self.drop(played.snapshot, played.url, played.replayed):
                    tally.dropped += 1
                else:
                    tally.stopped += 1

    async def _is_at_fault(self, group: "_Group") -> bool:
        """Whether nothing may be held against the service's copies now; one that is at fault is paused for the day.

        What it says to have withdrawn is no failure of its own, unless it shows nothing else: large sites go at once.
        """
        firm = sum(1 for played in group.failing if _is_firm(played))
        unproven = len(group.failing) - firm
        try:
            if not await self._canaries.is_down(
                group.archive, firm, group.playing, unproven=unproven, beside=group.keys
            ):
                return False
        except Resting:
            return True
        self._paused[group.archive] = self._today()
        return True

    def _judged(self, snapshot: StoredSnapshot, replayed: Replayed) -> VisitJudgement:
        return visit_judgement(
            replayed.result,
            self._today(),
            strikes=snapshot.strikes,
            asked=snapshot.asked,
            spread=snapshot.key.url_key,
        )

    async def _record(self, played: Played) -> None:
        """Writes a visit after which the snapshot stays. One that has moved is kept where it is now."""
        snapshot, _, replayed, told = played
        asked = snapshot.asked if told.fate is VisitFate.WAITING else self._today()
        moved = replayed.taken if replayed.result is ReplayResult.MOVED else None
        async with self._pool.connection() as conn:
            await record_visit(
                conn,
                snapshot,
                asked=asked,
                due=told.due,
                strikes=told.strikes,
                stamp=None if moved is None else stamp_of(moved),
            )


def _is_firm(played: Played) -> bool:
    """Whether it played before, and is not there now without a word."""
    snapshot, _, replayed, _ = played
    was_there = snapshot.asked is not None and not snapshot.strikes
    return was_there and replayed.result is not ReplayResult.WITHDRAWN
