"""The cluster of an embedded server: made when it is missing, and started.

When that is done is decided by ``store/embedded/server``.
"""

import os
import shlex
import shutil
import time
from pathlib import Path
from typing import Final

from weboid.store.embedded.accounts import maker_of
from weboid.store.embedded.entry import admit
from weboid.store.embedded.folder import SOCKET, Folder, hand_over, make_passage, make_private_folder, text_of
from weboid.store.embedded.postmaster import server_pid
from weboid.store.embedded.programs import find_programs

_START_S: Final = 2
"""So long it is waited for an answer, as the folder's lock is held; a recovery can take minutes."""
_ORPHANS_S: Final = 10.0
_LOG_BYTES: Final = 1 << 20
_SETTINGS: Final = """
# Weboid's choices. They are written once: change them here as you like.
shared_buffers = 128MB
max_connections = 200
jit = off
fsync = on
max_wal_size = 1GB
wal_compression = on
timezone = 'UTC'
log_timezone = 'UTC'
# A statement's error goes to the program that sent it, not also into a log that would grow without bound.
log_min_messages = log
log_checkpoints = off
"""


def start(folder: Folder) -> bool:
    """Starts the server; returns whether it answers already. Raises StoreError if it has ended again."""
    made_by = int(text_of(folder.cluster / "PG_VERSION") or 0) or None
    programs = find_programs(folder.account, folder.data, made_by)
    if made_by is None:
        _make_cluster(folder, programs)
    admit(folder)
    _disown_pid_file(folder)
    (folder.sockets / f"{SOCKET}.lock").unlink(missing_ok=True)
    if folder.log.exists() and folder.log.stat().st_size > _LOG_BYTES:
        folder.log.rename(folder.log.with_suffix(".log.old"))
    settings = {"listen_addresses": "", "port": "5432", "unix_socket_permissions": "0700"}
    options = ["-k", str(folder.sockets), *(f"--{name}={value}" for name, value in settings.items())]
    command: list[str | Path] = [programs / "pg_ctl", "start", "-w", "-t", str(_START_S)]
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


def _make_cluster(folder: Folder, programs: Path) -> None:
    """Makes a new cluster, whole or not at all: it gets its name when it is ready."""
    for unfinished in folder.data.glob("postgres.unfinished-*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    unfinished = folder.data / f"postgres.unfinished-{os.getpid()}"
    maker = maker_of(folder.account)
    if maker == folder.account:
        cluster = unfinished
    else:
        make_passage(unfinished, folder.account.gid)
        cluster = unfinished / "cluster"
    make_private_folder(cluster, maker)
    command: list[str | Path] = [programs / "initdb", "-D", cluster, "--username=postgres", "--data-checksums"]
    command += ["--auth-local=trust", "--auth-host=reject", "--encoding=UTF8", "--no-locale"]
    run = maker.run(command)
    if run.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise folder.fault("make", run.stdout)
    if maker != folder.account:
        hand_over(cluster, folder.account)
    with open(os.open(cluster / "postgresql.conf", os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW), "a") as file:
        file.write(_SETTINGS)
    cluster.rename(folder.cluster)
    shutil.rmtree(unfinished, ignore_errors=True)
