"""``weboid backup``, ``weboid restore`` and the daily backup of ``weboid maintain``, as their users run them."""

import asyncio
import os
import signal
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support.commands import Place
from support.databases import all_rows, until_no_session
from support.stored import open_wiki

from weboid.store.backup.manifest import is_backup
from weboid.store.backup.tables import VOLATILE

ONE = "https://one.demo/"


def _place(folder: Path, dsn: str) -> Place:
    return Place(folder, environ={"WEBOID_DATABASE": dsn})


async def _fill(dsn: str) -> None:
    async with open_wiki(dsn, {1: [ONE], 2: [ONE + "a"]}):
        pass


async def test_a_backup_is_restored_into_another_database_and_names_what_is_not_in_it(
    database: str, second_database: str, tmp_path: Path
) -> None:
    await _fill(database)
    file = tmp_path / "weboid.dump"
    made = await _place(tmp_path, database).run("backup", str(file), "--day", "100")
    assert made.status == 0, made.err
    assert "2 pages, 2 links, 2 URLs, 1 hosts, as of " in made.out
    assert "Not in it, keep them as well: weboid.toml, and the secrets: WEBOID_WEB_SECRET" in made.err
    restored = await _place(tmp_path, second_database).run("restore", str(file), "--day", "130")
    assert restored.status == 0, restored.err
    assert "restored: 2 pages, 2 links, 2 URLs, 1 hosts" in restored.out
    assert "next: weboid check-store" in restored.out
    assert "weboid crawl --once --confirm-day" in restored.out
    assert (await all_rows(second_database))["link"] == (await all_rows(database))["link"]
    checked = await _place(tmp_path, second_database).run("check-store", "--day", "130")
    assert (checked.status, "nothing is wrong" in checked.out) == (0, True)
    again = await _place(tmp_path, second_database).run("restore", str(file))
    assert again.status == 2
    assert "the store is not empty" in again.err
    async with await psycopg.AsyncConnection.connect(database) as connection:
        assert (await (await connection.execute("SELECT day, bytes, place, why FROM backup")).fetchall()) == [
            (100, file.stat().st_size, str(file), "")
        ]


async def test_a_call_without_a_place_is_a_wrong_call(database: str, tmp_path: Path) -> None:
    here = _place(tmp_path, database)
    nowhere = await here.run("backup")
    assert (nowhere.status, "give FILE, or --to FOLDER" in nowhere.err) == (2, True)
    both = await here.run("backup", "a.dump", "--keep", "3")
    assert (both.status, "give either FILE" in both.err) == (2, True)
    pipe = await here.run("backup", "-")
    assert (pipe.status, "a backup is read back, so it needs a file" in pipe.err) == (2, True)
    assert not (tmp_path / "-").exists()
    missing = await here.run("restore", "nothing.dump")
    assert (missing.status, "cannot read nothing.dump: No such file" in missing.err) == (2, True)


async def test_maintain_makes_one_backup_a_day_and_raises_the_alarm_when_it_cannot(
    database: str, tmp_path: Path
) -> None:
    await _fill(database)
    folder = tmp_path / "backups"
    here = _place(tmp_path, database)
    here.environ |= {"WEBOID_BACKUP_FOLDER": str(folder), "WEBOID_BACKUP_KEEP": "1"}
    for day in (101, 102):
        done = await here.run("maintain", "--day", str(day))
        assert done.status == 0, done.err
        assert "read back whole" in done.err
        assert "alarm backup" not in done.err
    assert sorted(path.name for path in folder.iterdir()) == ["weboid-2017-04-13.dump"]
    assert "read back whole" not in (await here.run("maintain", "--day", "102")).err
    folder.rename(tmp_path / "moved")
    folder.write_text("no folder")
    failed = await here.run("maintain", "--day", "103")
    assert failed.status == 0
    assert "alarm backup, since 2017-04-14: there is no backup in" in failed.err
    assert "the last try failed: cannot use the folder" in failed.err
    folder.unlink()
    (tmp_path / "moved").rename(folder)
    done = await here.run("maintain", "--day", "104")
    assert "alarm backup" not in done.err
    here.environ["WEBOID_BACKUP_FOLDER"] = ""
    assert "alarm backup" not in (await here.run("maintain", "--day", "110")).err


async def test_a_stopped_backup_leaves_nothing_and_its_password_stood_on_no_command_line(
    database: str, tmp_path: Path
) -> None:
    await _fill(database)
    secret = "secret-of-this-test"
    here = _place(tmp_path, make_conninfo(database, password=secret))
    async with await psycopg.AsyncConnection.connect(database) as blocker:
        process = await _blocked(here, blocker, database, "backup", "x.dump")
        lines = [line for path in Path("/proc").glob("[0-9]*/cmdline") if b"pg_dump" in (line := _command(path))]
        process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), 30)
    assert lines
    assert not any(secret.encode() in line for line in lines)
    assert process.returncode == 128 + signal.SIGTERM, err.decode()
    assert b"stopped; no backup was made" in err
    assert list(tmp_path.glob("x.dump*")) == []


@pytest.mark.long
async def test_a_killed_backup_leaves_no_file_and_no_pg_dump(database: str, tmp_path: Path) -> None:
    await _fill(database)
    here = _place(tmp_path, database)
    async with await psycopg.AsyncConnection.connect(database) as blocker:
        process = await _blocked(here, blocker, database, "backup", "x.dump")
        os.kill(process.pid, signal.SIGKILL)
        await process.communicate()
    assert not (tmp_path / "x.dump").exists()
    await until_no_session(database)
    done = await here.run("backup", "x.dump")
    assert done.status == 0, done.err
    assert is_backup(tmp_path / "x.dump")
    assert list(tmp_path.glob("x.dump.*")) == []


@pytest.mark.long
async def test_a_killed_or_stopped_restore_leaves_an_empty_store_that_can_be_restored(
    database: str, second_database: str, tmp_path: Path
) -> None:
    await _fill(database)
    assert (await _place(tmp_path, database).run("backup", "x.dump", "--day", "100")).status == 0
    here = _place(tmp_path, second_database)
    before = await all_rows(second_database, without={"key_form"})
    for kind, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 128 + signal.SIGTERM)):
        process = await here.start("restore", "x.dump", "--day", "100")
        # Its transaction is under way: the tables of before are dropped in it.
        await _seen(second_database, "weboid % restore", "backend_xid IS NOT NULL")
        process.send_signal(kind)
        await asyncio.wait_for(process.communicate(), 30)
        assert process.returncode == status
        assert await all_rows(second_database, without={"key_form"}) == before
    done = await here.run("restore", "x.dump", "--day", "100")
    assert done.status == 0, done.err
    without = {*VOLATILE, "lease", "key_form"}
    assert await all_rows(second_database, without=without) == await all_rows(database, without=without)


def _command(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def _blocked(
    here: Place, blocker: "psycopg.AsyncConnection[tuple[object, ...]]", dsn: str, *call: str
) -> asyncio.subprocess.Process:
    """A started command whose pg_dump waits for a table."""
    await blocker.execute("LOCK TABLE withdrawal IN ACCESS EXCLUSIVE MODE")
    process = await here.start(*call)
    await _seen(dsn, "weboid pg_dump", "wait_event_type = 'Lock'")
    return process


async def _seen(dsn: str, name: str, state: LiteralString) -> None:
    """Waits until a session of that name is in that state."""
    query: LiteralString = (
        "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE %s AND datname = current_database() AND "
    )
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        async with asyncio.timeout(30):
            while not (await (await connection.execute(query + state, (name,))).fetchone()):
                await asyncio.sleep(0.005)


async def test_a_role_without_rights_is_shown_what_it_lacks(database: str, tmp_path: Path) -> None:
    async with await psycopg.AsyncConnection.connect(
        make_conninfo(database, user="postgres"), autocommit=True
    ) as connection:
        await connection.execute("CREATE ROLE stranger LOGIN")
        try:
            failed = await _place(tmp_path, make_conninfo(database, options="-c role=stranger", user="postgres")).run(
                "backup", "x.dump"
            )
        finally:
            await connection.execute("DROP ROLE stranger")
    assert failed.status == 2
    assert "refuses us: permission denied for table migration; the role of WEBOID_DATABASE must own" in failed.err
