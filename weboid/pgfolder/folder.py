"""The data folder: its paths, its locks, and the error when it cannot be used.

It holds ``postgres/`` (the cluster, with ``server.log``), ``socket/``, ``start.lock`` (held while a server is started
or stopped), ``users.lock`` (shared by all programs that use the server: the kernel frees it when one is killed) and
perhaps ``programs/``, and ``making/`` while a cluster is upgraded or restored.

It may belong to root while the server's account is another: nothing that this account can write is followed or trusted.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from weboid.pgfolder.accounts import SystemAccount, name_of, server_account
from weboid.pgfolder.application import DEFAULT, Application
from weboid.pgfolder.errors import FolderError, FolderUnavailable

SOCKET = ".s.PGSQL.5432"
_SOCKET_PATH_BYTES = 103  # macOS; Linux has four more
_TEXT_BYTES = 4 << 20
_ENDING_S = 10.0
FULL = r"No space left|quota exceeded"


@dataclass(frozen=True, slots=True)
class Folder:
    """One data folder, the account of its server, and the program that it belongs to."""

    data: Path
    account: SystemAccount
    app: Application = DEFAULT
    wal: Path | None = None
    """The folder into which the server archives its log of writes (``archiving``), None = nowhere."""

    @classmethod
    def of(cls, data: Path, wal: Path | None = None, *, app: Application = DEFAULT) -> "Folder":
        """The folder at a path, which need not exist yet; raises FolderError if root has no account to run a server."""
        data = Path(os.path.abspath(data))
        return cls(data, server_account(data / "postgres", app), app, wal and Path(os.path.abspath(wal)))

    @property
    def cluster(self) -> Path:
        return self.data / "postgres"

    @property
    def version(self) -> int | None:
        """The major version of PostgreSQL that made the cluster; None if there is no cluster."""
        return int(text_of(self.cluster / "PG_VERSION") or 0) or None

    @property
    def log(self) -> Path:
        return self.cluster / "server.log"

    @property
    def pid_file(self) -> Path:
        return self.cluster / "postmaster.pid"

    @property
    def start_lock(self) -> Path:
        return self.data / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.data / "users.lock"

    @property
    def making(self) -> "Folder":
        """The data folder in which a cluster is made that is to take the place of this one's; it is temporary."""
        return replace(self, data=self.data / "making", wal=None)

    @property
    def finished(self) -> Path:
        """The name of a made cluster once it is complete, until it takes the place of the old one."""
        return self.making.data / "finished"

    @property
    def sockets(self) -> Path:
        """``socket/``; or a folder in /tmp where that path is too long for a socket or has special characters."""
        inside = self.data / "socket"
        fits = len(os.fsencode(inside / SOCKET)) <= _SOCKET_PATH_BYTES
        if fits and re.fullmatch(r"[\w./+-]+", str(inside), re.ASCII):
            return inside
        name = hashlib.blake2b(os.fsencode(self.data), digest_size=8).hexdigest()
        return Path(f"/tmp/{self.app.name}-{self.account.uid}-{name}")

    def dsn(self, user: str | None = None, database: str | None = None) -> str:
        """The DSN of a database of this folder's server: by default that of the application, as its owner."""
        name = self.app.name
        return make_conninfo(host=str(self.sockets), port=5432, user=user or name, dbname=database or name)

    @property
    def superuser_dsn(self) -> str:
        """The DSN of the role that may do everything, for the database ``postgres``."""
        return self.dsn("postgres", "postgres")

    def make(self) -> None:
        """Makes what is missing, with its owners and modes; raises OSError, FolderError."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(self.data, os.W_OK | os.X_OK):
            self._refuse_stranger(self.data)
        if self.account.foreign:
            # The folder and its locks still belong to root; the server's account may pass through to its own folders.
            self.data.chmod(stat.S_IMODE(self.data.stat().st_mode) | 0o011)
        try:
            self.make_private(self.sockets, self.account)
        except PermissionError:
            self._refuse_stranger(self.sockets)
            raise

    def make_private(self, path: Path, account: SystemAccount) -> None:
        """Makes a folder that only the account may enter.

        Raises FolderError if another user made it first (as in /tmp) or a link is in its place; PermissionError.
        """
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except PermissionError:
            raise
        except OSError as error:
            reason = f"{path} cannot be used ({error.strerror})"
            raise FolderError(f"{reason}: remove it, or {self.app.other_folder}") from error
        try:
            if os.fstat(folder).st_uid not in {os.geteuid(), account.uid}:
                raise FolderError(f"{path} belongs to another user: remove it, or {self.app.other_folder}")
            os.fchown(folder, account.uid, account.gid)
            os.fchmod(folder, 0o700)
        finally:
            os.close(folder)

    def _refuse_stranger(self, path: Path) -> None:
        """Raises FolderError if a path belongs to another user."""
        owner = path.lstat().st_uid
        if owner != os.geteuid():
            user = name_of(owner) or owner
            raise FolderError(f"{path} belongs to the user {user}: run as that user, or {self.app.other_folder}")

    def fault(self, verb: str, output: str) -> FolderError:
        """The error for an output of PostgreSQL or the system, cut to the line that matters, with the next step.

        A full disk is FolderUnavailable: it passes.
        """
        app = self.app
        see_log = f"see {self.log}, or {app.other_server}"
        advices = {
            r"could not look up effective user ID": f"give it a name (a line in /etc/passwd), or {app.other_server}",
            r"Peer authentication failed": f"see who may connect in {self.cluster}/pg_hba.conf and pg_ident.conf",
            r"has invalid permissions": f"take the rights of others from it: chmod 700 {self.cluster}",
            r"resize shared memory": f"give /dev/shm some MiB, or {app.other_server}",
            FULL: f"free some space there, or {app.other_folder}",
            r"ermission denied|not permitted": (
                f"let the user {self.account.name} enter and write it, or {app.other_folder}"
            ),
            r"unrecognized configuration parameter": see_log,
            r"error:|FATAL:|PANIC:": see_log,
            r"": see_log,
        }
        lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no reason was given"]
        reason, advice = next(
            (line, advice) for sign, advice in advices.items() for line in reversed(lines) if re.search(sign, line)
        )
        reason = re.sub(r"^[\d-]+ [\d:.]+ [A-Z]+ \[\d+\] ", "", reason)
        kind = FolderUnavailable if re.search(FULL, reason) else FolderError
        return kind(f"cannot {verb} the database in {self.data}: {reason}; {advice}")

    @contextlib.contextmanager
    def reported_faults(self) -> Iterator[None]:
        """Turns errors of the system and of PostgreSQL into a FolderError with the next step."""
        try:
            yield
        except (OSError, psycopg.Error) as error:
            raise self.fault("use", str(error)) from error


def hand_over(path: Path, account: SystemAccount) -> None:
    """Gives a folder, and all that is in it, to an account; links are given themselves, not what they lead to."""
    for _, folders, files, folder in os.fwalk(path):
        for name in (*folders, *files):
            os.chown(name, account.uid, account.gid, dir_fd=folder, follow_symlinks=False)
        os.fchown(folder, account.uid, account.gid)


def replace_file(path: Path, text: bytes, account: SystemAccount) -> None:
    """Writes a file of an account, which may write its folder, too: whole or not at all, and no link is followed."""
    fresh = path.with_name(f"{path.name}.fresh")
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
        file.write(text)
        os.fchown(file.fileno(), account.uid, account.gid)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def remove_tree(path: Path) -> None:
    """Removes a folder, also while a program that is just ending still writes there; raises OSError."""
    end = time.monotonic() + _ENDING_S
    while path.exists():
        shutil.rmtree(path, ignore_errors=time.monotonic() < end)


def sync_folder(path: Path) -> None:
    """Brings the names in a folder to the disk."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds an exclusive lock on a file; raises BlockingIOError if it is locked and ``wait`` is false."""
    lock = _open_lock(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(lock)


def share_of(path: Path) -> int:
    """A descriptor that holds a shared lock on a file until it is closed. Waits only for an exclusive lock."""
    lock = _open_lock(path)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def text_of(path: Path) -> str:
    """The text of a file of the server's account, at most 4 MiB; empty if there is no file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), errors="replace") as file:
            return file.read(_TEXT_BYTES)
    except FileNotFoundError:
        return ""
