"""Visits the kept snapshots, each once a quarter, and drops those that are no longer published (A-3).

What a visit makes of one is decided in ``core/archive/visits``; copies that pages cite are visited by ``cited_rounds``.
One law: nothing is held against a copy while its service as a whole is at fault, and no run drops more than its share.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from weboid.archive.service.client import Resting
from weboid.archive.service.replays import Replays
from weboid.archive.visits.canary_copies import CanaryCopies
from weboid.archive.visits.cited_verdict import record_cited_of
from weboid.archive.visits.groups import TAKEN_AT_ONCE, GroupVisits, VisitGroup
from weboid.archive.visits.withdrawals import Withdrawals
from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.replay import Replayed, ReplayResult
from weboid.core.archive.visits import (
    VisitJudgement,
    VisitOutcome,
    visit_judgement,
)
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.urls import Url
from weboid.store.archives.snapshot import (
    StoredSnapshot,
    lease_snapshots,
    record_visit,
)
from weboid.store.db.pool import Pool


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


_Group = VisitGroup[StoredSnapshot, Url, Played]


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
        self._tally = VisitTally()
        self._groups: GroupVisits[StoredSnapshot, Url, Played] = GroupVisits(
            pool,
            replays,
            today=self._today,
            stopped=stopped,
            what="copies",
            lease=partial(lease_snapshots, limit=TAKEN_AT_ONCE),
            visit=self._visit,
            conclude=self._conclude,
        )

    def _today(self) -> int:
        return self._now().day

    async def sweep(self) -> VisitTally:
        """Visits all that are due, service by service side by side; ends early if stopped. Raises StoreError."""
        self._tally = VisitTally()
        await self._groups.sweep()
        return self._tally

    async def verify(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed) -> None:
        """Records that a snapshot plays, as another visit of the same copy has shown; anything else is left to its own
        visit."""
        told = self._judged(snapshot, replayed)
        if told.outcome is VisitOutcome.KEPT:
            await self._record(Played(snapshot, url, replayed, told))

    async def drop(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed) -> bool:
        """Drops a snapshot that is a cited copy which is proven gone; False = there are too many to drop (U-8)."""
        return await self._withdrawals.drop(snapshot, url, replayed, self._today())

    async def _visit(self, snapshot: StoredSnapshot, url: Url, group: _Group) -> None:
        """Plays one snapshot and records it if it stays; the others are concluded later. Raises Resting."""
        replayed = await self._replays.play(snapshot, url)
        if replayed is None:
            return
        self._tally.visited += 1
        played = Played(snapshot, url, replayed, self._judged(snapshot, replayed))
        if played.told.outcome in (VisitOutcome.STRUCK, VisitOutcome.DROPPED):
            group.failing.append(played)
            return
        await self._record(played)
        is_kept = played.told.outcome is VisitOutcome.KEPT
        if is_kept:
            await record_cited_of(self._pool, snapshot, url, replayed, self._now(), self._policy)
        group.playing += is_kept
        self._tally.kept += is_kept
        self._tally.waiting += not is_kept

    async def _conclude(self, group: _Group) -> None:
        """Strikes and drops what fails, unless the service itself is at fault."""
        if group.failing and not self._allow_many and await self._is_at_fault(group):
            group.is_open = False
            self._tally.held += len(group.failing)
            return
        if group.playing and not group.failing:
            await self._canaries.lower(group.archive)
        for played in group.failing:
            if played.told.outcome is VisitOutcome.STRUCK:
                await self._record(played)
                self._tally.struck += 1
            else:
                if await self.drop(played.snapshot, played.url, played.replayed):
                    self._tally.dropped += 1
                else:
                    self._tally.stopped += 1

    async def _is_at_fault(self, group: _Group) -> bool:
        """Whether nothing may be held against the service's copies now; one that is at fault is paused for the day.

        What it says to have withdrawn is no failure of its own, unless it shows nothing else: large sites go at once
        (D-140).
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
        self._groups.pause(group.archive)
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
        asked = snapshot.asked if told.outcome is VisitOutcome.WAITING else self._today()
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
