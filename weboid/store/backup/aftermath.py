"""The aftermath of a restore (O-9): old turns and leases are removed, and overdue checks are spread.

Nothing is checked earlier than it was planned. Days without checks are no evidence (U-7), so the day on which a host or
a URL failed last is not touched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final, NamedTuple

from weboid.store.backup.tables import SQL
from weboid.store.db.pool import Connection
from weboid.store.schedule.pace import find_checks_a_day, find_pace

LONGEST_DAYS: Final = 28
"""The days over which all overdue checks are spread at most: those of the slowest round (C-4)."""


class DueSpan(NamedTuple):
    """Checks that were `due` on one day become due on one of `days` days from `first` on."""

    due: int
    first: int
    days: int


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The numbers of overdue URLs, of those that were put off, and of the days over which all are spread."""

    overdue: int
    put_off: int
    days: int


async def set_right(conn: Connection, made: int, day: int, *, interval: int) -> Aftermath:
    """Sets right a store that was backed up on day `made`, and is to go on at `day`, in the caller's transaction.

    Working links are checked every `interval` days where no pace is known.
    """
    for statement in ("delete_turns", "delete_parts", "record_leases_free", "record_queue_free"):
        await conn.execute(SQL[statement])
    overdue = {due: count async for due, count in await conn.execute(SQL["count_overdue"], {"day": day})}
    waiting = sum(overdue.values())
    spans = due_spans(overdue, day, a_day=await _checks_a_day(conn, made, interval)) if day > made else []
    if not spans:
        return Aftermath(waiting, 0, min(waiting, 1))
    columns = {
        "due": [span.due for span in spans],
        "first": [span.first for span in spans],
        "days": [span.days for span in spans],
    }
    put_off = await conn.execute(SQL["record_spread"], {**columns, "day": day})
    await conn.execute(SQL["record_next_days"], {"day": day})
    return Aftermath(waiting, put_off.rowcount, spans[-1].first + spans[-1].days - day)


async def _checks_a_day(conn: Connection, made: int, interval: int) -> int:
    """The number of URLs checked on a usual day before the backup; if none were, as many as the pace takes."""
    # The day of the backup was not over.
    if checks := await find_checks_a_day(conn, made) or await find_checks_a_day(conn, made + 1):
        return checks
    pace = await find_pace(conn)
    row = await (await conn.execute(SQL["count_urls"])).fetchone()
    return ceil((row[0] if row else 0) / max(interval, pace.interval if pace else 0, 1))


def due_spans(overdue: Mapping[int, int], day: int, *, a_day: int) -> list[DueSpan]:
    """The days over which the checks that are overdue on `day` are spread, with `a_day` checks a day.

    `overdue` has how many were due on which day; those of longest ago come first, and none is planned for an earlier
    day than before. Those that stay with `day` are left out: they are due as they are (D-364).
    """
    a_day = max(a_day, ceil(sum(overdue.values()) / LONGEST_DAYS), 1)
    spans = []
    before = 0
    for due, count in sorted(overdue.items()):
        first, last = day + before // a_day, day + (before + count - 1) // a_day
        before += count
        if last > day:
            spans.append(DueSpan(due, first, last - first + 1))
    return spans
