"""What crawlers and feeders did on each day of the last 400 days, as sums (O-5).

Showing them is the business of ``web/health``.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("schedule/day_total")
_KEPT_DAYS: Final = 400


class DayFigure(StrEnum):
    """What is added up for each day: checks by outcome (INFERRED: those of them without contact; HELD: failures that
    may be ours), rounds with the seconds they took over all crawlers, passes with theirs, and CONFLICTS: transactions
    that the database ended for the sake of others, as ``store/db/pool`` counts them.
    """

    WORKING = "working"
    DOUBTFUL = "doubtful"
    REFUSED = "refused"
    FAILING = "failing"
    INFERRED = "inferred"
    HELD = "held"
    ROUNDS = "rounds"
    ROUND_SECONDS = "round_seconds"
    PASSES = "passes"
    PASS_SECONDS = "pass_seconds"
    CONFLICTS = "conflicts"


DayTotals = Mapping[int, Mapping[str, int]]
"""Sums by day and figure; what is missing is 0."""


async def record_totals(conn: Connection, added: Mapping[tuple[int, DayFigure], int]) -> None:
    """Adds to the sums of days."""
    rows = sorted((day, figure.value, total) for (day, figure), total in added.items() if total)
    if rows:
        columns = zip(*rows, strict=True)
        await conn.execute(SQL["record_totals"], dict(zip(("day", "figure", "total"), map(list, columns), strict=True)))


async def list_totals(conn: Connection, day: int, *, days: int) -> DayTotals:
    """The sums of so many days up to `day`, without those on which nothing was done."""
    row = {"first": day - days + 1, "day": day, "limit": days * len(DayFigure) * 2}
    found: dict[int, dict[str, int]] = {}
    async for of_day, figure, total in await conn.execute(SQL["list_totals"], row):
        found.setdefault(of_day, {})[figure] = total
    return found


async def delete_past_totals(conn: Connection, day: int) -> None:
    """Deletes the sums of days long past."""
    await conn.execute(SQL["delete_totals"], {"before": day - _KEPT_DAYS})
