"""The upgrade of a data folder, with two real versions: from an older PostgreSQL that is here to the wheel's.

An older one is looked for in the folder of programs that WEBOID_TEST_OLDER_POSTGRESQL names, and where the system
installs it.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from support.clusters import copied_data, folder_of, kill_server, pid_of, wait_until
from support.older_postgresql import needs_older, older_only

from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.server import open_server
from weboid.pgfolder.upgrade import old_clusters, remove_old, upgrade

pytestmark = needs_older
_REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def older(server_folder: Path) -> Iterator[Path]:
    """A stopped data folder of the older version, with rows and settings of the operator's own."""
    data = server_folder / "older"
    with older_only(), open_server(folder_of(data)) as server, psycopg.connect(server.dsn) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'old' AS n")
    with (data / "postgres/postgresql.conf").open("a") as file:
        file.write("work_mem = 5MB\ninclude 'mine.conf'\n")
    _write(data, "mine.conf", "maintenance_work_mem = 65MB\n")
    hba = data / "postgres/pg_hba.conf"
    hba.write_text("local mine grafana trust # mine\n" + hba.read_text())
    yield data
    shutil.rmtree(data)


@pytest.fixture
def data(older: Path, server_folder: Path) -> Iterator[Path]:
    with copied_data(older, server_folder / "u") as copy:
        yield copy


def _write(data: Path, name: str, text: str) -> None:
    (data / "postgres" / name).write_text(text)
    account = folder_of(data).account
    os.chown(data / "postgres" / name, account.uid, account.gid)


def _fill(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'backup' AS n")


def _content(data: Path) -> object:
    with open_server(folder_of(data)) as server, psycopg.connect(server.dsn) as connection:
        row = connection.execute("SELECT n FROM t").fetchone()
    return row[0] if row else None


def _version(data: Path) -> str:
    return (data / "postgres/PG_VERSION").read_text().strip()


def test_the_new_cluster_is_filled_with_the_settings_of_the_old_one_which_is_kept(data: Path) -> None:
    made_by = _version(data)
    folder = folder_of(data)
    done = upgrade(folder, _fill, print)
    assert done is not None
    assert (done.made_by, done.version, done.refused) == (int(made_by), int(_version(data)), "")
    with open_server(folder) as server, psycopg.connect(server.dsn) as connection:
        assert connection.execute("SELECT n FROM t").fetchone() == ("backup",)
        assert connection.execute("SHOW work_mem").fetchone() == ("5MB",)
        assert connection.execute("SHOW maintenance_work_mem").fetchone() == ("65MB",)
        assert connection.execute("SHOW data_checksums").fetchone() == ("on",)
    assert "local mine grafana trust # mine" in (data / "postgres/pg_hba.conf").read_text()
    names = sorted(path.name for path in data.iterdir() if path.name != "programs")
    assert names == ["postgres", f"postgres.old-{made_by}", "socket", "start.lock", "users.lock"]
    assert upgrade(folder, _fill, print) is None
    assert old_clusters(folder) == [data / f"postgres.old-{made_by}"]
    remove_old(folder)
    assert not old_clusters(folder)


def test_settings_that_the_new_version_refuses_are_left_out(data: Path) -> None:
    _write(data, "mine.conf", "a_setting_of_long_ago = 7\n")
    done = upgrade(folder_of(data), _fill, print)
    assert done is not None
    assert "a_setting_of_long_ago" in done.refused
    with open_server(folder_of(data)) as server, psycopg.connect(server.dsn) as connection:
        assert connection.execute("SHOW work_mem").fetchone() == ("4MB",)


def test_without_a_backup_it_says_what_to_do_and_changes_nothing(data: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*") if "socket" not in path.parts}
    with pytest.raises(
        FolderError, match=rf"made by PostgreSQL {_version(data)}, and here is 1\d; nothing was changed"
    ):
        upgrade(folder_of(data), None, print)
    after = {path: path.stat().st_mtime_ns for path in data.rglob("*") if "socket" not in path.parts}
    assert {path for path in before if before[path] != after.get(path)} <= {data}
    assert {path.name for path in after.keys() - before.keys()} <= {"programs"} | {
        path.name for path in (data / "programs").rglob("*")
    }


def test_it_is_refused_while_a_program_uses_the_database(data: Path) -> None:
    before = _version(data)
    with older_only(), open_server(folder_of(data)), pytest.raises(FolderError, match="stop them first"):
        upgrade(folder_of(data), _fill, print)
    assert _version(data) == before


def test_a_backup_that_cannot_be_restored_leaves_everything_as_it_was(data: Path) -> None:
    before = _version(data)

    def broken(dsn: str) -> None:
        _fill(dsn)
        raise FolderError("torn")

    with pytest.raises(FolderError, match="torn"):
        upgrade(folder_of(data), broken, print)
    assert _version(data) == before
    assert not (data / "making").exists()
    assert not old_clusters(folder_of(data))
    with older_only():
        assert _content(data) == "old"


def test_a_swap_that_was_killed_half_way_is_finished_when_the_folder_is_opened(data: Path) -> None:
    folder = folder_of(data)
    with older_only():
        folder.making.make()
        folder.cluster.rename(folder.finished)
        assert _content(data) == "old"
        # One that is in its place counts: a finished one next to it is left by a kill before the first rename.
        folder.making.make()
        folder.finished.mkdir()
        assert _content(data) == "old"
    assert not folder.making.data.exists()


@pytest.mark.long
def test_killed_at_any_moment_one_of_the_clusters_is_whole_and_a_rerun_goes_on(data: Path) -> None:
    """Killed at some of its steps, and at each rename, again and again on the same folder."""
    made_by = _version(data)
    is_swapped = False
    for kind, moment in (("step", 0), ("step", 1), *(("rename", number) for number in range(9))):
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(data), kind, str(moment)],
            cwd=_REPOSITORY,
            env=os.environ | {"PYTHONPATH": str(_REPOSITORY)},
        )
        assert process.wait(timeout=60) == -signal.SIGKILL, (kind, moment)
        if is_swapped := not (data / "postgres").exists() or _version(data) != made_by:
            break
        with older_only():
            assert _content(data) == "old"
    assert is_swapped
    upgrade(folder_of(data), _fill, print)
    assert _version(data) != made_by
    assert _content(data) == "backup"
    assert not (data / "making").exists()
    kill_server(data)
    wait_until(lambda: pid_of(data) is None)


_KILLED = """
import os, signal, sys
from pathlib import Path
import psycopg
from weboid.pgfolder import accounts
from weboid.pgfolder.application import Application
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.upgrade import upgrade
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
def fill(dsn):
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'backup' AS n")
upgrade(Folder.of(data, app=Application("weboid")), fill, print)
"""
