"""Signs of life of a part among troubles: other processes in its role, tables that are missing for a while, numbers of
processes that come again.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from support.database_proxy import open_database_proxy
from support.waiting import until

from weboid.cli.processes import running
from weboid.cli.processes.process import host_name, machine
from weboid.cli.processes.store_process import open_process
from weboid.config import Config, load_config
from weboid.errors import WeboidError
from weboid.store.schedule.process import ProcessRole

LIMIT_S = 20
LASTING: Final[dict[str, Any]] = {"size": 1, "lasting": True}
FAR: Final = ("far", "m", 1)
"""A process on another machine."""


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part writes its row, and asks for a role that another one has, without long pauses."""
    monkeypatch.setattr(running, "_SEEN_S", 0.02)
    monkeypatch.setattr(running, "_ASK_S", 0.02)


def _config(database: str, tmp_path: Path) -> Config:
    return load_config(None, {"WEBOID_DATABASE": database}, data=tmp_path)


async def _until_seen(database: str, condition: str = "true") -> None:
    async with asyncio.timeout(LIMIT_S), await psycopg.AsyncConnection.connect(database, autocommit=True) as conn:
        row = await (await conn.execute("SELECT clock_timestamp()")).fetchone()
        assert row
        asked = f"SELECT FROM part WHERE seen > %s AND {condition}"
        while not (await conn.execute(asked, row)).rowcount:
            await asyncio.sleep(0.02)


async def _until_logged(caplog: pytest.LogCaptureFixture, words: str) -> None:
    await until(lambda: words in caplog.text)


async def _seen(database: str, role: ProcessRole, other: tuple[str, str, int], ago_s: float = 0) -> None:
    """Another process (its host, machine and number) has the role, and was last seen so many seconds ago."""
    async with await psycopg.AsyncConnection.connect(database) as conn:
        await conn.execute("DELETE FROM part")
        await conn.execute(
            "INSERT INTO part (role, name, host, machine, pid, version, seen) "
            "VALUES (%s, 'another', %s, %s, %s, '1', now() - make_interval(secs => %s))",
            (role.value, *other, ago_s),
        )


async def _run_until(config: Config, role: ProcessRole, ends: asyncio.Event) -> None:
    async with open_process(config, role, **LASTING):
        await ends.wait()


async def test_a_second_feeder_waits_until_the_first_has_ended(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # A process that runs: that of the tests.
    await _seen(database, ProcessRole.FEED, (host_name(), machine(), os.getppid()))
    ends = asyncio.Event()
    second = asyncio.create_task(_run_until(_config(database, tmp_path), ProcessRole.FEED, ends))
    await _until_logged(caplog, f"another feed runs: process {os.getppid()} on {host_name()}")
    async with await psycopg.AsyncConnection.connect(database) as conn:
        await conn.execute("DELETE FROM part")
    await _until_seen(database, "name <> 'another'")
    ends.set()
    await second
    assert caplog.text.count("another feed runs") == 1


async def test_a_second_up_says_who_runs_and_waits_only_for_one_that_may_have_died_a_moment_ago(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, ends = _config(database, tmp_path), asyncio.Event()
    ends.set()
    for other in ((host_name(), machine(), os.getppid()), FAR):
        await _seen(database, ProcessRole.UP, other, ago_s=20)
        with pytest.raises(WeboidError, match=rf"weboid up runs already: process {other[2]} on {other[0]}, since 2"):
            await _run_until(config, ProcessRole.UP, ends)
    await _seen(database, ProcessRole.UP, FAR, ago_s=59.5)
    async with asyncio.timeout(LIMIT_S):
        await _run_until(config, ProcessRole.UP, ends)
    assert "another up runs: process 1 on far" in caplog.text


@pytest.mark.parametrize("number", [os.getpid, lambda: _dead()], ids=["of a container of before", "of a dead one"])
@pytest.mark.parametrize("role", [ProcessRole.FEED, ProcessRole.UP])
async def test_who_is_known_to_have_ended_is_not_waited_for(
    database: str, tmp_path: Path, role: ProcessRole, number: Callable[[], int], caplog: pytest.LogCaptureFixture
) -> None:
    """A container that was killed and started again: its namespace and its process 1 have the numbers they had."""
    await _seen(database, role, (host_name(), machine(), number()))
    async with asyncio.timeout(LIMIT_S), open_process(_config(database, tmp_path), role, **LASTING):
        await _until_seen(database, "name <> 'another'")
    assert "another" not in caplog.text


def _dead() -> int:
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)
    return child


async def test_who_could_not_be_seen_while_the_database_was_away_writes_first(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_SEEN_S", 1.0)  # it has two seconds for it
    await _seen(database, ProcessRole.MAINTAIN, FAR, ago_s=3_600)
    ends = asyncio.Event()
    with open_database_proxy(database) as proxy:
        proxy.cut()
        part = asyncio.create_task(_run_until(_config(proxy.dsn, tmp_path), ProcessRole.MAINTAIN, ends))
        await _until_logged(caplog, "the database is away: ")
        proxy.heal()
        await _until_logged(caplog, "another maintain may have run: process 1 on far")
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as conn:
            await conn.execute("UPDATE part SET seen = now()")
            await _until_logged(caplog, "another maintain runs: process 1 on far")
            await conn.execute("DELETE FROM part")
        await _until_seen(database, "name <> 'another'")
        ends.set()
        await part


async def test_who_was_silent_for_too_long_gives_its_role_up(database: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with open_process(_config(database, tmp_path), ProcessRole.MAINTAIN, **LASTING) as part:
            await _until_seen(database)
            await _seen(database, ProcessRole.MAINTAIN, FAR)
            await part.stopped.wait()

    with pytest.raises(WeboidError, match="another maintain has taken over: process 1 on far"):
        await asyncio.wait_for(run(), LIMIT_S)
    async with await psycopg.AsyncConnection.connect(database) as conn:
        assert (await conn.execute("SELECT FROM part WHERE name = 'another'")).rowcount == 1


async def test_a_part_writes_its_row_again_once_its_table_is_back(
    database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_process(_config(database, tmp_path), ProcessRole.CRAWL, **LASTING):
        await _until_seen(database)
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as conn:
            await conn.execute("ALTER TABLE part RENAME TO part_away")
            await _until_logged(caplog, "the sign of life is not written")
            await conn.execute("ALTER TABLE part_away RENAME TO part")
        await _until_seen(database)
    assert caplog.text.count("the sign of life is not written: relation") == 1
