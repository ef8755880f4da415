"""The embedded database: one PostgreSQL server per data folder, shared by the programs that use it.

Its programs are found by ``store/embedded/programs``, its folder is described in ``store/embedded/folder``, the tables
are made by ``store/db/migrate``. One law: whether a server runs is decided only under the folder's lock, so there are
never two on a folder.

The server outlives a killed program, and the next program finds it; the last program that ends in order stops it.
"""

import os
import shlex
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from weboid.errors import StoreError
from weboid.store.embedded.cluster import make_cluster
from weboid.store.embedded.entry import admit
from weboid.store.embedded.folder import (
    SOCKET,
    Folder,
    locked,
    remove_tree,
    share_of,
    sync_folder,
    text_of,
)
from weboid.store.embedded.programs import find_programs

_START_S = 300  # a crash in mid-import can leave a gigabyte of log to replay
_STOP_S = 120
_ORPHANS_S = 10
_LOG_BYTES = 1 << 20


class Server:
    """A running embedded server and this program's share in it: ``close`` it, or use it in a ``with``."""

    def __init__(self, folder: Folder, share: int) -> None:
        self.dsn = folder.dsn()
        """How psycopg reaches the database ``weboid`` as its owner; the role ``postgres`` may do everything."""
        self._folder = folder
        self._share: int | None = share

    def close(self) -> None:
        """Gives up the share and stops the server if nobody else has one. Raises StoreError if it does not stop."""
        if self._share is not None:
            os.close(self._share)
            self._share = None
            stop_server(self._folder.data)

    def revive(self) -> bool:
        """Starts the server again if it has died, and returns whether it had. Blocks; raises StoreError."""
        if _server_pid(self._folder) is not None:
            return False
        with self._folder.faults_told(), locked(self._folder.start_lock):
            if _is_running(self._folder):
                return False
            _start(self._folder)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_server(data: Path) -> Server:
    """Finds the server of a data folder, or makes and starts it, and takes a share in it (architecture §2). Blocks.

    It has no TCP port; its socket is in a folder that only its account can enter, and it lets in only the users of
    ``store/embedded/entry``. Raises StoreError with what to do.
    """
    folder = Folder.of(data)
    with folder.faults_told():
        folder.make()
        with locked(folder.start_lock):
            settle(folder)
            if not _is_running(folder):
                _start(folder)
            elif admit(folder):
                _reload(folder)
            make_database(folder)
            share = share_of(folder.users_lock)
    return Server(folder, share)


def stop_server(data: Path) -> bool:
    """Stops the server of a data folder unless a program has a share in it, and returns whether none runs now.

    Sessions without a share (an operator's psql) are cut off. Raises StoreError if the server does not stop.
    """
    folder = Folder.of(data)
    if not folder.data.is_dir():
        return True
    with folder.faults_told(), locked(folder.start_lock):
        try:
            with locked(folder.users_lock, wait=False):
                _stop(folder)
        except BlockingIOError:
            return False
    return True


def settle(folder: Folder) -> None:
    """Ends what a killed upgrade or restore has left; under the folder's lock, so none is under way.

    Its servers are stopped. A new cluster takes its place only if it was finished and the old one is aside; one that is
    in its place is the one that counts. Raises OSError, StoreError.
    """
    if not folder.making.data.exists():
        return
    for left in (folder.making, folder.aside):
        _stop(left)
    if not folder.cluster.exists() and folder.finished.exists():
        folder.finished.rename(folder.cluster)
        sync_folder(folder.data)
    remove_tree(folder.making.data)


def _is_running(folder: Folder) -> bool:
    """Whether the server answers; waits while one is starting, recovering or stopping."""
    end = time.monotonic() + _START_S
    while (pid := _server_pid(folder)) is not None:
        if psycopg.pq.PGconn.ping(folder.dsn().encode()) == psycopg.pq.Ping.OK:
            return True
        if time.monotonic() > end:
            raise StoreError(f"PostgreSQL (process {pid}) holds {folder.data} but does not answer; see {folder.log}")
        time.sleep(0.02)
    return False


def _server_pid(folder: Folder) -> int | None:
    """The running server's process id. A pid file alone proves nothing: after a reboot another process may have it."""
    first_line = text_of(folder.pid_file).partition("\n")[0].strip()
    if not first_line.isascii() or not first_line.isdigit():
        return None
    return pid if (pid := int(first_line)) > 0 and _is_postgres(pid, folder.account.uid) else None


def _is_postgres(pid: int, uid: int) -> bool:
    process = Path("/proc") / str(pid)
    if not Path("/proc/self/stat").exists():  # macOS: the number is taken as it is
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True
    try:
        name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(") ")
        owner = process.stat().st_uid
    except (FileNotFoundError, ProcessLookupError):
        return False
    # A zombie has ended; where process 1 reaps no children (many containers) it stays in the process table.
    return name == "postgres" and not rest.startswith(("Z", "X")) and owner in {uid, 0}


def _start(folder: Folder) -> None:
    made_by = int(text_of(folder.cluster / "PG_VERSION") or 0) or None
    programs = find_programs(folder.account, folder.data, made_by)
    if made_by is None:
        make_cluster(folder, programs)
    run_server(folder, programs)


def run_server(folder: Folder, programs: Path, settings: Mapping[str, str] | None = None) -> None:
    """Starts the server of a cluster by these programs, with settings of its own; raises OSError, StoreError."""
    admit(folder)
    _disown_pid_file(folder)
    (folder.sockets / f"{SOCKET}.lock").unlink(missing_ok=True)
    if folder.log.exists() and folder.log.stat().st_size > _LOG_BYTES:
        folder.log.rename(folder.log.with_suffix(".log.old"))
    every = {"listen_addresses": "", "port": "5432", "unix_socket_permissions": "0700", **(settings or {})}
    options = ["-k", str(folder.sockets), *(f"--{name}={value}" for name, value in every.items())]
    command: list[str | Path] = [programs / "pg_ctl", "start", "-w", "-t", str(_START_S)]
    command += ["-l", folder.log.name, "-o", shlex.join(options)]
    end = time.monotonic() + _ORPHANS_S
    while True:
        logged_before = len(text_of(folder.log))
        # The folder is given in the environment: from its command line pg_ctl would pass it to a shell.
        run = folder.account.run(command, cwd=folder.cluster, env={"PGDATA": str(folder.cluster)})
        if run.returncode == 0:
            return
        output = text_of(folder.log)[logged_before:] or run.stdout
        # The children of a killed server need a moment to see that it is gone.
        if "still in use" not in output or time.monotonic() > end:
            raise folder.fault("start", output)
        time.sleep(0.1)


def _disown_pid_file(folder: Folder) -> None:
    """Writes this program's process id into the pid file that a killed server left.

    PostgreSQL refuses to start while a process with the id in it exists, even an unrelated one or a zombie, but takes
    the id of its own grandparent as stale; it then still makes sure that no child of the dead server is left. If the
    file were removed, that check would not happen.
    """
    if not (stale := text_of(folder.pid_file)):
        folder.pid_file.unlink(missing_ok=True)
        return
    fresh = folder.pid_file.with_suffix(".fresh")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("\n".join([str(os.getpid()), *stale.split("\n")[1:]]))
        os.fchown(file.fileno(), folder.account.uid, folder.account.gid)
    fresh.replace(folder.pid_file)


def _reload(folder: Folder) -> None:
    """Lets the running server read its files again."""
    if (pid := _server_pid(folder)) is not None:
        os.kill(pid, signal.SIGHUP)


def make_database(folder: Folder) -> None:
    """Makes the role and the database ``weboid`` if they are missing; an ordinary role, as on an operator's server."""
    with psycopg.connect(folder.dsn("postgres", "postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_roles WHERE rolname = 'weboid'").rowcount:
            connection.execute("CREATE ROLE weboid LOGIN CREATEDB")
        if not connection.execute("SELECT FROM pg_database WHERE datname = 'weboid'").rowcount:
            connection.execute("CREATE DATABASE weboid OWNER weboid")


def end_server(folder: Folder) -> None:
    """Stops the server of a cluster, whoever uses it; raises StoreError if it does not stop."""
    _stop(folder)


def _stop(folder: Folder) -> None:
    """Shuts the server down fast: sessions are cut off, everything committed is kept."""
    if (pid := _server_pid(folder)) is None:
        return
    os.kill(pid, signal.SIGINT)
    end = time.monotonic() + _STOP_S
    while _server_pid(folder) is not None:
        if time.monotonic() > end:
            raise StoreError(f"PostgreSQL (process {pid}) in {folder.data} does not stop; see {folder.log}")
        time.sleep(0.01)
