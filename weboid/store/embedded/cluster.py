"""A new cluster of the embedded database: made by initdb, with Weboid's choices in its postgresql.conf."""

import os
import shutil
from pathlib import Path

from weboid.store.embedded.accounts import maker_of
from weboid.store.embedded.folder import Folder, hand_over, make_passage, make_private_folder

_SETTINGS = """
# Weboid's choices. They are written once: change them here as you like.
shared_buffers = 128MB
max_connections = 200
jit = off
fsync = on
max_wal_size = 1GB
wal_compression = on
timezone = 'UTC'
log_timezone = 'UTC'
log_checkpoints = off
"""


def make_cluster(folder: Folder, programs: Path) -> None:
    """Makes a new cluster, whole or not at all: it gets its name when it is ready. Raises OSError, StoreError."""
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
