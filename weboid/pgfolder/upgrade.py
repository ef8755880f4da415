"""A new cluster of a newer major version of PostgreSQL in the place of an older one, filled from a backup.

It is made and filled in ``making/``, with the old one's settings where it takes them; then it takes the old one's
place by two renames. At every moment either the old cluster or the new one is whole in its place, or becomes so when
the folder is opened next (``unfinished``); the old one is kept.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import FULL, Folder, locked, replace_file, text_of
from weboid.pgfolder.host_auth import read_file
from weboid.pgfolder.postmaster import stop
from weboid.pgfolder.programs import find_programs, older_cluster, remove_copies, version_of
from weboid.pgfolder.server import make_database
from weboid.pgfolder.starting import make_cluster, run_server
from weboid.pgfolder.unfinished import drop_making, exclusive, take_place

Show = Callable[[str], None]
Fill = Callable[[str], None]
"""Fills the empty database of a DSN from a backup."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A done upgrade: both major versions, and the folder of the old cluster."""

    made_by: int
    version: int
    kept: Path
    refused: str
    """The reason why the new version did not start with the settings of the old cluster; empty if it did."""


def upgrade(folder: Folder, fill: Fill | None, show: Show) -> Upgrade | None:
    """Upgrades a data folder to the PostgreSQL that is here; None if it is of that version already. Blocks.

    Raises FolderError: while any program uses the database, if there is no backup to `fill` it from (then nothing was
    changed), and if `fill` raises it.
    """
    with folder.reported_faults(), exclusive(folder):
        made_by = folder.version
        if made_by is None:
            raise FolderError(f"there is no database in {folder.data} to upgrade")
        programs = find_programs(folder, None)
        version = version_of(programs, folder.account)
        if version is None or version < made_by:
            raise FolderError(f"the database in {folder.data} is of PostgreSQL {made_by}, and here is only {version}")
        if version == made_by:
            return None
        if fill is None:
            raise older_cluster(folder, made_by, version)
        kept = folder.data / f"postgres.old-{made_by}"
        if kept.exists():
            raise FolderError(f"{kept} is there from an earlier upgrade: delete it first")
        stop(folder)
        try:
            refused = _make(folder, programs, fill, show)
        except BaseException as error:
            output = text_of(folder.making.log)
            drop_making(folder)
            if isinstance(error, Exception) and re.search(FULL, output):
                raise folder.fault("upgrade", output) from error
            raise
        take_place(folder, kept)
        return Upgrade(made_by, version, kept, refused)


def old_clusters(folder: Folder) -> list[Path]:
    """The clusters that upgrades have kept in a data folder."""
    return sorted(folder.data.glob("postgres.old-[1-9][0-9]"))


def remove_old(folder: Folder) -> None:
    """Deletes the clusters that upgrades have kept, and copies of their programs. Raises FolderError."""
    with folder.reported_faults(), locked(folder.start_lock):
        for path in old_clusters(folder):
            remove_copies(folder.data / "programs", path.name.rpartition("-")[2])
            shutil.rmtree(path)


def _make(folder: Folder, programs: Path, fill: Fill, show: Show) -> str:
    """Makes the finished cluster in ``making/``; returns the reason if the old settings could not be used."""
    new = folder.making
    new.make()
    make_cluster(new, programs)
    fresh = _settings(new)
    refused = ""
    try:
        _replace_settings(new, _settings(folder))
        run_server(new, programs)
    except FolderError as error:
        refused = str(error).partition("; see ")[0]  # That log goes with ``making/``.
        _replace_settings(new, fresh)
        run_server(new, programs)
    make_database(new)
    show("restoring the backup")
    fill(new.dsn())
    stop(new)
    return refused


def _settings(folder: Folder) -> dict[str, bytes]:
    """The texts of a cluster's ``*.conf`` files by name, but for links. Raises OSError, FolderError."""
    paths = (path for path in folder.cluster.glob("*.conf") if not path.is_symlink())
    return {path.name: read_file(folder, path.name) for path in paths}


def _replace_settings(folder: Folder, texts: Mapping[str, bytes]) -> None:
    for path in folder.cluster.glob("*.conf"):
        path.unlink()
    for name, text in texts.items():
        replace_file(folder.cluster / name, text, folder.account)
