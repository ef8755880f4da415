"""The archive of the embedded server's log of writes: its weekly base backup, and the alarm when it is behind.

Making them belongs to ``pgfolder``.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from threading import Event
from typing import Final

from weboid.errors import StoreError
from weboid.pgfolder.archiving import archiving_state
from weboid.pgfolder.base_backup import BaseBackup, archive_of, is_base_due, make_base_backup
from weboid.pgfolder.folder import Folder
from weboid.store.db.pool import Pool
from weboid.store.embedded import store_errors
from weboid.store.upkeep.alarm import AlarmKind, record_alarms

BASE_DAYS: Final = 7.0
"""Days between two base backups: so long is the log that a restore replays at most."""
BEHIND_S: Final = 1_200.0
"""A segment that has waited so many seconds for the archive is an alarm."""

Clock = Callable[[], datetime]


@store_errors()
async def make_due_base(folder: Folder, now: Clock) -> BaseBackup | None:
    """Makes a base backup of the running server if one is due; raises StoreError.

    If it is cancelled, it ends soon after: pg_basebackup is killed, and its unfinished files are removed.
    """
    if not await asyncio.to_thread(is_base_due, folder, now(), days=BASE_DAYS):
        return None
    given_up = Event()
    making = asyncio.create_task(asyncio.to_thread(make_base_backup, folder, now, given_up))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        given_up.set()
        await asyncio.gather(making, return_exceptions=True)
        raise


async def watch_wal(pool: Pool, folder: Folder | None, day: int, now: Clock, *, failure: str = "") -> None:
    """Raises the alarm if the archive is off, behind, or has a gap, or the last base backup failed; else lowers it.

    No folder = no archive is wanted.
    """
    details = [failure] if failure else []
    if folder is not None:
        try:
            details += await asyncio.to_thread(_details, folder, now())
        except StoreError as error:
            details.append(str(error))
    async with pool.connection() as conn:
        await record_alarms(conn, AlarmKind.WAL_BEHIND, {"": "; ".join(details)} if details else {}, day)


@store_errors()
def _details(folder: Folder, now: datetime) -> list[str]:
    archive, _ = archive_of(folder)
    state = archiving_state(folder, archive, now)
    details = []
    if not state.is_on:
        details.append(f"the running server does not archive in {folder.wal}: stop all processes and start them again")
    if state.behind_s > BEHIND_S:
        details.append(f"the archive in {folder.wal} is {state.behind_s / 60:.0f} minutes behind")
    if state.has_gap:
        details.append("a part of the log was given up: make space there, then run weboid backup --wal")
    elif is_base_due(folder, now, days=BASE_DAYS + 1):
        details.append(f"there is no base backup of the last {BASE_DAYS:.0f} days: run weboid backup --wal")
    return details
