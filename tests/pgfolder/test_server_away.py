"""The server when it is unavailable: ordered to shut down, recovering, halted, on a full disk; with real processes."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from support.clusters import folder_of, kill_server, known_pid, new_data, pid_of, wait_until
from support.small_disk import small_disk

from weboid.pgfolder import postmaster
from weboid.pgfolder import server as server_module
from weboid.pgfolder.errors import FolderUnavailable
from weboid.pgfolder.folder import locked
from weboid.pgfolder.server import open_server

_on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, mounts a disk")


@pytest.fixture(scope="module")
def shared(server_folder: Path) -> Iterator[Path]:
    """A data folder with a cluster whose server every test leaves stopped."""
    with new_data(server_folder, "away") as data:
        yield data


@pytest.fixture
def data(shared: Path) -> Iterator[Path]:
    """The same; after each test no server runs, whatever happened in it."""
    yield shared
    pid = pid_of(shared)
    kill_server(shared)
    assert pid is None


def _logged(caplog: pytest.LogCaptureFixture, words: str) -> int:
    return sum(words in record.getMessage() for record in caplog.records)


def test_a_server_that_waits_for_its_sessions_to_end_is_ended_and_started_again(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_server(folder_of(data)) as server, psycopg.connect(server.dsn) as session:
        first = known_pid(data)
        os.kill(first, signal.SIGTERM)
        wait_until(lambda: postmaster.is_leaving(folder_of(data)))
        with pytest.raises(psycopg.OperationalError, match="shutting down"):
            psycopg.connect(server.dsn)
        assert pid_of(data) == first, "it waits for the session"
        assert server.revive() == "was ordered by another program to shut down"
        assert known_pid(data) != first
        with pytest.raises(psycopg.OperationalError):
            session.execute("SELECT 1")
        with psycopg.connect(server.dsn) as connection:
            connection.execute("SELECT 1")
        assert not server.revive(), "once is enough"
        session.close()
    assert _logged(caplog, "was ordered by another program to shut down") == 1


def test_the_last_program_ends_a_server_that_waits_for_other_sessions(data: Path) -> None:
    server = open_server(folder_of(data))
    with psycopg.connect(server.dsn):
        os.kill(known_pid(data), signal.SIGTERM)
        server.close()
        assert pid_of(data) is None


def test_of_many_that_see_the_shutdown_one_starts_the_server(data: Path) -> None:
    servers = [open_server(folder_of(data)) for _ in range(4)]
    with psycopg.connect(servers[0].dsn), ThreadPoolExecutor(4) as threads:
        os.kill(known_pid(data), signal.SIGTERM)
        wait_until(lambda: postmaster.is_leaving(folder_of(data)))
        revived = list(threads.map(lambda server: server.revive(), servers))
    assert sum(map(bool, revived)) == 1
    assert folder_of(data).log.read_text().count("ready to accept") >= 1
    for server in servers:
        server.close()


def test_who_has_left_starts_nothing(data: Path) -> None:
    """As at the end of a program: its watcher may be on its way to the lock while the share is given up."""
    server = open_server(folder_of(data))
    with ThreadPoolExecutor(1) as thread:
        with locked(data / "start.lock"):
            kill_server(data, signal.SIGKILL)
            reviving = thread.submit(server.revive)
            server._closed.set()
        with suppress(FolderUnavailable):
            assert reviving.result(20) == ""
    server.close()
    assert server.revive() == ""
    assert pid_of(data) is None


def test_a_recovery_is_waited_for_and_no_second_server_is_started(data: Path) -> None:
    with open_server(folder_of(data)) as server:
        pid = known_pid(data)
        with psycopg.connect(server.dsn) as session:
            (backend,) = session.execute("SELECT pg_backend_pid()").fetchone() or (0,)
            os.kill(int(backend), signal.SIGKILL)  # All sessions are cut off, and what was committed is recovered.
            session.close()
        wait_until(
            lambda: "terminating any other active server processes" in (data / "postgres/server.log").read_text()
        )
        assert not server.revive()
        with open_server(folder_of(data)) as another, psycopg.connect(another.dsn) as connection:
            connection.execute("SELECT 1")
        assert pid_of(data) == pid


@_on_linux
def test_a_halted_server_is_said_once_and_not_doubled_or_killed_before_the_last_program_ends(
    data: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_PATIENT_S", 0.1)
    monkeypatch.setattr(server_module, "_SILENT_S", 0.5)
    with open_server(folder_of(data)) as server:
        pid = known_pid(data)
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: postmaster.find_state(folder_of(data)) is postmaster.ServerState.HALTED)
        assert not server.revive()
        with pytest.raises(
            FolderUnavailable, match=rf"process {pid}\) in .* is held by a signal \(SIGSTOP\).*; see .*log"
        ):
            open_server(folder_of(data))
        assert _logged(caplog, "is held by a signal") == 1
        os.kill(pid, signal.SIGCONT)
        open_server(folder_of(data)).close()
        assert pid_of(data) == pid
        os.kill(pid, signal.SIGSTOP)
    assert pid_of(data) is None


@_on_linux
@pytest.mark.long
def test_a_server_one_of_whose_processes_hangs_is_ended_at_once_after_a_while(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postmaster, "_STOP_S", 0.5)
    server = open_server(folder_of(data))
    with closing(psycopg.connect(server.dsn)) as session:
        session.execute("CREATE TABLE kept AS SELECT 1")
        session.commit()
        (backend,) = session.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        session.commit()
        os.kill(int(backend), signal.SIGSTOP)
        server.close()
        assert pid_of(data) is None
    with open_server(folder_of(data)) as again, psycopg.connect(again.dsn) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1,)


def test_who_waits_for_the_server_is_stopped_soon(data: Path) -> None:
    given_up = threading.Event()
    with open_server(folder_of(data)), ThreadPoolExecutor(1) as thread:
        pid = known_pid(data)
        os.kill(pid, signal.SIGSTOP)
        opening = thread.submit(open_server, folder_of(data), given_up)
        with locked(data / "start.lock"):  # As by a program that starts a server.
            given_up.set()
            with pytest.raises(FolderUnavailable, match="stopped before"):
                opening.result(10)
        os.kill(pid, signal.SIGCONT)


@_on_linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")
def test_a_full_disk_is_away_until_there_is_space(server_folder: Path) -> None:
    with (
        small_disk(server_folder / "small", "120m") as disk,
        new_data(server_folder, "small/data") as data,
        open_server(folder_of(data)) as server,
    ):
        junk = disk / "junk"
        with junk.open("wb") as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 20))
                file.flush()
        kill_server(data, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(FolderUnavailable, match="No space left on device; free some space there"):
                server.revive()
        junk.unlink()
        assert server.revive()
        with psycopg.connect(server.dsn) as connection:
            connection.execute("SELECT 1")


def test_a_server_whose_process_cannot_be_seen_is_waited_for_and_left_alone(
    data: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_PATIENT_S", 0)
    with ThreadPoolExecutor() as threads, open_server(folder_of(data)):
        with monkeypatch.context() as container:
            container.setattr(postmaster, "_process_state", lambda *_: "")
            before = folder_of(data).pid_file.read_text()
            opening = threads.submit(open_server, folder_of(data))
            wait_until(lambda: _logged(caplog, "runs, but not here: in another container") == 1 or opening.done())
            assert not opening.done()
            assert folder_of(data).pid_file.read_text() == before
        opening.result(20).close()
