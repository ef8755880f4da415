"""Signs of life of a part among troubles: tables that are missing for a while, numbers of processes that come again."""

import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from support.database_proxy import open_database_proxy

from weboid.cli.processes import sign_of_life
from weboid.cli.processes.part import open_part
from weboid.cli.processes.process import host_name, machine
from weboid.config import Config, load_config
from weboid.store.db.connection import ASK_S
from weboid.store.db.pool import SILENCE_S
from weboid.store.schedule.part import PartRole

LIMIT_S = 20
LASTING: Final[dict[str, Any]] = {"size": 1, "lasting": True}


def _config(database: str, tmp_path: Path) -> Config:
    return load_config(None, {"WEBOID_DATABASE": database}, data=tmp_path)


async def _until_seen(database: str, condition: str = "true") -> None:
    """Waits until a part has written its row since now."""
    async with asyncio.timeout(LIMIT_S), await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        row = await (await connection.execute("SELECT clock_timestamp()")).fetchone()
        assert row
        asked = f"SELECT FROM part WHERE seen > %s AND {condition}"
        while not (await connection.execute(asked, row)).rowcount:
            await asyncio.sleep(0.02)


async def test_a_part_writes_its_row_again_once_its_table_is_back(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sign_of_life, "_SEEN_S", 0.02)
    async with open_part(_config(database, tmp_path), PartRole.CRAWL, **LASTING):
        await _until_seen(database)
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
            await connection.execute("ALTER TABLE part RENAME TO part_away")
            async with asyncio.timeout(LIMIT_S):
                while "the sign of life is not written" not in caplog.text:
                    await asyncio.sleep(0.02)
            await connection.execute("ALTER TABLE part_away RENAME TO part")
        await _until_seen(database)
    assert caplog.text.count("the sign of life is not written: relation") == 1


@pytest.mark.long
@pytest.mark.timed
async def test_a_part_that_has_nothing_to_do_tells_of_a_silent_database(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The row is written by a statement without a limit, which is given up when the server is found silent."""
    monkeypatch.setattr(sign_of_life, "_SEEN_S", 0.02)
    with open_database_proxy(database) as proxy:
        async with open_part(_config(proxy.dsn, tmp_path), PartRole.CRAWL, **LASTING) as part:
            await _until_seen(database)
            proxy.swallow()
            async with asyncio.timeout(SILENCE_S + ASK_S + 4):
                while "the database is away: " not in caplog.text:
                    await asyncio.sleep(0.02)
            part.pool.give_up()


@pytest.mark.parametrize("role", [PartRole.FEED, PartRole.UP])
async def test_who_had_the_own_process_number_has_ended(
    database: str, tmp_path: Path, role: PartRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container that was killed and started again: its namespace and its process 1 have the numbers they had."""
    monkeypatch.setattr(sign_of_life, "_SEEN_S", 0.02)
    config = _config(database, tmp_path)
    async with open_part(config, PartRole.WEB, **LASTING):
        pass  # the tables are made
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute(
            "INSERT INTO part (role, name, host, machine, pid, version) VALUES (%s, 'before', %s, %s, %s, '1')",
            (role.value, host_name(), machine(), os.getpid()),
        )
    async with asyncio.timeout(LIMIT_S), open_part(config, role, **LASTING):
        await _until_seen(database, "name <> 'before'")


async def test_systemd_hears_what_is_told_last_but_not_all(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_of_life, "_SEEN_S", 0.5)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(0)
        said = []
        async with asyncio.timeout(LIMIT_S), open_part(_config(database, tmp_path), PartRole.CRAWL, **LASTING) as part:
            for number in range(1_000):
                part.tell(f"checking: {number}")
                with suppress(BlockingIOError):
                    said.append(systemd.recv(4096))
            while b"STATUS=checking: 999" not in said:
                await asyncio.sleep(0.02)
                with suppress(BlockingIOError):
                    said.append(systemd.recv(4096))
    assert len(said) < 10
