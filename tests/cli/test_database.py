"""A part's database: waited for at the start while it is away, written to only where something is to be brought; an
embedded one is kept alive by a process that can do little.
"""

import asyncio
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from click.exceptions import Exit
from psycopg.conninfo import make_conninfo
from support.database_proxy import open_database_proxy
from support.databases import set_read_only
from support.waiting import until

from weboid.cli.processes import database
from weboid.cli.processes.database import open_store
from weboid.config import Config, load_config
from weboid.errors import StoreAway, StoreError
from weboid.pgfolder.postmaster import server_pid
from weboid.store.embedded import embedded_folder

_LIMIT_S = 30.0


def _config(database: str, folder: Path) -> Config:
    return load_config(None, {"WEBOID_DATABASE": database, "WEBOID_DATA": str(folder)})


def _logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "weboid.cli.processes.database"]


async def _until_logged(caplog: pytest.LogCaptureFixture, words: str) -> None:
    await until(lambda: any(words in line for line in _logged(caplog)))


async def _opened(config: Config, stopped: asyncio.Event | None) -> bool:
    """Opens the store, asks it something, and returns whether it answered."""
    async with open_store(config, size=1, part="test", stopped=stopped) as pool, pool.reading() as conn:
        return (await (await conn.execute("SELECT true")).fetchone()) == (True,)


async def test_a_part_waits_for_its_database_and_says_so_once(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_database_proxy(database) as proxy:
        proxy.cut()
        opening = asyncio.create_task(_opened(_config(proxy.dsn, tmp_path), asyncio.Event()))
        await _until_logged(caplog, "the database is away: cannot reach the database")
        proxy.heal()
        async with asyncio.timeout(_LIMIT_S):
            assert await opening
    assert len(_logged(caplog)) == 2


@pytest.mark.parametrize("trouble", ["cut", "stall", "swallow"])
async def test_a_part_that_waits_ends_at_once_when_it_is_stopped(database: str, tmp_path: Path, trouble: str) -> None:
    stopped = asyncio.Event()
    with open_database_proxy(database) as proxy:
        getattr(proxy, trouble)()
        opening = asyncio.create_task(_opened(_config(proxy.dsn, tmp_path), stopped))
        await until(lambda: proxy.connected or trouble == "cut")
        stopped.set()
        async with asyncio.timeout(3):
            with pytest.raises(Exit) as ended:
                await opening
    assert ended.value.exit_code == 0


async def test_what_no_waiting_heals_ends_a_part(database: str, tmp_path: Path) -> None:
    async with asyncio.timeout(_LIMIT_S):
        with pytest.raises(StoreError, match="refuses us"):
            await _opened(_config(make_conninfo(database, dbname="nowhere"), tmp_path), asyncio.Event())
        async with await psycopg.AsyncConnection.connect(database) as connection:
            await connection.execute("UPDATE key_form SET form_version = 999")
            await connection.execute("INSERT INTO key_form SELECT 999, 'x' WHERE NOT EXISTS (SELECT FROM key_form)")
        with pytest.raises(StoreError, match="weboid rekey"):
            await _opened(_config(database, tmp_path), asyncio.Event())


async def test_a_start_writes_nothing_where_nothing_is_to_be_brought(database: str, tmp_path: Path) -> None:
    assert await _opened(_config(database, tmp_path), None)  # the scheme of the keys is recorded
    await set_read_only(database, is_on=True)
    assert await _opened(_config(database, tmp_path), None)


async def test_a_start_that_must_write_waits_until_it_can_and_says_why(
    empty_database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await set_read_only(empty_database, is_on=True)
    stopped = asyncio.Event()
    opening = asyncio.create_task(_opened(_config(empty_database, tmp_path), stopped))
    await _until_logged(caplog, "the database is away: cannot execute CREATE TABLE in a read-only transaction")
    stopped.set()
    with pytest.raises(Exit):
        await opening
    assert len(_logged(caplog)) == 1


@contextmanager
def _no_more_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_server_is_started_again_after_too_many_files_were_open(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(database, "_WATCH_S", 0.02)
    data = server_folder / "troubles"
    async with open_store(load_config(None, {}, data=data), size=1, part="test", wait_s=1) as pool:
        with _no_more_files():
            await until(lambda: "Too many open files" in caplog.text)
        pid = server_pid(embedded_folder(data))
        assert pid
        os.kill(pid, signal.SIGKILL)
        await until(lambda: "was started again" in caplog.text)
        async with asyncio.timeout(_LIMIT_S):
            while True:
                try:
                    async with pool.connection() as connection:
                        await connection.execute("SELECT 1")
                    break
                except StoreAway:
                    continue
