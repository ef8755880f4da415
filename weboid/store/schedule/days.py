"""The day by the database's clock, the newest day on which a worker worked (C-16), and sums of the work of each of the
last 400 days (O-5), which ``web/health`` shows.

A day is recorded as lived only by a worker that has found it to be right.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from weboid.store.db.statements import Connection, fetch_value, statements

SQL: Final = statements("schedule/days")
_KEPT_DAYS: Final = 400


class DayFigure(StrEnum):
    """The figures of a day: checks by outcome (INFERRED: those of them without contact; HELD: failures that may be
    ours), rounds with the seconds they took over all crawlers, passes with theirs, and CONFLICTS: transactions that the
    database ended for the sake of others, as ``store/db/pool`` counts them.
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


async def find_moment(conn: Connection) -> datetime:
    """The database's time, in UTC."""
    moment: datetime | None = await fetch_value(conn, SQL["find_moment"])
    assert moment
    return moment.astimezone(UTC)


async def find_lived(conn: Connection) -> int | None:
    """The newest day on which a worker worked, None before the first round."""
    return await fetch_value(conn, SQL["find_lived"])


async def record_lived(conn: Connection, day: int) -> None:
    """Records that a worker works on a day; an earlier day than the newest changes nothing."""
    await conn.execute(SQL["record_lived"], {"day": day})


async def record_confirmed_day(conn: Connection, day: int) -> None:
    """Makes a day the newest lived one, whichever was so before: an operator says that it is right."""
    await conn.execute(SQL["record_confirmed"], {"day": day})


async def record_totals(conn: Connection, added: Mapping[tuple[int, DayFigure], int]) -> None:
    """Adds to the sums of days."""
    rows = sorted((day, figure.value, total) for (day, figure), total in added.items() if total)
    if rows:
        day, figure, total = map(list, zip(*rows, strict=True))
        await conn.execute(SQL["record_totals"], {"day": day, "figure": figure, "total": total})


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
