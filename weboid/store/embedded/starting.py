"""Starting the server of an embedded cluster.

When that is done is decided by ``store/embedded/server``; what it does then is seen by ``store/embedded/postmaster``.
"""

import os
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from weboid.store.embedded.archiving import archive_settings
from weboid.store.embedded.cluster import make_cluster
from weboid.store.embedded.entry import admit
from weboid.store.embedded.folder import SOCKET, Folder, text_of
from weboid.store.embedded.postmaster import server_pid
from weboid.store.embedded.programs import find_programs

_WAIT_S: Final = 2
"""So long it is waited for an answer while the folder's lock is held; a recovery can take minutes."""
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


def start(folder: Folder) -> bool:
    """Starts the server; returns whether it answers already. Raises StoreError if it has ended again."""
    made_by = int(text_of(folder.cluster / "PG_VERSION") or 0) or None
    programs = find_programs(folder.account, folder.data, made_by)
    if made_by is None:
        make_cluster(folder, programs)
    return run_server(folder, programs, archive_settings(folder, programs), wait_s=_WAIT_S)


def run_server(
    folder: Folder, programs: Path, settings: Mapping[str, str] | None = None, *, wait_s: int = _START_S
) -> bool:
    """Starts the server of a cluster by these programs, with settings of its own; returns whether it answers already.

    It is waited for for so many seconds. Raises OSError, and StoreError if it has ended again.
    """
    admit(folder)
    _disown_pid_file(folder)
    (folder.sockets / f"{SOCKET}.lock").unlink(missing_ok=True)
    if folder.log.exists() and folder.log.stat().st_size > _LOG_BYTES:
        folder.log.rename(folder.log.with_suffix(".log.old"))
    every = {**_SETTINGS, **(settings or {})}
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
    """Begins the log anew if it has grown; what there was is kept until the next time. Raises OSError.

    The server goes on writing to the same file: to its end, wherever that is.
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
    if not (stale := text_of(folder.pid_file)):
        folder.pid_file.unlink(missing_ok=True)
        return
    fresh = folder.pid_file.with_suffix(".fresh")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("\n".join([str(os.getpid()), *stale.split("\n")[1:]]))
        os.fchown(file.fileno(), folder.account.uid, folder.account.gid)
    fresh.replace(folder.pid_file)
