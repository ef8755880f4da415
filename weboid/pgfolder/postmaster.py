"""The process of a server: its state, and ending it. When one is started or ended is decided in ``server``."""

import os
import signal
import time
from enum import Enum
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from weboid.pgfolder.errors import FolderUnavailable
from weboid.pgfolder.folder import Folder, text_of

_STOP_S: Final = 60.0
"""A fast shutdown writes a checkpoint: seconds, on slow disks more."""
_QUIT_S: Final = 20.0
"""PostgreSQL kills the rest of its processes 5 s after SIGQUIT."""
_ANSWER_S: Final = 2
"""The shortest time limit for a connection that libpq keeps."""
_STATUS_LINE: Final = 7
"""The line of ``postmaster.pid`` with the word for the state of the server (PostgreSQL 10 and later)."""


class ServerState(Enum):
    """The state of a server; the value completes the sentence "PostgreSQL …"."""

    GONE = "does not run"
    READY = "answers"
    STARTING = "is starting, or recovering after a crash"
    STOPPING = "was ordered by another program to shut down"
    SILENT = "runs but does not answer"
    HALTED = "is held by a signal (SIGSTOP) or a debugger"
    HIDDEN = "runs, but not here: in another container that has the same folder?"


def server_pid(folder: Folder) -> int | None:
    """The running server's process id. A pid file alone proves nothing: after a reboot another process may have the
    number, such as another cluster's server.
    """
    first_line = text_of(folder.pid_file).partition("\n")[0].strip()
    if not first_line.isascii() or not first_line.isdigit():
        return None
    return pid if (pid := int(first_line)) > 0 and _process_state(pid, folder) else None


def is_leaving(folder: Folder) -> bool:
    """True if the server has gone, or has begun to shut down; no connection is made.

    A smart shutdown (SIGTERM) refuses new sessions and waits without end for those that are open.
    """
    return server_pid(folder) is None or _is_stopping(folder)


def find_state(folder: Folder) -> ServerState:
    """The present state of the server; blocks for at most some seconds."""
    if (pid := server_pid(folder)) is None:
        # A second server would ruin the data: PostgreSQL, too, sees only its own container.
        answers = _ping(folder) in (psycopg.pq.Ping.OK, psycopg.pq.Ping.REJECT)
        return ServerState.HIDDEN if answers else ServerState.GONE
    if _is_stopping(folder):
        return ServerState.STOPPING
    if _process_state(pid, folder) in ("T", "t"):
        return ServerState.HALTED
    match _ping(folder):
        case psycopg.pq.Ping.OK:
            return ServerState.READY
        case psycopg.pq.Ping.REJECT:
            # It has answered 57P03: starting, recovering, or shutting down since the file was read.
            return ServerState.STOPPING if _is_stopping(folder) else ServerState.STARTING
        case _:
            return ServerState.SILENT if server_pid(folder) == pid else ServerState.GONE


def _ping(folder: Folder) -> psycopg.pq.Ping:
    return psycopg.pq.Ping(psycopg.pq.PGconn.ping(make_conninfo(folder.dsn(), connect_timeout=_ANSWER_S).encode()))


def end_fast(pid: int) -> None:
    """Orders a server to cut off its sessions and end; everything committed is kept. One that is halted continues."""
    os.kill(pid, signal.SIGINT)
    os.kill(pid, signal.SIGCONT)


def stop(folder: Folder, *, at_once: bool = False) -> None:
    """Shuts the server down fast, and waits for its end.

    If a minute is not enough, as when one of its processes hangs, it is ended at once, and recovers at its next start;
    `at_once`: without that minute, for a cluster that is thrown away. (On a full disk no checkpoint can be written.)
    Raises FolderUnavailable if even that does not end it.
    """
    if (pid := server_pid(folder)) is None:
        return
    if not at_once:
        end_fast(pid)
        if _has_ended(folder, _STOP_S):
            return
    os.kill(pid, signal.SIGQUIT)
    if not _has_ended(folder, _QUIT_S):
        raise FolderUnavailable(f"PostgreSQL (process {pid}) in {folder.data} does not stop; see {folder.log}")


def reload(folder: Folder) -> None:
    """Makes the running server read its configuration again."""
    if (pid := server_pid(folder)) is not None:
        os.kill(pid, signal.SIGHUP)


def _has_ended(folder: Folder, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while server_pid(folder) is not None:
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _is_stopping(folder: Folder) -> bool:
    """True if the server has written into its pid file, for pg_ctl, that it shuts down."""
    lines = text_of(folder.pid_file).split("\n")
    return len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "stopping"


def _process_state(pid: int, folder: Folder) -> str:
    """The letter of the state of a PostgreSQL process of this cluster and account; empty if there is none.

    A zombie has ended; where process 1 reaps no children (many containers) it stays in the process table.
    """
    process = Path("/proc") / str(pid)
    if not Path("/proc/self/stat").exists():  # macOS: the number is taken as it is
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):
            return ""
        return "R"
    try:
        name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(") ")
        owner = process.stat().st_uid
    except (FileNotFoundError, ProcessLookupError):
        return ""
    is_ours = name == "postgres" and rest[0] not in "ZX" and owner in {folder.account.uid, 0}
    return rest[0] if is_ours and _works_in(process, folder.cluster) else ""


def _works_in(process: Path, cluster: Path) -> bool:
    """True if a PostgreSQL process, which stays in its cluster's folder, is in this one, or if that is hidden."""
    try:
        return (process / "cwd").samefile(cluster)
    except PermissionError:
        return True
    except OSError:  # it has ended, or has no such folder any more
        return False
