"""The newest good backup that the store knows of, and why the last try failed (O-9).

Making one belongs to ``store/backup``, the daily one to ``maintain/backup``.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.rows import storable
from weboid.store.db.statements import statements

SQL: Final = statements("upkeep/last_backup")
OLD_DAYS: Final = 2
"""A newest backup that is older than that is an alarm."""


@dataclass(frozen=True, slots=True)
class GoodBackup:
    """A backup that was read back whole: of which moment and day, its bytes, and its file."""

    day: int
    moment: datetime
    bytes: int
    place: str


@dataclass(frozen=True, slots=True)
class LastBackup:
    """The newest good backup, None = there is none; and why the last try failed, empty = it did not."""

    good: GoodBackup | None = None
    why: str = ""


async def find_last_backup(conn: Connection) -> LastBackup:
    """The newest good backup and the last failure."""
    row = await (await conn.execute(SQL["find_backup"])).fetchone()
    if row is None:
        return LastBackup()
    *good, why = row
    return LastBackup(None if good[0] is None else GoodBackup(*good), why)


async def record_last_backup(conn: Connection, backup: GoodBackup | None) -> None:
    """Makes this the newest good one; None = its file is gone, and there is no other."""
    if backup is None:
        await conn.execute(SQL["record_gone"])
    else:
        row = {"day": backup.day, "moment": backup.moment, "bytes": backup.bytes, "place": storable(backup.place)}
        await conn.execute(SQL["record_backup"], row)


async def record_backup_failure(conn: Connection, why: str) -> None:
    """Records the reason why no backup could be made; the newest good one stays."""
    await conn.execute(SQL["record_failure"], {"why": storable(why)})
