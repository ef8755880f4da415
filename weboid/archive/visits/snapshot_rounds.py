"""Visits the kept snapshots, each once a quarter, and drops those that are no longer published (A-3).

What a visit makes of one is decided in ``core/archive/visits``; copies that pages cite are visited by ``cited_rounds``.
In doubt nothing is dropped; no more than one in a hundred of a service's snapshots in a quarter is, without an
operator's word (U-8).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from weboid.archive.visits.cited_verdict import record_cited_of
from weboid.archive.visits.groups import LEASED, GroupVisits, VisitGroup
from weboid.core.archive import visits
from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.replay import Replayed, ReplayResult
from weboid.core.url.archives import BY_NUMBER
from weboid.core.url.urls import Url
from weboid.store.archives.copy_queue import record_wanted
from weboid.store.archives.lookup import StoredLookup, record_lookups
from weboid.store.archives.snapshot import (
    StoredSnapshot,
    Withdrawn,
    count_snapshots,
    delete_snapshot,
    find_withdrawn,
    lease_snapshots,
    record_visit,
    record_withdrawn,
)
from weboid.store.db.pool import Connection
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm

log = logging.getLogger(__name__)


@dataclass(slots=True)
class VisitTally:
    """The counts of a sweep. `held` are snapshots against which nothing was held, their service being at fault;
    `stopped` those that were not dropped, for there were too many."""

    visited: int = 0
    kept: int = 0
    struck: int = 0
    dropped: int = 0
    waiting: int = 0
    held: int = 0
    stopped: int = 0


class _SnapshotVisit(NamedTuple):
    """A snapshot of `url` as it was played, and what follows from that."""

    snapshot: StoredSnapshot
    url: Url
    replayed: Replayed
    judgement: visits.VisitJudgement


_Group = VisitGroup[StoredSnapshot, Url, _SnapshotVisit]


class SnapshotRounds(GroupVisits[StoredSnapshot, Url, _SnapshotVisit]):
    """One worker's visits to kept snapshots; with `allow_many`, as many are dropped as are no longer published."""

    name = "copies"
    _tally: VisitTally

    async def sweep(self) -> VisitTally:
        """Visits all snapshots that are due; ends early if stopped. Raises StoreError."""
        self._tally = VisitTally()
        await self._sweep()
        return self._tally

    async def verify(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed) -> None:
        """Records that a snapshot plays, as another visit of the same copy has shown; anything else is left to its own
        visit."""
        visit = self._judged(snapshot, url, replayed)
        if visit.judgement.outcome is visits.VisitOutcome.KEPT:
            await self._record(visit)

    async def drop(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed) -> bool:
        """Drops the snapshot of `url` that a visit did not find any more.

        Returns False if there are too many: then it stays, the alarm is raised, and it is visited again in a week.
        """
        name, day = BY_NUMBER[snapshot.archive].name, self._today
        async with self.pool.connection() as conn:
            counted = await self._counted(conn, snapshot.archive, day)
            if counted.dropped >= visits.most_drops(counted.kept) and not self.allow_many:
                await raise_alarm(conn, AlarmKind.SNAPSHOTS, name, day, _too_many(counted))
                await record_visit(conn, snapshot, asked=day, due=day + visits.STRIKE_DAYS, strikes=visits.STRIKES)
                return False
            if not await _exchange(conn, snapshot, replayed, day):
                return True
            # What somebody has allowed is not counted against the rest of the quarter.
            await record_withdrawn(conn, replace(counted, dropped=counted.dropped + (not self.allow_many)))
        log.info("%s no longer has %d of %s (%s): dropped", name, snapshot.stamp, url, replayed.why)
        return True

    async def _lease(self, conn: Connection, day: int, archives: Sequence[int]) -> list[tuple[StoredSnapshot, Url]]:
        return await lease_snapshots(conn, day, archives, limit=LEASED)

    async def _visit(self, copy: StoredSnapshot, known: Url, group: _Group) -> None:
        replayed = await self.replays.play(copy, known)
        if replayed is None:
            return
        self._tally.visited += 1
        visit = self._judged(copy, known, replayed)
        if visit.judgement.outcome in (visits.VisitOutcome.STRUCK, visits.VisitOutcome.DROPPED):
            group.failing.append(visit)
            return
        await self._record(visit)
        is_kept = visit.judgement.outcome is visits.VisitOutcome.KEPT
        if is_kept:
            await record_cited_of(self.pool, copy, known, replayed, self.now(), self.policy)
        group.playing += is_kept
        self._tally.kept += is_kept
        self._tally.waiting += not is_kept

    async def _conclude(self, group: _Group) -> None:
        if await self._is_held(group):
            self._tally.held += len(group.failing)
            return
        if group.playing and not group.failing:
            await self._lower_alarm(group.archive)
        for visit in group.failing:
            if visit.judgement.outcome is visits.VisitOutcome.STRUCK:
                await self._record(visit)
                self._tally.struck += 1
            elif await self.drop(visit.snapshot, visit.url, visit.replayed):
                self._tally.dropped += 1
            else:
                self._tally.stopped += 1

    def _is_firm(self, failed: _SnapshotVisit) -> bool:
        was_there = failed.snapshot.asked is not None and not failed.snapshot.strikes
        return was_there and failed.replayed.result is not ReplayResult.WITHDRAWN

    def _judged(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed) -> _SnapshotVisit:
        spread, strikes = snapshot.key.url_key, snapshot.strikes
        judgement = visits.visit_judgement(
            replayed.result, self._today, strikes=strikes, asked=snapshot.asked, spread=spread
        )
        return _SnapshotVisit(snapshot, url, replayed, judgement)

    async def _record(self, visit: _SnapshotVisit) -> None:
        """Writes a visit after which the snapshot stays. One that has moved is kept where it is now."""
        snapshot, _, replayed, judgement = visit
        asked = snapshot.asked if judgement.outcome is visits.VisitOutcome.WAITING else self._today
        moved = replayed.taken if replayed.result is ReplayResult.MOVED else None
        stamp = None if moved is None else stamp_of(moved)
        due, strikes, preview = judgement.due, judgement.strikes, replayed.preview
        async with self.pool.connection() as conn:
            await record_visit(conn, snapshot, asked=asked, due=due, strikes=strikes, stamp=stamp, preview=preview)

    async def _counted(self, conn: Connection, archive: int, day: int) -> Withdrawn:
        """The number dropped of a service in this quarter; with an operator's word a new one begins (D-141)."""
        counted = await find_withdrawn(conn, archive)
        if counted is not None and 0 <= day - counted.since < visits.QUARTER_DAYS and not self.allow_many:
            return counted
        await lower_alarm(conn, AlarmKind.SNAPSHOTS, BY_NUMBER[archive].name)
        if counted is not None and counted.since == day and not counted.dropped:
            return counted
        return Withdrawn(archive, day, (await count_snapshots(conn)).get(archive, 0), 0)


async def _exchange(conn: Connection, snapshot: StoredSnapshot, replayed: Replayed, day: int) -> bool:
    """Puts a look-up that reports the loss in the place of a snapshot; returns whether it still was that one.

    What a service has withdrawn is not asked for again before that is old; of the rest it may have another copy.
    """
    if not await delete_snapshot(conn, snapshot):
        return False
    excluded = replayed.result is ReplayResult.WITHDRAWN
    outcome = LookupOutcome.EXCLUDED if excluded else LookupOutcome.UNSUITABLE
    due = day + outcome.kept_days if excluded else day
    passed = visits.withdrawn_note(snapshot.stamp)
    await record_lookups(conn, [StoredLookup(snapshot.key, snapshot.archive, outcome, day, due, passed=passed)])
    await record_wanted(conn, [snapshot.key], day)
    return True


def _too_many(counted: Withdrawn) -> str:
    return (
        f"{counted.dropped} of {counted.kept} snapshots were dropped in a quarter, and more would be: over one in "
        f"{visits.DROP_SHARE}. If they are really no longer published, run weboid archive --once --allow-many"
    )
