"""A backup and its restore: all that is stored comes back, whole or not at all, and only into an empty store."""

import asyncio
import fcntl
import json
import os
import resource
import shutil
import stat
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support.databases import all_rows, found_in, until_locked_out, until_no_session
from support.observations import LOST
from support.stored import WikiInStore, open_wiki

from weboid.assets import asset
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.errors import StoreError
from weboid.maintain.consistency import check_store
from weboid.pgfolder import programs
from weboid.store.backup import make as making
from weboid.store.backup import restore as restoring
from weboid.store.backup.client_programs import Runner, address, find_program
from weboid.store.backup.kept_files import list_backups, make_kept_backup
from weboid.store.backup.make import make_backup
from weboid.store.backup.manifest import Manifest, is_backup, read_manifest
from weboid.store.backup.restore import Restored, restore_backup
from weboid.store.backup.tables import VOLATILE
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import open_pool
from weboid.store.embedded import embedded_folder, open_server
from weboid.store.pages.wiki import StoredWiki

URLS = [f"http://h{n % 17}.demo/{n}" for n in range(200)]
GONE = "http://gone.demo/a"
AFTERWARDS = {"lease"}
"""Tables that a restore sets right."""
_END_DUMP = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'weboid pg_dump' AND datname = current_database()
"""


def _silent(doing: str, done: int, total: int) -> None:
    """Shows nothing."""


async def _fill(dsn: str) -> WikiInStore:
    """A store with pages, links, a failing one among them, and rows in tables that hold awkward values."""
    async with open_wiki(dsn, {10: [GONE]}, 90) as wiki:
        await wiki.round(90, _missing)
        await wiki.take_in({n: URLS[n * 20 : n * 20 + 25] for n in range(10)}, 100)
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute("INSERT INTO key_form VALUES (1, 'a')")
        await connection.execute(
            r"INSERT INTO audit (action, subject, name, object, detail) "
            r"VALUES ('a', E'\\.', E'\t\n\\.\n\\N', '', E'é\x7f')"
        )
        await connection.execute("INSERT INTO ended_session VALUES ('\\x00ff5c2e0a', '2030-01-01')")
        await connection.execute("INSERT INTO throttle_key VALUES (100, '\\x00')")
        await connection.execute("INSERT INTO throttle VALUES ('\\x00', now())")
        await connection.execute("INSERT INTO slot VALUES (1, 1, now())")
        await connection.execute("UPDATE lease SET worker = 'w', epoch = 7, until = 'infinity' WHERE bucket = 5")
    return wiki


def _missing(url: str, day: int) -> Observation:
    return LOST


async def _back_up(dsn: str, path: Path, runner: Runner, *, day: int | None = 100) -> Manifest:
    return await make_backup(dsn, path, runner, day=day, show=_silent)


async def _restore(dsn: str, path: Path, runner: Runner, *, day: int = 100) -> Restored:
    async with open_pool(dsn, size=1, part="restore") as pool:
        return await restore_backup(pool, path, runner, day=day, interval=7, show=_silent)


@dataclass(frozen=True)
class Original:
    """A filled store to which nobody writes any more, what it holds, and a backup of it as of day 100."""

    dsn: str
    wiki: StoredWiki
    rows: Mapping[str, list[str]]
    file: Path

    def held(self) -> dict[str, list[str]]:
        """The rows of the tables that a backup has and a restore leaves as they were."""
        return {table: rows for table, rows in self.rows.items() if table not in VOLATILE | AFTERWARDS}


@pytest.fixture(scope="module")
def original(module_database: str, runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Original:
    file = tmp_path_factory.mktemp("original") / "weboid.dump"

    async def made() -> Original:
        stored = await _fill(module_database)
        await _back_up(module_database, file, runner)
        return Original(module_database, stored.wiki, await all_rows(module_database), file)

    with ThreadPoolExecutor(1) as thread:  # asyncio.run would take the tests' loop away.
        return thread.submit(asyncio.run, made()).result()


@pytest.fixture
def backup(original: Original, tmp_path: Path) -> Path:
    return Path(shutil.copy(original.file, tmp_path / "weboid.dump"))


async def _held(dsn: str) -> dict[str, list[str]]:
    return await all_rows(dsn, without=VOLATILE | AFTERWARDS)


async def test_what_was_planted_in_a_store_does_not_come_back(
    database: str, second_database: str, runner: Runner, tmp_path: Path
) -> None:
    async with open_wiki(database, {10: [GONE]}, 90), await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute(
            "CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
        )
        await connection.execute("CREATE TRIGGER planted BEFORE INSERT ON url FOR EACH ROW EXECUTE FUNCTION planted()")
        await connection.execute("CREATE RULE planted AS ON DELETE TO link DO INSTEAD NOTHING")
        # Names and texts that look like the head of another entry in what pg_restore writes.
        name = "p; Type: TABLE; Schema: public"
        await connection.execute(f'CREATE RULE "{name}" AS ON DELETE TO page DO INSTEAD NOTHING')
        for quote, table in (("'", "dead"), ('"', "host")):
            head = f"{quote}--\n-- Name: p; Type: INDEX; Schema: public; Owner: -\n--\nDROP TABLE {table};\n{quote}"
            value = head if quote == "'" else f"{head} FROM (SELECT 1 AS {head}) AS p"
            await connection.execute(f"CREATE RULE planted AS ON INSERT TO {table} DO ALSO SELECT {value}".encode())
        await connection.commit()
        await _back_up(database, tmp_path / "weboid.dump", runner)
    restored = await _restore(second_database, tmp_path / "weboid.dump", runner)
    assert sorted(restored.left_out) == [
        "? page p", "rule dead planted", "rule host planted", "rule link planted", "trigger url planted"
    ]  # fmt: skip
    planted = (
        "SELECT tablename, rulename FROM pg_rules WHERE schemaname = current_schema() "
        "UNION SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal"
    )
    assert await found_in(second_database, planted) == []


async def test_all_rows_and_the_schema_come_back_once(
    original: Original, backup: Path, second_database: str, runner: Runner
) -> None:
    restored = await _restore(second_database, backup, runner)
    assert await _held(second_database) == original.held()
    assert (await _schema(second_database, runner)) == (await _schema(original.dsn, runner))
    assert f" {len(URLS) + 1} URLs," in restored.manifest.summary
    assert restored.migrations == []
    left = await all_rows(second_database)
    assert [name for name in VOLATILE if left[name]] == []
    with pytest.raises(StoreError, match="the store is not empty"):
        await _restore(second_database, backup, runner)
    assert await all_rows(second_database) == left
    leases = "SELECT bucket, worker, epoch FROM lease WHERE bucket = 5 OR until > now()"
    assert await found_in(second_database, leases) == [(5, "", 8)]
    another = "INSERT INTO audit (action, subject, name, object, detail) VALUES ('', '', '', '', '') RETURNING audit"
    assert await found_in(second_database, another) == [(2,)], "numbers go on"
    async with open_pool(second_database, size=1, part="test") as pool:
        assert not (await check_store(pool, 100, policy=DEFAULT, repairs=False)).found


async def _schema(dsn: str, runner: Runner) -> list[str]:
    database, environ = address(dsn)
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        program = find_program("pg_dump", runner, least=connection.info.server_version // 10_000)
    done = runner.account.run(
        [program.path, "--schema-only", "--no-owner", f"--dbname={database}"], env={**environ, "LC_ALL": "C"}
    )
    assert done.returncode == 0, done.stdout
    return [line for line in done.stdout.splitlines() if not line.startswith(("\\", "--"))]


async def test_the_file_is_for_its_owner_alone_and_one_that_postgresql_can_read(backup: Path, runner: Runner) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]
    program = find_program("pg_restore", runner, least=read_manifest(backup).tool)
    listed = _output(program.path, "--list", str(backup))
    assert "TABLE DATA public url" in listed
    assert "TABLE DATA public throttle" not in listed
    assert "h3.demo" in _output(program.path, "--file=-", str(backup))


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


async def test_a_database_that_a_part_uses_or_that_has_other_tables_is_refused(
    backup: Path, second_database: str, runner: Runner
) -> None:
    before = await all_rows(second_database)
    async with open_pool(second_database, size=1, part="crawl") as pool:
        async with pool.connection() as conn:
            await conn.execute("SELECT 1")
        with pytest.raises(StoreError, match=r"use this database \(crawl\): stop them"):
            await _restore(second_database, backup, runner)
    async with await psycopg.AsyncConnection.connect(second_database, autocommit=True) as connection:
        await connection.execute("CREATE TABLE somebodys (n int)")
    with pytest.raises(StoreError, match=r"has other tables \(somebodys\)"):
        await _restore(second_database, backup, runner)
    assert await all_rows(second_database) == {**before, "somebodys": []}


def _flipped(data: bytes) -> bytes:
    spoilt = bytearray(data)
    spoilt[len(spoilt) // 2] ^= 1
    return bytes(spoilt)


def _rewritten(data: bytes, key: str, value: object) -> bytes:
    at = data.rindex(b"\nweboid-backup ")
    given = json.loads(data[at + 15 :])
    given[key] = value
    given.pop("check", None)  # as older Weboids wrote it
    return data[: at + 15] + json.dumps(given, separators=(",", ":")).encode() + b"\n"


async def test_what_is_no_whole_backup_of_ours_is_refused_before_anything_is_written(
    backup: Path, second_database: str, runner: Runner
) -> None:
    before, whole = await all_rows(second_database), backup.read_bytes()
    for spoilt, said in (
        (whole[:-100], "not a whole backup"),
        (whole[:5000] + whole[5100:], "torn"),
        (_flipped(whole), "checksum"),
        (b"SELECT 1;\n" * 100, "no backup of Weboid$"),
        (b"\x1f\x8b" + whole, "no backup of Weboid, but a packed file: unpack it first$"),
        (whole[: read_manifest(backup).size], "not a whole backup"),
        (_rewritten(whole, "migration", 10_000), "newer weboid"),
        (_rewritten(whole, "format", 2), "format 2"),
    ):
        backup.write_bytes(spoilt)
        with pytest.raises(StoreError, match=said):
            await _restore(second_database, backup, runner)
    assert await all_rows(second_database) == before


async def test_a_restore_that_is_killed_or_misses_rows_leaves_the_store_empty(
    backup: Path, second_database: str, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await all_rows(second_database)

    async def ended(conn: psycopg.AsyncConnection[tuple[object, ...]], *_: object, **__: object) -> None:
        async with await psycopg.AsyncConnection.connect(second_database, autocommit=True) as other:
            await other.execute("SELECT pg_terminate_backend(%s)", (conn.info.backend_pid,))
        await conn.execute("SELECT 1")

    with monkeypatch.context() as patch:
        patch.setattr(restoring, "set_right", ended)
        with pytest.raises(StoreError):
            await _restore(second_database, backup, runner)
    assert await all_rows(second_database) == before
    rows = {**read_manifest(backup).rows, "url": len(URLS) + 2}
    backup.write_bytes(_rewritten(backup.read_bytes(), "rows", rows))
    with pytest.raises(StoreError, match="rows of url"):
        await _restore(second_database, backup, runner)
    assert await all_rows(second_database) == before


async def test_an_older_backup_is_migrated(
    empty_database: str, second_database: str, runner: Runner, tmp_path: Path
) -> None:
    steps = sorted((asset("sql") / "migrations").glob("*.sql"))
    older = tmp_path / "migrations"
    older.mkdir()
    for step in steps[:18]:
        shutil.copy(step, older)
    async with await psycopg.AsyncConnection.connect(empty_database) as connection:
        await migrate(connection, older)
        await connection.execute("INSERT INTO farm (farm, name) VALUES (1, 'WMF')")
    assert (await _back_up(empty_database, tmp_path / "x.dump", runner)).migration == 18
    restored = await _restore(second_database, tmp_path / "x.dump", runner)
    assert restored.migrations == [step.stem for step in steps[18:]]
    assert (await all_rows(second_database))["farm"] == ["(1,WMF)"]


async def test_a_pg_dump_that_dies_or_is_stopped_leaves_no_file_and_the_older_one_stays(
    backup: Path, database: str, runner: Runner
) -> None:
    before = backup.read_bytes()
    async with await psycopg.AsyncConnection.connect(database) as blocker:
        # pg_dump waits for this table, so it can be ended in its middle.
        await blocker.execute("LOCK TABLE withdrawal IN ACCESS EXCLUSIVE MODE")
        making = asyncio.create_task(_back_up(database, backup, runner))
        await until_locked_out(database)
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as other:
            await other.execute(_END_DUMP)
        with pytest.raises(StoreError, match=r"pg_dump failed: .*terminat"):
            await making
        making = asyncio.create_task(_back_up(database, backup, runner))
        await until_locked_out(database)
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
    assert backup.read_bytes() == before
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]
    await until_no_session(database)


async def test_a_file_that_would_be_too_large_leaves_nothing(
    original: Original, tmp_path: Path, runner: Runner
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
    try:
        with pytest.raises(StoreError, match=r"cannot write .*File too large; no backup was made"):
            await _back_up(original.dsn, tmp_path / "x.dump", runner)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


async def test_what_is_no_backup_is_neither_overwritten_nor_waited_for(
    database: str, tmp_path: Path, runner: Runner
) -> None:
    (tmp_path / "weboid.toml").write_text("contact = 'a'")
    with pytest.raises(StoreError, match="is no backup of Weboid: choose another name"):
        await _back_up(database, tmp_path / "weboid.toml", runner)
    assert (tmp_path / "weboid.toml").read_text() == "contact = 'a'"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="is no file: write what comes out of a pipe to one first"):
        read_manifest(tmp_path / "pipe")


async def test_a_stop_that_comes_during_the_commit_of_a_restore_comes_too_late(
    backup: Path, second_database: str, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be said that nothing was restored, and the next restore would find a store that is not empty."""
    real = psycopg.AsyncConnection.commit
    stops: list[asyncio.Task[Restored]] = []

    async def commit(conn: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        await real(conn)
        is_restored = await asyncio.to_thread(_urls_in, second_database)
        if stops and is_restored:
            stops.pop().cancel()
            await asyncio.sleep(0)

    monkeypatch.setattr(psycopg.AsyncConnection, "commit", commit)
    stops.append(restoring_it := asyncio.create_task(_restore(second_database, backup, runner)))
    assert (await restoring_it).manifest == read_manifest(backup)
    assert not stops


def _urls_in(dsn: str) -> bool:
    with psycopg.connect(dsn) as connection:
        return connection.execute("SELECT FROM url LIMIT 1").fetchone() is not None


async def test_overdue_links_are_spread_and_days_on_which_nobody_checked_are_no_evidence(
    original: Original, backup: Path, second_database: str, runner: Runner
) -> None:
    """U-7."""
    restored = await _restore(second_database, backup, runner, day=190)
    assert (restored.aftermath.overdue, restored.aftermath.days) == (len(URLS) + 1, 7)
    query = "SELECT url_key, due FROM url"
    async with (
        await psycopg.AsyncConnection.connect(original.dsn) as before,
        await psycopg.AsyncConnection.connect(second_database) as after,
    ):
        planned: dict[int, int] = dict(await (await before.execute(query)).fetchall())
        now: dict[int, int] = dict(await (await after.execute(query)).fetchall())
        assert all(now[key] >= planned[key] for key in planned)
        days = [max(day, 190) for day in now.values()]
        assert sorted(set(days)) == list(range(190, 197))
        assert all(days.count(day) < len(URLS) / 7 * 2 for day in days)
    async with open_pool(second_database, size=4, part="test") as pool:
        assert not (await check_store(pool, 190, policy=DEFAULT, repairs=False)).found
        wiki = WikiInStore(pool, original.wiki)
        streak = (await wiki.known(GONE)).record.streak
        assert (streak.strikes, streak.until) == (1, 90)
        for day in range(190, 197):
            await wiki.round(day, _missing)
        assert ((await wiki.known(GONE)).record.checked or 0) >= 190
        assert (await wiki.finding(GONE)).verdict.word != "dead"


async def test_the_newest_are_kept_and_what_is_not_ours_stays(
    original: Original, database: str, tmp_path: Path, runner: Runner
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for day in (13, 14):
        shutil.copy(original.file, folder / f"weboid-2017-04-{day}.dump")
    await make_kept_backup(database, folder, runner, day=104, keep=2, show=_silent)
    assert [path.name for path in list_backups(folder)] == ["weboid-2017-04-15.dump", "weboid-2017-04-14.dump"]
    others = {"weboid-2016-01-01.dump": b"mine", "notes.txt": b"x", "weboid-2016-01-02.dump.bak": b"y"}
    for name, text in others.items():
        (folder / name).write_bytes(text)
    (folder / "weboid-2016-01-03.dump.unfinished").write_bytes(b"left")
    await make_kept_backup(database, folder, runner, day=105, keep=1, show=_silent)
    assert {path.name for path in folder.iterdir()} == {"weboid-2017-04-16.dump", *others}
    assert {name: (folder / name).read_bytes() for name in others} == others


@pytest.mark.long
async def test_a_backup_moves_between_versions_of_postgresql(
    original: Original, second_database: str, server_folder: Path, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for an upgrade of PostgreSQL, and back: settings and programs of each version are others."""
    with monkeypatch.context() as patch:
        patch.setattr(programs, "_wheel_package", lambda: None)
        try:
            server = open_server(server_folder / "other")
        except StoreError as error:
            pytest.skip(f"there is no second PostgreSQL here: {error}")
    with server:
        here = Runner.of(embedded_folder(server_folder / "other").account, server_folder / "other")
        async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
            await migrate(connection)
            other = connection.info.server_version // 10_000
        if read_manifest(original.file).tool == other:
            pytest.skip(f"both are PostgreSQL {other}")
        await _restore(server.dsn, original.file, here)
        assert await _held(server.dsn) == original.held()
        file = server_folder / "other.dump"
        assert (await _back_up(server.dsn, file, here)).tool == other, "that of its version is preferred"
        await _restore(second_database, file, runner)
    assert await _held(second_database) == original.held()


def test_a_password_is_in_the_environment_alone() -> None:
    dsn = make_conninfo("", host="db.example.org", user="u", password="secret x", dbname="w", keepalives_idle=7)
    shown, environ = address(dsn)
    assert shown == "keepalives_idle=7"
    assert environ["PGPASSWORD"] == "secret x"
    assert (environ["PGHOST"], environ["PGUSER"], environ["PGDATABASE"]) == ("db.example.org", "u", "w")
    with pytest.raises(StoreError, match="sslpassword"):
        address(make_conninfo(dsn, sslpassword="y"))


SMALL = (
    b"PGDMP"
    + (
        MANIFEST := Manifest("1", "2026-11-24T00:00:00+00:00", 100, 1, 1, "a", 180004, 18, "public", 5, "", {"url": 2})
    ).line()
)
"""A backup as far as its manifest goes."""


def test_a_last_line_that_somebody_made_up_is_refused_and_one_of_an_older_weboid_will_do(tmp_path: Path) -> None:
    path = tmp_path / "x.dump"
    path.write_bytes(SMALL)
    assert is_backup(path)
    for key, value in (("rows", []), ("day", 10**9), ("moment", "2026-11-24T00:00:00"), ("schema", 7)):
        path.write_bytes(_rewritten(SMALL, key, value))
        assert not is_backup(path), key
    path.write_bytes(SMALL[: SMALL.rindex(b"\nweboid-backup ") + 15] + b"[" * 50_000 + b"}\n")
    assert not is_backup(path)
    path.write_bytes(_rewritten(SMALL, "weboid", "1"))
    assert b"check" not in path.read_bytes()
    assert read_manifest(path) == MANIFEST


def test_no_byte_of_the_last_line_can_change_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "x.dump"
    unnoticed = []
    for bit in range(len(b"PGDMP") * 8, len(SMALL) * 8, 7):
        changed = bytearray(SMALL)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        if is_backup(path) and read_manifest(path) != MANIFEST:
            unnoticed.append((bit, read_manifest(path)))
    assert unnoticed == []


def test_a_backup_that_was_finished_since_its_file_was_opened_is_not_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program gives the file its name between our opening and locking it."""
    unfinished, path = tmp_path / "x.dump.unfinished", tmp_path / "x.dump"
    unfinished.write_text("whole")
    lock = fcntl.flock

    def after_the_other(file: IO[bytes], kind: int) -> None:
        unfinished.rename(path)
        lock(file, kind)

    monkeypatch.setattr(fcntl, "flock", after_the_other)
    with pytest.raises(StoreError, match="another program was writing"), making._unfinished(path):
        pass
    assert path.read_text() == "whole"
