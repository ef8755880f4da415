"""The upgrade of a data folder to a newer major version of PostgreSQL.

The new cluster is made, filled and tried in ``making/``; then it takes the place of the old one by two renames. What
goes over belongs to ``store/embedded/transfer``. One law: at every moment either the old cluster or the new one is
whole in its place, or becomes so when the folder is opened next (``store/embedded/unfinished``); the old one is kept.
It dumps and restores: pg_upgrade would take over files that only the old version, of another builder, has ever read.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from weboid.errors import StoreError
from weboid.store.embedded.carrying import carry_settings
from weboid.store.embedded.cluster import make_cluster
from weboid.store.embedded.entry import read
from weboid.store.embedded.folder import (
    Folder,
    locked,
    make_private_folder,
    replace_file,
    sync_folder,
    text_of,
)
from weboid.store.embedded.kept_programs import find_kept_programs, remove_programs
from weboid.store.embedded.postmaster import stop
from weboid.store.embedded.programs import find_programs, version_of
from weboid.store.embedded.server import make_database
from weboid.store.embedded.starting import run_server
from weboid.store.embedded.transfer import size_of, transfer
from weboid.store.embedded.unfinished import alone, drop_making

_LOG_BYTES = 1 << 30
"""The log of writes that a restore leaves at most: max_wal_size."""
_SPARE_BYTES = 128 << 20

Show = Callable[[str], None]
Bring = Callable[[Folder, int], Path]
"""Brings the programs of a version that is not here; returns their folder or raises StoreError."""
Fill = Callable[[str], None]
"""Fills the empty database that a DSN leads to, from a backup."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What was done: the major versions, where the old cluster is now, and settings that the new one does not know."""

    made_by: int
    version: int
    kept: Path
    left_out: tuple[str, ...]


def upgrade(data: Path, *, bring: Bring, show: Show, fill: Fill | None = None) -> Upgrade | None:
    """Upgrades a data folder to the newest PostgreSQL that is here; None if it is of that version already. Blocks.

    With ``fill`` the new cluster is filled by it instead of from the old one, whose programs are not needed then.
    Raises StoreError: also while any program uses the database, and if the disk is too small.
    """
    folder = Folder.of(data)
    with folder.faults_told(), alone(folder):
        made_by = _made_by(folder)
        if made_by is None:
            raise StoreError(f"there is no database in {folder.data}: nothing is to be upgraded")
        newer = find_programs(folder.account, folder.data, None)
        version = version_of(newer, folder.account)
        if version is None or version < made_by:
            raise StoreError(f"the database in {folder.data} is of PostgreSQL {made_by}, and here is only {version}")
        if version == made_by:
            return None
        kept = folder.data / f"postgres.old-{made_by}"
        if kept.exists():
            raise StoreError(f"{kept} is there from an upgrade before: `weboid upgrade --remove-old` deletes it")
        older = None if fill else find_kept_programs(folder.account, folder.data, made_by) or bring(folder, made_by)
        left_out = _make(folder, older, newer, show, fill)
        _swap(folder, kept)
        return Upgrade(made_by, version, kept, tuple(left_out))


def old_clusters(data: Path) -> list[Path]:
    """The clusters that upgrades have left in a data folder."""
    return sorted(Path(data).absolute().glob("postgres.old-[1-9][0-9]"))


def remove_old(data: Path) -> None:
    """Deletes what upgrades have kept: the old clusters, and programs that were brought for them. Raises StoreError."""
    folder = Folder.of(data)
    with folder.faults_told(), locked(folder.start_lock):
        for path in old_clusters(folder.data):
            remove_programs(folder.data, int(path.name.rpartition("-")[2]))
            shutil.rmtree(path)


def _made_by(folder: Folder) -> int | None:
    return int(text_of(folder.cluster / "PG_VERSION") or 0) or None


def _make(folder: Folder, older: Path | None, newer: Path, show: Show, fill: Fill | None) -> list[str]:
    """Makes the finished cluster in ``making/``; returns the settings that were left out."""
    new = folder.making
    new.make()
    stop(folder)
    try:
        make_cluster(new, newer)
        run_server(new, newer)
        if older is None:
            make_database(new)
            assert fill is not None, "a cluster is filled from the old one or from a backup"
            show("restoring the backup")
            fill(new.dsn())
        else:
            old = folder.aside
            make_private_folder(old.sockets, old.account)
            show("starting the old server")
            run_server(old, older, {"autovacuum": "off"})
            _require_space(old)
            transfer(old, new, newer, show)
            stop(old)
        with psycopg.connect(new.dsn("postgres", "postgres")) as connection:
            known = [str(name) for (name,) in connection.execute("SELECT name FROM pg_settings").fetchall()]
        stop(new)
        show("trying the new server")
        return _carry(folder, new, newer, known)
    except BaseException:
        drop_making(folder)
        raise


def _carry(folder: Folder, new: Folder, newer: Path, known: list[str]) -> list[str]:
    """Carries the operator's settings over and tries them; returns the lines that were left out.

    Where the new version refuses them, it keeps its own, and all are left out: they are still with the old cluster.
    """
    before = {path: read(new, path.name) for path in new.cluster.glob("*.conf")}
    left_out = carry_settings(folder, new, known)
    try:
        run_server(new, newer)
    except StoreError as error:
        for path in new.cluster.glob("*.conf"):
            if path in before:
                replace_file(path, before[path], new.account)
            else:
                path.unlink()
        left_out = [f"all, because of this: {error}"]
        run_server(new, newer)
    stop(new)
    return left_out


def _require_space(old: Folder) -> None:
    """Raises StoreError if the disk has too little space for the dump (about half) and the new cluster."""
    size = size_of(old)
    needed = size + size // 2 + min(size, _LOG_BYTES) + _SPARE_BYTES
    free = shutil.disk_usage(old.data).free
    if free < needed:
        raise StoreError(
            f"the upgrade needs {needed >> 20} MB of free space in {old.data}, and there are {free >> 20}: "
            "free some there; nothing was changed"
        )


def _swap(folder: Folder, kept: Path) -> None:
    """Puts the finished cluster into the place of the old one, which is kept."""
    (folder.making.cluster).rename(folder.finished)
    sync_folder(folder.making.data)
    folder.cluster.rename(kept)
    sync_folder(folder.data)
    drop_making(folder, folder.finished)
