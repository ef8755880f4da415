"""The daily backup (O-9), and the alarm when there is no new one.

Making one belongs to ``store/backup``. The store's record of backups follows the folder: a backup whose file is gone is
none.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from weboid.core.record.days import iso
from weboid.errors import StoreError
from weboid.store.backup.client_programs import Runner
from weboid.store.backup.kept_files import make_kept_backup, newest_backup
from weboid.store.backup.make import Show
from weboid.store.db.pool import Connection, Pool
from weboid.store.upkeep.alarm import AlarmKind, record_alarms
from weboid.store.upkeep.last_backup import (
    OLD_DAYS,
    GoodBackup,
    find_last_backup,
    record_backup_failure,
    record_last_backup,
)


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """The daily backups: their folder and number, the database's dsn, and the runner of PostgreSQL's programs."""

    folder: Path
    keep: int
    dsn: str
    runner: Runner


async def back_up_daily(pool: Pool, plan: BackupPlan | None, day: int, *, show: Show) -> GoodBackup | None:
    """Makes the backup of a day unless it is there; returns it if it was made. No plan = none is wanted.

    A failure raises the alarm and nothing else; StoreError is raised only if the database is gone.
    """
    if plan is None:
        async with pool.connection() as conn:
            await record_alarms(conn, AlarmKind.BACKUP_OLD, {}, day)
        return None
    before = await asyncio.to_thread(newest_backup, plan.folder, day)
    why = ""
    if before is None or before.day < day:
        try:
            await make_kept_backup(plan.dsn, plan.folder, plan.runner, day=day, keep=plan.keep, show=show)
        except StoreError as error:
            why = str(error)
    newest = await asyncio.to_thread(newest_backup, plan.folder, day)
    async with pool.connection() as conn:
        await record_last_backup(conn, newest)
        if why:
            await record_backup_failure(conn, why)
        await _watch(conn, plan.folder, day)
    return newest if newest != before else None


async def _watch(conn: Connection, folder: Path, day: int) -> None:
    """Raises the alarm if the last try failed, or there is no good backup of the last days; else lowers it."""
    last = await find_last_backup(conn)
    details = []
    if last.good is None:
        details.append(f"there is no backup in {folder}")
    elif last.good.day < day - OLD_DAYS:
        details.append(f"the newest backup is of {iso(last.good.day)}")
    if last.why:
        details.append(f"the last try failed: {last.why}")
    await record_alarms(conn, AlarmKind.BACKUP_OLD, {"": "; ".join(details)} if details else {}, day)
