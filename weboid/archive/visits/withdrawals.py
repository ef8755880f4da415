"""Drops snapshots that are no longer published, and tells so (A-3): people, and the queue of look-ups.

When one is dropped is decided in ``core/archive/visits``.
One law: in doubt nothing is dropped; no more than one in a hundred of a service's snapshots in a quarter is, without
an operator's word (U-8).
"""

import logging
from dataclasses import replace

from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.replay import Replayed, ReplayResult
from weboid.core.archive.visits import (
    DROP_SHARE,
    QUARTER_DAYS,
    STRIKE_DAYS,
    STRIKES,
    most_drops,
    withdrawn_note,
)
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
    record_visit,
    record_withdrawn,
)
from weboid.store.db.pool import Connection, Pool
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm

log = logging.getLogger(__name__)


class Withdrawals:
    """Drops snapshots for one run; with `allow_many`, an operator's word, as many as there are."""

    def __init__(self, pool: Pool, *, allow_many: bool = False) -> None:
        self._pool = pool
        self._allow_many = allow_many

    async def drop(self, snapshot: StoredSnapshot, url: Url, replayed: Replayed, day: int) -> bool:
        """Drops the snapshot of `url` that a visit on `day` did not find any more.

        Returns False if there are too many: then it stays, the alarm is raised, and it is visited again in a week.
        """
        name = BY_NUMBER[snapshot.archive].name
        async with self._pool.connection() as conn:
            counted = await self._counted(conn, snapshot.archive, day)
            if counted.dropped >= most_drops(counted.kept) and not self._allow_many:
                await raise_alarm(conn, AlarmKind.SNAPSHOTS, name, day, _too_many(counted))
                await record_visit(conn, snapshot, asked=day, due=day + STRIKE_DAYS, strikes=STRIKES)
                return False
            if not await _exchange(conn, snapshot, replayed, day):
                return True
            # What somebody has allowed is not counted against the rest of the quarter.
            await record_withdrawn(conn, replace(counted, dropped=counted.dropped + (not self._allow_many)))
        log.info("%s no longer has %d of %s (%s): dropped", name, snapshot.stamp, url, replayed.why)
        return True

    async def _counted(self, conn: Connection, archive: int, day: int) -> Withdrawn:
        """What was dropped of a service in this quarter; with an operator's word a new one begins (D-141)."""
        counted = await find_withdrawn(conn, archive)
        if counted is not None and 0 <= day - counted.since < QUARTER_DAYS and not self._allow_many:
            return counted
        await lower_alarm(conn, AlarmKind.SNAPSHOTS, BY_NUMBER[archive].name)
        if counted is not None and counted.since == day and not counted.dropped:
            return counted
        return Withdrawn(archive, day, (await count_snapshots(conn)).get(archive, 0), 0)


async def _exchange(conn: Connection, snapshot: StoredSnapshot, replayed: Replayed, day: int) -> bool:
    """Puts a look-up that tells of the loss in the place of a snapshot; returns whether it still was that one.

    What a service has withdrawn is not asked for again before that is old; of the rest it may have another copy.
    """
    if not await delete_snapshot(conn, snapshot):
        return False
    excluded = replayed.result is ReplayResult.WITHDRAWN
    outcome = LookupOutcome.EXCLUDED if excluded else LookupOutcome.UNSUITABLE
    due = day + outcome.kept_days if excluded else day
    passed = withdrawn_note(snapshot.stamp)
    await record_lookups(conn, [StoredLookup(snapshot.key, snapshot.archive, outcome, day, due, passed=passed)])
    await record_wanted(conn, [snapshot.key], day)
    return True


def _too_many(counted: Withdrawn) -> str:
    return (
        f"{counted.dropped} of {counted.kept} snapshots were dropped in a quarter, and more would be: over one in "
        f"{DROP_SHARE}. If they are really no longer published, run weboid archive --once --allow-many"
    )
