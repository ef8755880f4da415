"""The database's clock, by which all workers agree on the day; and the newest day on which one of them worked (C-16).

One law: a day is recorded as lived only by a worker that has found it to be right.
"""

from datetime import UTC, datetime
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("schedule/clock")


async def find_moment(conn: Connection) -> datetime:
    """What the database's clock says, in UTC."""
    row = await (await conn.execute(SQL["find_moment"])).fetchone()
    assert row is not None
    moment: datetime = row[0]
    return moment.astimezone(UTC)


async def find_lived(conn: Connection) -> int | None:
    """The newest day on which a worker worked, None before the first round."""
    row = await (await conn.execute(SQL["find_lived"])).fetchone()
    return row[0] if row else None


async def record_lived(conn: Connection, day: int) -> None:
    """Records that a worker works on a day; an earlier day than the newest changes nothing."""
    await conn.execute(SQL["record_lived"], {"day": day})


async def record_confirmed_day(conn: Connection, day: int) -> None:
    """Makes a day the newest lived one, whichever was so before: an operator says that it is right."""
    await conn.execute(SQL["record_confirmed"], {"day": day})
