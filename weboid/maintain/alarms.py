"""The conditions of alarms: passes and rounds over four weeks, events that lag, spam lines that cannot be run (P-7).

Storing alarms belongs to ``store/upkeep/alarm``, where `AlarmKind` says what raises those that follow from no table.
One law: an alarm whose condition has gone is lowered by the next `watch`.
"""

from typing import Final

from weboid.core.record.days import iso
from weboid.store.db.pool import Connection
from weboid.store.upkeep.alarm import (
    AlarmKind,
    find_overdue,
    list_slow_passes,
    list_streams_behind,
    list_unusable_lines,
    record_alarms,
)

SLOW_DAYS: Final = 28
"""A pass or a round that takes over so many days is too slow (P-7)."""
BEHIND_S: Final = 3_600.0
"""Events that are over so many seconds old are too late (P-6)."""


async def watch(conn: Connection, day: int) -> None:
    """Raises the alarms whose conditions hold on `day`, and lowers the others; a second call changes nothing."""
    await record_alarms(conn, AlarmKind.PASS_SLOW, await _slow_passes(conn, day), day)
    await record_alarms(conn, AlarmKind.ROUND_SLOW, await _slow_round(conn, day), day)
    await record_alarms(conn, AlarmKind.STREAM_BEHIND, await _streams_behind(conn), day)
    await record_alarms(conn, AlarmKind.SPAM_LINES, await _spam_lines(conn), day)


async def _slow_passes(conn: Connection, day: int) -> dict[str, str]:
    details = {}
    for slow in await list_slow_passes(conn, day, days=SLOW_DAYS):
        if slow.started is not None and slow.started < day - SLOW_DAYS:
            details[slow.wiki] = f"a pass has been under way since {iso(slow.started)}"
        else:
            details[slow.wiki] = f"the last pass took {slow.days} days"
    return details


async def _slow_round(conn: Connection, day: int) -> dict[str, str]:
    since = await find_overdue(conn, day, days=SLOW_DAYS)
    return {} if since is None else {"": f"links that were due on {iso(since)} have not been checked yet"}


async def _streams_behind(conn: Connection) -> dict[str, str]:
    behind = await list_streams_behind(conn, seconds=BEHIND_S)
    return {streams: f"the newest event is {lag_s // 3_600} hours old" for streams, lag_s in behind.items()}


async def _spam_lines(conn: Connection) -> dict[str, str]:
    unusable = await list_unusable_lines(conn)
    return {name: f"{len(lines)} lines cannot be run, the first: {lines[0]}" for name, lines in unusable.items()}
