"""The server of a data folder, shared by the programs that use it.

A server is started and stopped only under the folder's lock, so there are never two on a folder; and no program holds
the lock while waiting for a server.

The server outlives a killed program, and the next program finds it; the last program that ends in order stops it.
While programs use it nobody else does: one that was ordered to shut down is ended and started again (D-330).
"""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from threading import Event
from types import TracebackType
from typing import Final

import psycopg
from psycopg import sql

from weboid.pgfolder.errors import FolderError, FolderUnavailable
from weboid.pgfolder.folder import Folder, locked, share_of, text_of
from weboid.pgfolder.host_auth import restrict_users
from weboid.pgfolder.postmaster import ServerState, end_fast, find_state, is_leaving, reload, server_pid, stop
from weboid.pgfolder.starting import shorten_log, start
from weboid.pgfolder.unfinished import settle

log = logging.getLogger(__name__)

_START_S: Final = 300.0
"""A crash in mid-import can leave a gigabyte of log to replay."""
_SILENT_S: Final = 30.0
"""A server that does not even refuse for so long hangs. It is not killed: a debugger may hold it (D-331)."""
_NOT_NOW: Final = ("the database system is ", "server closed the connection", "terminating connection")
"""In errors of a server that has begun to recover, or to shut down, since its state was read."""
_PATIENT_S: Final = 2.0
_PAUSE_S: Final = 0.02


class Server(AbstractContextManager["Server"]):
    """A running server and this program's share in it: ``close`` it, or use it in a ``with``."""

    def __init__(self, folder: Folder, share: int) -> None:
        self.dsn = folder.dsn()
        """The DSN of the application's database, as its owner; the role ``postgres`` may do everything."""
        self._folder = folder
        self._share: int | None = share
        self._closed = Event()

    def close(self) -> None:
        """Gives up the share and stops the server if no other program has one. Raises FolderUnavailable if it does not
        stop."""
        self._closed.set()  # A revival under way ends; a later one finds this share closed.
        if self._share is not None:
            os.close(self._share)
            self._share = None
            stop_server(self._folder)

    def revive(self) -> str:
        """Starts the server again if it has died, or another program has ordered it to shut down.

        Returns the reason in words, empty if this program has not started it; a log that has grown is truncated.
        Blocks until the server answers, or `close` is called; raises FolderError.
        """
        with self._folder.reported_faults():
            with suppress(BlockingIOError), locked(self._folder.start_lock, wait=False):
                shorten_log(self._folder)
            if not is_leaving(self._folder):
                return ""
            reason = "had ended" if server_pid(self._folder) is None else ServerState.STOPPING.value
            startup = _Startup(self._folder, self._closed)
            while not self._closed.is_set():
                with startup.locked():
                    if self._closed.is_set() or startup.is_ready():
                        break
                startup.wait()
        return reason if startup.has_started else ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_server(folder: Folder, given_up: Event | None = None) -> Server:
    """Finds the server of a data folder, or makes and starts it, and takes a share in it. Blocks.

    It has no TCP port; its socket is in a folder that only its account can enter, and it lets in only the users of
    ``host_auth``. Raises FolderError with what to do; FolderUnavailable if waiting helps, and soon after `given_up` is
    set (by another thread). A server that is started here archives its log of writes into the folder's ``wal``, and is
    stopped if it cannot be used.
    """
    startup = _Startup(folder, given_up or Event())
    try:
        with folder.reported_faults():
            folder.make()
            while True:
                with startup.locked():
                    settle(folder)
                    if startup.is_ready():
                        if restrict_users(folder):
                            reload(folder)
                        try:
                            make_database(folder)
                            return Server(folder, share_of(folder.users_lock))
                        except psycopg.OperationalError as error:
                            if not any(words in str(error) for words in _NOT_NOW):
                                raise
                startup.wait()
    except BaseException:
        if startup.has_started and not startup.is_overdue:
            with suppress(FolderError):
                stop_server(folder)
        raise


def stop_server(folder: Folder) -> bool:
    """Stops the server of a data folder unless a program has a share in it; returns True if none runs now.

    Sessions without a share (an operator's psql) are cut off. Raises FolderUnavailable if the server does not stop.
    """
    if not folder.data.is_dir():
        return True
    with folder.reported_faults(), locked(folder.start_lock):
        try:
            with locked(folder.users_lock, wait=False):
                stop(folder)
        except BlockingIOError:
            return False
    return True


class _Startup:
    """The start of a server until it answers: `is_ready`, called again and again under the lock, does the next step.

    It never waits long under the lock: programs that need the lock, and those that are to stop, would wait as well.
    """

    def __init__(self, folder: Folder, given_up: Event) -> None:
        self.has_started = False
        self.is_overdue = False
        """It was waited for in vain; what it recovers is not to be begun again by the next program."""
        self._folder = folder
        self._given_up = given_up
        self._log_length = 0
        self._ended: int | None = None
        self._state = ServerState.GONE
        self._begun = self._answered = time.monotonic()
        self._is_logged = False

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder's lock; raises FolderUnavailable if this was given up before it had it."""
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(locked(self._folder.start_lock, wait=False))
                    break
                except BlockingIOError:
                    self._pause()
            yield

    def is_ready(self) -> bool:
        """Returns True if the server answers; raises FolderError if it does not start."""
        self._state = find_state(self._folder)
        if self._state is ServerState.GONE:
            if self.has_started:
                raise self._folder.fault("start", text_of(self._folder.log)[self._log_length :])
            self._log_length = len(text_of(self._folder.log))
            self.has_started = True
            if start(self._folder):
                self._state = ServerState.READY
        elif self._state is ServerState.STOPPING and self._ended != (pid := server_pid(self._folder)):
            self._ended = pid
            if pid is not None:
                log.warning(
                    "PostgreSQL (process %d) in %s %s: ending its sessions to start it again",
                    *(pid, self._folder.data, self._state.value),
                )
                with suppress(ProcessLookupError):
                    end_fast(pid)
        return self._state is ServerState.READY

    def wait(self) -> None:
        """Pauses until it may be ready, and logs the reason once; raises FolderUnavailable when that takes too long."""
        self._pause()
        now = time.monotonic()
        if self._state not in (ServerState.SILENT, ServerState.HALTED):
            self._answered = now
        process = f" (process {pid})" if (pid := server_pid(self._folder)) else ""
        reason = f"PostgreSQL{process} in {self._folder.data} {self._state.value}; see {self._folder.log}"
        if now - self._begun > _START_S or now - self._answered > _SILENT_S:
            self.is_overdue = True
            raise FolderUnavailable(reason)
        if now - self._begun > _PATIENT_S and not self._is_logged:
            self._is_logged = True
            log.warning("waiting for the database: %s", reason)

    def _pause(self) -> None:
        if self._given_up.wait(_PAUSE_S):
            raise FolderUnavailable(f"stopped before the database in {self._folder.data} answered")


def make_database(folder: Folder) -> None:
    """Makes the application's role and database if they are missing; an ordinary role, as on an operator's server."""
    name = folder.app.name
    with psycopg.connect(folder.superuser_dsn, autocommit=True) as connection:
        if not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [name]).rowcount:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB").format(sql.Identifier(name)))
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            connection.execute(sql.SQL("CREATE DATABASE {0} OWNER {0}").format(sql.Identifier(name)))
