"""The system account under which a server runs, and those under which its makers and clients run.

An account that other services share is given no new data, except where no other is left: what may stop or read one
service shall not reach another.
"""

import grp
import logging
import os
import pwd
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Event
from typing import IO, Final

from weboid.pgfolder.application import Application
from weboid.pgfolder.errors import FolderError

log = logging.getLogger(__name__)

_POSTGRES: Final = "postgres"
_SHARED: Final = "nobody"
_OWN_UIDS: Final = range(60_578, 61_184)
"""User and group ids that nothing assigns: https://systemd.io/UIDS-GIDS calls them unused."""
_PROCESSES: Final = Path("/proc")
_POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class SystemAccount:
    """The system account that owns the database's files and runs its server."""

    uid: int
    gid: int
    name: str

    @property
    def foreign(self) -> bool:
        """True if the server runs under another account than this program (which is root then)."""
        return self.uid != os.geteuid()

    def run(
        self,
        command: list[str | Path],
        *,
        cwd: Path = Path("/"),
        env: Mapping[str, str] | None = None,
        stdin: IO[bytes] | None = None,
        given_up: Event | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end as this account; returns its status and output. Raises OSError if it cannot start.

        The environment is empty but for ``env``: a stray PGPORT or LC_MESSAGES must not change what the programs do.
        The program is killed soon after `given_up` is set (by another thread).
        """
        with subprocess.Popen(
            command,
            cwd=cwd,
            env={"LC_ALL": "C", "PATH": os.defpath, **(env or {})},
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            # Ctrl-C and a TERM to the group would end it halfway, and leave a server that no program knows of.
            start_new_session=True,
            user=self.uid if self.foreign else None,
            group=self.gid if self.foreign else None,
            extra_groups=[] if self.foreign else None,
        ) as process:
            output = _output_of(process, given_up)
        return subprocess.CompletedProcess(command, process.returncode, output)


def _output_of(process: "subprocess.Popen[str]", given_up: Event | None) -> str:
    """All output of a program; it is killed if `given_up` is set, or if this is interrupted."""
    try:
        while True:
            try:
                return process.communicate(timeout=None if given_up is None else _POLL_S)[0]
            except subprocess.TimeoutExpired:
                if given_up is not None and given_up.is_set():
                    _kill(process)
    except BaseException:
        _kill(process)
        raise


def _kill(process: "subprocess.Popen[str]") -> None:
    """Kills a program and its children, such as the half of pg_basebackup that receives the log."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def server_account(cluster: Path, app: Application) -> SystemAccount:
    """The account for the server of a data folder: this program's own, or, for root, the owner of existing data, else
    the application's or ``postgres``, else a number of its own, without a name. Raises FolderError if root finds none.
    """
    if os.geteuid() != 0:
        return this_account()
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return SystemAccount(owner.st_uid, owner.st_gid, name_of(owner.st_uid) or str(owner.st_uid))
    for name in (app.name, _POSTGRES):
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            return SystemAccount(user.pw_uid, user.pw_gid, name)
    return _unassigned_account(cluster) or _shared_account(app)


def initdb_account(account: SystemAccount, app: Application) -> SystemAccount:
    """The account that can run initdb for a server's account: initdb refuses one without a name, the server does not.

    For an account without a name it is another one's user id with the group id of the server's account: the kernel
    keeps processes of that user and of any other group from looking into it. Raises FolderError.
    """
    if not account.foreign or name_of(account.uid) is not None:
        return account
    with suppress(KeyError):
        return SystemAccount(pwd.getpwnam(_SHARED).pw_uid, account.gid, _SHARED)
    for user in pwd.getpwall():
        if user.pw_uid != 0:
            return SystemAccount(user.pw_uid, account.gid, user.pw_name)
    raise _no_account(app)


def client_account(account: SystemAccount) -> SystemAccount:
    """The account under which PostgreSQL's clients reach the server of an account: that one, or this program's own
    where that one has no name, by which the server would let it in."""
    return account if name_of(account.uid) is not None else this_account()


def this_account() -> SystemAccount:
    """The account of this program."""
    return SystemAccount(os.geteuid(), os.getegid(), name_of(os.geteuid()) or str(os.geteuid()))


def name_of(uid: int) -> str | None:
    """The name of a user id, None if it has none, as often in containers."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _unassigned_account(cluster: Path) -> SystemAccount | None:
    """A free number, the same one again for the same data folder; None if there is none (in a container that maps few
    numbers)."""
    first = int.from_bytes(blake2b(os.fsencode(cluster), digest_size=8).digest())
    running = set(_running())
    for step in range(len(_OWN_UIDS)):
        number = _OWN_UIDS[(first + step) % len(_OWN_UIDS)]
        if number not in running and _is_mapped(number) and not _has_name(number):
            return SystemAccount(number, number, str(number))
    return None


def _shared_account(app: Application) -> SystemAccount:
    with suppress(KeyError):
        user = pwd.getpwnam(_SHARED)
        if _is_mapped(user.pw_uid) and _is_mapped(user.pw_gid):
            log.warning(
                "the database runs as %s, as other services may: better add a user %s, begin anew", _SHARED, app.name
            )
            return SystemAccount(user.pw_uid, user.pw_gid, _SHARED)
    raise _no_account(app)


def _no_account(app: Application) -> FolderError:
    return FolderError(
        f"PostgreSQL refuses to run as root and there is no user {app.name} or {_POSTGRES}: "
        f"add one of them, run {app.name} as an ordinary user, or {app.other_server}"
    )


def _has_name(number: int) -> bool:
    """True if a user or a group has the number."""
    with suppress(KeyError):
        return bool(grp.getgrgid(number))
    return name_of(number) is not None


def _running() -> Iterator[int]:
    """The user ids of all visible processes."""
    if _PROCESSES.exists():
        for process in _PROCESSES.iterdir():
            if process.name.isdigit():
                with suppress(OSError):
                    yield process.stat().st_uid


def _is_mapped(number: int) -> bool:
    """True if this user namespace has the number, as user id and as group id."""
    for name in ("uid_map", "gid_map"):
        try:
            ranges = (_PROCESSES / "self" / name).read_text().splitlines()
        except FileNotFoundError:  # macOS
            continue
        spans = [[int(part) for part in line.split()] for line in ranges]
        if not any(first <= number < first + count for first, _, count in spans):
            return False
    return True
