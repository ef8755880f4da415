"""The archive of the embedded server's log of writes as ``weboid maintain`` keeps it: alarm and base backup."""

import asyncio
import os
import shutil
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.clusters import new_data
from support.processes import programs_of
from support.stored import do

from weboid.maintain.wal import make_due_base, watch_wal
from weboid.pgfolder.archiving import has_gap
from weboid.pgfolder.folder import Folder
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded import embedded_folder, open_server
from weboid.store.upkeep.alarm import list_alarms


def at(minutes: float) -> Callable[[], datetime]:
    return lambda: datetime.now(UTC) + timedelta(minutes=minutes)


async def alarms(pool: Pool, folder: Folder | None, minutes: float = 0, failure: str = "") -> list[str]:
    await watch_wal(pool, folder, 100, at(minutes), failure=failure)
    async with pool.connection() as conn:
        return [f"{alarm.kind}: {alarm.detail}" for alarm in await list_alarms(conn)]


async def test_an_archive_that_is_off_or_behind_is_reported_until_a_base_backup_is_made(server_folder: Path) -> None:
    wal = server_folder / "kept-wal"
    wal.mkdir()
    with new_data(server_folder, "kept") as data:
        folder = embedded_folder(data, wal)
        with open_server(data, wal=wal) as server:
            async with open_pool(server.dsn, size=1, part="test") as pool:
                await do(pool, migrate)
                assert await make_due_base(folder, at(0))
                assert await make_due_base(folder, at(60)) is None
                assert await alarms(pool, folder) == []
                assert await alarms(pool, folder, failure="no space") == ["wal: no space"]
                (old,) = await alarms(pool, folder, 60 * 24 * 9)
                assert "there is no base backup of the last 7 days" in old
                (off,) = await alarms(pool, embedded_folder(data, wal.with_name("another")))
                assert "does not archive in" in off

                waiting = folder.cluster / "pg_wal/archive_status/000000090000000000000001.ready"
                waiting.touch()
                assert await alarms(pool, folder, 19) == []
                assert await alarms(pool, folder, 21) == [f"wal: the archive in {wal} is 21 minutes behind"]
                waiting.unlink(missing_ok=True)

                (folder.cluster / "weboid-wal.gap").touch()
                (gap,) = await alarms(pool, folder)
                assert "a part of the log was given up" in gap
                assert await make_due_base(folder, at(2))
                assert await alarms(pool, folder) == []
                assert await alarms(pool, None, 99) == []
    shutil.rmtree(wal)


async def test_a_base_backup_that_is_cancelled_ends_at_once_and_leaves_nothing(server_folder: Path) -> None:
    wal = server_folder / "stopped-wal"
    wal.mkdir()
    with new_data(server_folder, "stopped") as data:
        folder = embedded_folder(data, wal)
        with open_server(data, wal=wal):
            (folder.cluster / "weboid-wal.gap").touch()
            making = asyncio.create_task(make_due_base(folder, at(0)))
            try:
                async with asyncio.timeout(30):
                    while len(program := programs_of("pg_basebackup", wal)) < 2:  # it has a child for the log
                        await asyncio.sleep(0.001)
                for pid in program:
                    os.kill(pid, signal.SIGSTOP)
                assert not making.done(), "it was stopped in its middle"
                making.cancel()
                async with asyncio.timeout(10):
                    with pytest.raises(asyncio.CancelledError):
                        await making
                assert programs_of("pg_basebackup", wal) == [], "it was killed"
            finally:
                for pid in programs_of("pg_basebackup", wal):
                    os.kill(pid, signal.SIGKILL)
            assert list(wal.glob("cluster-*/base-*")) == []
            assert has_gap(folder), "no base backup has begun after it"
    shutil.rmtree(wal)
