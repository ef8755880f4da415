import asyncio
import signal
from pathlib import Path

import psycopg
from support.commands import Place
from support.databases import all_rows, found_in, until_locked_out
from support.stored import open_wiki

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
    assert (made.status, "2 pages, 2 links, 2 URLs, 1 host, as of " in made.out) == (0, True), made.err
    assert "Not in it, keep them as well: weboid.toml, and the secrets: WEBOID_WEB_SECRET" in made.err
    restored = await _place(tmp_path, second_database).run("restore", str(file), "--day", "130")
    says = ("restored: 2 pages, 2 links, 2 URLs, 1 host", "next: weboid check-store", "crawl --once --confirm-day")
    assert (restored.status, [each for each in says if each not in restored.out]) == (0, []), restored.err
    assert (await all_rows(second_database))["link"] == (await all_rows(database))["link"]
    checked = await _place(tmp_path, second_database).run("check-store", "--day", "130")
    assert (checked.status, "nothing is wrong" in checked.out) == (0, True)
    again = await _place(tmp_path, second_database).run("restore", str(file))
    assert (again.status, "the store is not empty" in again.err) == (2, True)
    empty = Place(tmp_path)
    for given, why in (("none.dump", "cannot read none.dump: No such file"), (__file__, "is no backup of Weboid")):
        wrong = await empty.run("--data", str(tmp_path / "new"), "restore", given)
        assert (wrong.status, why in wrong.err, (tmp_path / "new").exists()) == (2, True, False), wrong.err
    kept = await found_in(database, "SELECT day, bytes, place, why FROM backup")
    assert kept == [(100, file.stat().st_size, str(file), "")]


async def test_maintain_makes_one_backup_a_day_and_raises_the_alarm_when_it_cannot(
    database: str, tmp_path: Path
) -> None:
    await _fill(database)
    folder = tmp_path / "backups"
    here = _place(tmp_path, database)
    here.environ |= {"WEBOID_BACKUP_FOLDER": str(folder), "WEBOID_BACKUP_KEEP": "1"}
    for day in (101, 102):
        done = await here.run("maintain", "--day", str(day))
        seen = (done.status, "read back whole" in done.err, "alarm backup" in done.err)
        assert seen == (0, True, False), done.err
    assert sorted(path.name for path in folder.iterdir()) == ["weboid-2017-04-13.dump"]
    assert "read back whole" not in (await here.run("maintain", "--day", "102")).err
    folder.rename(tmp_path / "moved")
    folder.write_text("no folder")
    failed = await here.run("maintain", "--day", "103")
    assert (failed.status, "alarm backup, since 2017-04-14: there is no backup in" in failed.err) == (0, True)
    assert "the last try failed: cannot use the folder" in failed.err
    folder.unlink()
    (tmp_path / "moved").rename(folder)
    done = await here.run("maintain", "--day", "104")
    assert "alarm backup" not in done.err
    here.environ["WEBOID_BACKUP_FOLDER"] = ""
    assert "alarm backup" not in (await here.run("maintain", "--day", "110")).err


async def test_a_backup_that_is_stopped_says_so_and_leaves_nothing(database: str, tmp_path: Path) -> None:
    await _fill(database)
    async with await psycopg.AsyncConnection.connect(database) as blocker:
        await blocker.execute("LOCK TABLE withdrawal IN ACCESS EXCLUSIVE MODE")
        process = await _place(tmp_path, database).start("backup", "x.dump")
        await until_locked_out(database)
        process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, b"stopped; no backup was made" in err) == (128 + signal.SIGTERM, True), err.decode()
    assert list(tmp_path.glob("x.dump*")) == []
