"""Point in time: a real server archives its log of writes, is lost with its disk, and is restored as of a moment."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from support.clusters import folder_of, kill_server, new_data, wait_until
from support.small_disk import small_disk

from weboid.pgfolder import archiving
from weboid.pgfolder.archiving import has_gap
from weboid.pgfolder.base_backup import base_backups, is_base_due, make_base_backup
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.recovery import recover
from weboid.pgfolder.server import Server, open_server, stop_server

_as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")


@pytest.fixture
def place(server_folder: Path) -> Iterator[Path]:
    """A folder with `data`, a cluster, and `wal` below it; nothing of it runs afterwards."""
    folder = server_folder / "wal 'of' 100%"
    folder.mkdir(mode=0o711)
    (folder / "wal").mkdir()
    with new_data(server_folder, f"{folder.name}/data") as data:
        yield folder
        data.mkdir(exist_ok=True)
    shutil.rmtree(folder)


def _now() -> datetime:
    return datetime.now(UTC)


def _in(days: float) -> Callable[[], datetime]:
    return lambda: _now() + timedelta(days=days)


def _do(server: Server, *statements: str) -> object:
    """Runs statements as the role that may do everything; returns the first column of the last one's row."""
    with psycopg.connect(server.dsn, user="postgres", autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


def _archived(server: Server) -> None:
    segment = _do(server, "SELECT pg_walfile_name(pg_current_wal_lsn())")
    _do(server, "SELECT pg_switch_wal()")
    wait_until(lambda: str(_do(server, "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver")) >= str(segment))


@pytest.mark.long
def test_after_the_loss_of_the_disk_any_moment_comes_back_exactly(place: Path) -> None:
    data, wal = place / "data", place / "wal"
    server = open_server(folder_of(data, wal))
    folder = folder_of(data, wal)
    assert is_base_due(folder, _now(), days=7)
    _do(server, "CREATE TABLE t AS SELECT generate_series(1, 1000) AS n")
    base = make_base_backup(folder, _now)
    assert not is_base_due(folder, _now(), days=7)
    assert is_base_due(folder, _now() + timedelta(days=8), days=7)
    _do(server, "INSERT INTO t SELECT generate_series(1001, 2000)")
    moment = _do(server, "SELECT clock_timestamp()")
    assert isinstance(moment, datetime)
    _do(server, "DELETE FROM t WHERE n % 2 = 0", "CREATE TABLE later ()")
    _archived(server)
    after = datetime.now(UTC)
    kill_server(data, signal.SIGKILL)
    shutil.rmtree(data)
    server.close()

    with pytest.raises(FolderError, match="give a later moment"):
        recover(folder_of(data, wal), base.moment - timedelta(seconds=1), print)
    with pytest.raises(FolderError, match=r"does not reach that moment.*Without a moment all of it"):
        recover(folder_of(data, wal), after + timedelta(hours=1), print)
    assert not (data / "postgres").exists()

    assert recover(folder_of(data, wal), moment, print).base == base
    assert not (data / "making").exists()
    with open_server(folder_of(data, wal)) as again:
        assert _do(again, "SELECT count(*)::text || ' ' || sum(n) FROM t") == f"2000 {sum(range(2001))}"
        assert _do(again, "SELECT to_regclass('later')") is None
        # It goes on in the same folder, and can be restored from there again.
        _do(again, "INSERT INTO t VALUES (-1)")
        second = make_base_backup(folder_of(data, wal), _now)
        _do(again, "INSERT INTO t VALUES (-2)")
        _archived(again)
    with pytest.raises(FolderError, match="restore into an empty folder"):
        recover(folder_of(data, wal), None, print)
    shutil.rmtree(data)
    assert recover(folder_of(data, wal), None, print).base == second
    with open_server(folder_of(data)) as last:
        assert _do(last, "SELECT count(*) FROM t") == 2_002


@pytest.mark.long
def test_old_base_backups_go_with_the_log_that_only_they_need_also_where_the_clock_went_back(place: Path) -> None:
    data, wal = place / "data", place / "wal"
    folder = folder_of(data, wal)
    with open_server(folder_of(data, wal)) as server:
        _do(server, "CREATE TABLE t (n int)")
        for days in (400, 401):
            made = make_base_backup(folder, _in(days))
            _do(server, "INSERT INTO t VALUES (1)")
            _archived(server)
        assert not is_base_due(folder, _now() + timedelta(days=401), days=7)
        assert is_base_due(folder, _now(), days=7)
        newest = make_base_backup(folder, _now)
        assert not is_base_due(folder, _now(), days=7)
        _do(server, "INSERT INTO t VALUES (2)")
        _archived(server)
    assert set(base_backups(wal)) == {made, newest}
    segments = sorted(path.name for path in newest.archive.wal.iterdir())
    assert segments[0][:24] == made.first_segment()
    assert all(name.endswith(".gz") for name in segments)
    assert {path.stat().st_uid for path in wal.rglob("*")} == {folder.account.uid}


def test_a_segment_that_is_there_is_never_written_over(place: Path) -> None:
    data, wal = place / "data", place / "wal"
    with open_server(folder_of(data, wal)) as server:
        _do(server, "CREATE TABLE t (n int)")
        _archived(server)
        folder = folder_of(data, wal)
        archived = min(wal.glob("cluster-*/wal/*.gz"))
        text = archived.read_bytes()
        segment = folder.cluster / "other"
        script = ["/bin/sh", data / "archive-wal.sh", archived.parent, segment, archived.name.removesuffix(".gz")]
        segment.write_bytes(b"another")
        run = folder.account.run([str(word) for word in script], cwd=folder.cluster)
        assert (run.returncode, "is another one" in run.stdout) == (1, True)
        segment.write_bytes(subprocess.run(["gzip", "-dc"], input=text, capture_output=True, check=True).stdout)
        assert folder.account.run([str(word) for word in script], cwd=folder.cluster).returncode == 0
        assert archived.read_bytes() == text


@pytest.mark.long
@_as_root
@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
def test_a_full_archive_stops_no_writer_and_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, wal = place / "data", place / "wal"
    monkeypatch.setattr(archiving, "_MOST_WAITING", 3)
    folder = folder_of(data, wal)
    with small_disk(wal, "8m"), ExitStack() as stack:
        stack.callback(stop_server, folder_of(data))
        with open_server(folder_of(data, wal)) as server:
            (wal / "filler").write_bytes(os.urandom(7_900_000))
            _do(server, "CREATE TABLE t (n int, text text)")
            for _ in range(12):
                _do(server, "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 4000) i")
                _do(server, "SELECT pg_switch_wal()")
            assert _do(server, "SELECT count(*) FROM t") == 48_000
            wait_until(lambda: has_gap(folder))
            status = folder.cluster / "pg_wal/archive_status"
            wait_until(lambda: len(list(status.glob("*.ready"))) <= 3)
            wait_until(lambda: not list(wal.glob("cluster-*/wal/*.unfinished")))
            assert "gives up the oldest of" in folder.log.read_text()
            with pytest.raises(FolderError, match=r"cannot make a base backup.*No space left"):
                make_base_backup(folder, _now)
            assert not list(wal.glob("cluster-*/base-*"))
            assert is_base_due(folder, _now(), days=7)
            (wal / "filler").unlink()
            _archived(server)
        assert stop_server(folder_of(data))


@pytest.mark.long
def test_a_folder_that_is_not_there_is_reported_and_not_made(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    data, wal = place / "data", place / "not mounted"
    with open_server(folder_of(data, wal)) as server:
        assert "mount its disk, or make it" in caplog.text
        assert _do(server, "SHOW archive_mode") == "on"
        with pytest.raises(FolderError, match="mount its disk, or make it"):
            make_base_backup(folder_of(data, wal), _now)
        assert not wal.exists()
        kill_server(data)  # Else it would try for three seconds to archive the rest.


_KILLED = """
import os, signal, sys
from pathlib import Path
from weboid.pgfolder import recovery
from weboid.pgfolder.application import Application
from weboid.pgfolder.folder import Folder
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
recovery._promoted = killed
folder = Folder.of(Path(sys.argv[1]), Path(sys.argv[2]), app=Application("weboid"))
recovery.recover(folder, None, print)
"""


@pytest.mark.long
def test_a_restore_that_was_killed_begins_anew_and_its_copy_may_archive_where_the_living_database_does(
    place: Path,
) -> None:
    data, copy, wal = place / "data", place / "copy", place / "wal"
    with open_server(folder_of(data, wal)) as server:
        _do(server, "CREATE TABLE t AS SELECT 'before' AS n")
        base = make_base_backup(folder_of(data, wal), _now)
        run = subprocess.run([sys.executable, "-c", _KILLED, copy, wal], check=False, env=os.environ)
        assert run.returncode == -signal.SIGKILL
        assert (copy / "making").exists()
        assert not (copy / "postgres").exists()
        recover(folder_of(copy, wal), None, print)
        with open_server(folder_of(copy, wal)) as other:
            _do(other, "INSERT INTO t VALUES ('in the copy')")
            _archived(other)
            _do(server, "INSERT INTO t VALUES ('in the living one')")
            _archived(server)
            assert is_base_due(folder_of(copy, wal), _now(), days=7)
            assert len(list(wal.iterdir())) == 2
    shutil.rmtree(copy)
    assert recover(folder_of(copy, wal), None, print).base == base
    with open_server(folder_of(copy)) as again:
        assert _do(again, "SELECT string_agg(n, ', ' ORDER BY n) FROM t") == "before, in the living one"
