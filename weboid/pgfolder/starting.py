"""Making a cluster by initdb, and starting its server. When that is done is decided in ``server``."""

import os
import shlex
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from weboid.pgfolder.accounts import initdb_account
from weboid.pgfolder.archiving import archive_settings
from weboid.pgfolder.folder import SOCKET, Folder, hand_over, replace_file, text_of
from weboid.pgfolder.host_auth import restrict_users
from weboid.pgfolder.memory import settings_of
from weboid.pgfolder.postmaster import server_pid
from weboid.pgfolder.programs import find_programs

_WAIT_S: Final = 2
"""The wait for an answer while the folder's lock is held; a recovery can take minutes."""
_START_S: Final = 300
_ORPHANS_S: Final = 10.0
_LOG_BYTES: Final = 1 << 20
_SETTINGS: Final = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    # Only its log says which statements waited for each other; clusters of before have another level in their file.
    "log_min_messages": "error",
}


_OWN_SETTINGS: Final = """
# APPLICATION's choices. They are written once: change them here as you like. As long as they are so, shared_buffers and
# max_wal_size follow the memory of the machine at each start.
shared_buffers = 128MB
max_connections = 200
jit = off
fsync = on
max_wal_size = 1GB
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = off
"""


def make_cluster(folder: Folder, programs: Path) -> None:
    """Makes a new cluster, whole or not at all: it gets its name when it is ready. Raises OSError, FolderError."""
    for unfinished in folder.data.glob("postgres.unfinished-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    unfinished = folder.data / f"postgres.unfinished-{os.getpid()}"
    maker = initdb_account(folder.account, folder.app)
    if maker == folder.account:
        cluster = unfinished
    else:
        # Only processes of the account's group may pass.
        unfinished.mkdir(mode=0o700)
        os.chown(unfinished, os.geteuid(), folder.account.gid)
        unfinished.chmod(0o710)
        cluster = unfinished / "cluster"
    folder.make_private(cluster, maker)
    command: list[str | Path] = [programs / "initdb", "-D", cluster, "--username=postgres", "--data-checksums"]
    command += ["--auth-local=trust", "--auth-host=reject", "--encoding=UTF8", "--no-locale"]
    run = maker.run(command)
    if run.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise folder.fault("make", run.stdout)
    if maker != folder.account:
        hand_over(cluster, folder.account)
    with open(os.open(cluster / "postgresql.conf", os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW), "a") as file:
        file.write(_OWN_SETTINGS.replace("APPLICATION", folder.app.title))
    cluster.rename(folder.cluster)
    shutil.rmtree(unfinished, ignore_errors=True)


def start(folder: Folder) -> bool:
    """Starts the server of a folder, whose cluster is made if it is missing; returns True if it answers already.

    Raises OSError, and FolderError if it has ended again.
    """
    made_by = folder.version
    programs = find_programs(folder, made_by)
    if made_by is None:
        make_cluster(folder, programs)
    return run_server(folder, programs, archive_settings(folder, programs), wait_s=_WAIT_S)


def run_server(
    folder: Folder, programs: Path, settings: Mapping[str, str] | None = None, *, wait_s: int = _START_S
) -> bool:
    """Starts the server of a cluster with additional settings; returns True if it answers within `wait_s`.

    Raises OSError, and FolderError if it has ended again.
    """
    restrict_users(folder)
    _disown_pid_file(folder)
    (folder.sockets / f"{SOCKET}.lock").unlink(missing_ok=True)
    if folder.log.exists() and folder.log.stat().st_size > _LOG_BYTES:
        folder.log.rename(folder.log.with_suffix(".log.old"))
    every = {**_SETTINGS, **settings_of(folder), **(settings or {})}
    options = ["-k", str(folder.sockets), *(f"--{name}={value}" for name, value in every.items())]
    command: list[str | Path] = [programs / "pg_ctl", "start", "-w", "-t", str(wait_s)]
    command += ["-l", folder.log.name, "-o", shlex.join(options)]
    end = time.monotonic() + _ORPHANS_S
    while True:
        logged_before = len(text_of(folder.log))
        # The folder is given in the environment: from its command line pg_ctl would pass it to a shell.
        run = folder.account.run(command, cwd=folder.cluster, env={"PGDATA": str(folder.cluster)})
        if run.returncode == 0:
            return True
        if server_pid(folder) is not None:
            return False
        output = text_of(folder.log)[logged_before:] or run.stdout
        # The children of a killed server need a moment to see that it is gone.
        if "still in use" not in output or time.monotonic() > end:
            raise folder.fault("start", output)
        time.sleep(0.1)


def shorten_log(folder: Folder) -> None:
    """Truncates the log if it has grown; the end of it is kept until the next time. Raises OSError.

    The server appends to the same file.
    """
    try:
        log = os.open(folder.log, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    with open(log, "r+b") as file:
        if os.fstat(log).st_size <= _LOG_BYTES:
            return
        old = folder.log.with_suffix(".log.old")
        old.unlink(missing_ok=True)
        with open(os.open(old, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as kept:
            os.fchown(kept.fileno(), folder.account.uid, folder.account.gid)
            file.seek(-_LOG_BYTES, os.SEEK_END)
            kept.write(file.read(_LOG_BYTES))
        file.truncate(0)


def _disown_pid_file(folder: Folder) -> None:
    """Writes this program's process id into the pid file that a killed server left.

    PostgreSQL refuses to start while a process with the id in it exists, even an unrelated one or a zombie, but takes
    the id of its own grandparent as stale; it then still makes sure that no child of the dead server is left. If the
    file were removed, that check would not happen (D-433).
    """
    if stale := text_of(folder.pid_file):
        text = "\n".join([str(os.getpid()), *stale.split("\n")[1:]])
        replace_file(folder.pid_file, text.encode(), folder.account)
    else:
        folder.pid_file.unlink(missing_ok=True)
