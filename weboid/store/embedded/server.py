"""The embedded database: one PostgreSQL server per data folder, shared by the programs that use it.

Its programs are found by ``store/embedded/programs``, its folder is described in ``store/embedded/folder``, it is
started by ``store/embedded/starting``, the tables are made by ``store/db/migrate``. One law: whether a server runs is
decided only under the folder's lock, so there are never two on a folder; and nobody holds it while waiting for one.

The server outlives a killed program, and the next program finds it; the last program that ends in order stops it.
While programs use it nobody else does: one that was told to shut down is ended and started again (D-330).
"""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Final, Self

import psycopg

from weboid.errors import StoreAway
from weboid.store.embedded.entry import admit
from weboid.store.embedded.folder import Folder, locked, share_of, text_of
from weboid.store.embedded.postmaster import ServerState, end_fast, find_state, is_leaving, reload, server_pid, stop
from weboid.store.embedded.starting import shorten_log, start
from weboid.store.embedded.unfinished import settle

log = logging.getLogger(__name__)

_START_S: Final = 300.0
"""A crash in mid-import can leave a gigabyte of log to replay."""
_SILENT_S: Final = 30.0
"""A server that does not even refuse for so long hangs. It is not killed: it may be somebody's debugger (D-331)."""
_NOT_NOW: Final = ("the database system is ", "server closed the connection", "terminating connection")
"""What is said for a server that has begun to recover, or to shut down, since it was asked."""
_SAID_S: Final = 2.0
_PAUSE_S: Final = 0.02


class Server:
    """A running embedded server and this program's share in it: ``close`` it, or use it in a ``with``."""

    def __init__(self, folder: Folder, share: int) -> None:
        self.dsn = folder.dsn()
        """How psycopg reaches the database ``weboid`` as its owner; the role ``postgres`` may do everything."""
        self.fate = ""
        """What had become of the server when it was last revived, in words."""
        self._folder = folder
        self._share: int | None = share
        self._left = Event()

    def close(self) -> None:
        """Gives up the share and stops the server if nobody else has one. Raises StoreAway if it does not stop."""
        self._left.set()  # Who revives it meanwhile ends; who would do so later finds that nobody is left.
        if self._share is not None:
            os.close(self._share)
            self._share = None
            stop_server(self._folder.data)

    def revive(self) -> bool:
        """Starts the server again if it has died, or somebody else has told it to shut down while programs use it.

        Returns whether it did; a log that has grown begins anew. Blocks until the server answers, or `close` is called;
        raises StoreError.
        """
        with self._folder.faults_told():
            with suppress(BlockingIOError), locked(self._folder.start_lock, wait=False):
                shorten_log(self._folder)
            if not is_leaving(self._folder):
                return False
            self.fate = "had ended" if server_pid(self._folder) is None else ServerState.STOPPING.value
            bringing = _Bringing(self._folder, self._left)
            while not self._left.is_set():
                with bringing.decided():
                    if self._left.is_set() or bringing.is_ready():
                        break
                bringing.wait()
        return bringing.has_started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_server(data: Path, given_up: Event | None = None, *, wal: Path | None = None) -> Server:
    """Finds the server of a data folder, or makes and starts it, and takes a share in it (architecture §2). Blocks.

    It has no TCP port; its socket is in a folder that only its account can enter, and it lets in only the users of
    ``store/embedded/entry``. Raises StoreError with what to do; StoreAway if waiting helps, and soon after `given_up`
    is set (by another thread). A server that is started here archives its log of writes into ``wal``.
    """
    folder = Folder.of(data, wal)
    with folder.faults_told():
        folder.make()
        bringing = _Bringing(folder, given_up or Event())
        while True:
            with bringing.decided():
                settle(folder)
                if bringing.is_ready():
                    if admit(folder):
                        reload(folder)
                    try:
                        make_database(folder)
                        return Server(folder, share_of(folder.users_lock))
                    except psycopg.OperationalError as error:
                        if not any(said in str(error) for said in _NOT_NOW):
                            raise
            bringing.wait()


def stop_server(data: Path) -> bool:
    """Stops the server of a data folder unless a program has a share in it, and returns whether none runs now.

    Sessions without a share (an operator's psql) are cut off. Raises StoreAway if the server does not stop.
    """
    folder = Folder.of(data)
    if not folder.data.is_dir():
        return True
    with folder.faults_told(), locked(folder.start_lock):
        try:
            with locked(folder.users_lock, wait=False):
                stop(folder)
        except BlockingIOError:
            return False
    return True


class _Bringing:
    """Brings a server to where it answers: `is_ready`, asked again and again under the lock, does the next step.

    It never waits for what takes long: the others who need the lock, and those who have been told to stop, would too.
    """

    def __init__(self, folder: Folder, given_up: Event) -> None:
        self.has_started = False
        self._folder = folder
        self._given_up = given_up
        self._logged = 0
        self._told: int | None = None
        self._state = ServerState.GONE
        self._begun = self._answered = time.monotonic()
        self._is_said = False

    @contextmanager
    def decided(self) -> Iterator[None]:
        """Holds the folder's lock; raises StoreAway if it was given up before it had it."""
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(locked(self._folder.start_lock, wait=False))
                    break
                except BlockingIOError:
                    self._pause()
            yield

    def is_ready(self) -> bool:
        """Whether the server answers; raises StoreError if it does not start."""
        self._state = find_state(self._folder)
        if self._state is ServerState.GONE:
            if self.has_started:
                raise self._folder.fault("start", text_of(self._folder.log)[self._logged :])
            self._logged = len(text_of(self._folder.log))
            self.has_started = True
            if start(self._folder):
                self._state = ServerState.READY
        elif self._state is ServerState.STOPPING and self._told != (pid := server_pid(self._folder)):
            self._told = pid
            if pid is not None:
                log.warning(
                    "PostgreSQL (process %d) in %s %s: ending its sessions to start it again",
                    *(pid, self._folder.data, self._state.value),
                )
                with suppress(ProcessLookupError):
                    end_fast(pid)
        return self._state is ServerState.READY

    def wait(self) -> None:
        """Pauses until it may be ready, and says once for what it waits; raises StoreAway when that takes too long."""
        self._pause()
        now = time.monotonic()
        if self._state not in (ServerState.SILENT, ServerState.HALTED):
            self._answered = now
        process = f" (process {pid})" if (pid := server_pid(self._folder)) else ""
        what = f"PostgreSQL{process} in {self._folder.data} {self._state.value}; see {self._folder.log}"
        if now - self._begun > _START_S or now - self._answered > _SILENT_S:
            raise StoreAway(what)
        if now - self._begun > _SAID_S and not self._is_said:
            self._is_said = True
            log.warning("waiting for the database: %s", what)

    def _pause(self) -> None:
        if self._given_up.wait(_PAUSE_S):
            raise StoreAway(f"stopped before the database in {self._folder.data} answered")


def make_database(folder: Folder) -> None:
    """Makes the role and the database ``weboid`` if they are missing; an ordinary role, as on an operator's server."""
    with psycopg.connect(folder.dsn("postgres", "postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_roles WHERE rolname = 'weboid'").rowcount:
            connection.execute("CREATE ROLE weboid LOGIN CREATEDB")
        if not connection.execute("SELECT FROM pg_database WHERE datname = 'weboid'").rowcount:
            connection.execute("CREATE DATABASE weboid OWNER weboid")
