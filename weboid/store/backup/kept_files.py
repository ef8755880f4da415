"""The backups in a folder: one a day, by name, the newest ones kept (O-9).

Making one belongs to ``store/backup/make``. Nothing is deleted but backups of Weboid by their names and last lines, and
only after a newer one is whole.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from weboid.core.record.days import iso
from weboid.errors import StoreError
from weboid.store.backup.client_programs import Runner
from weboid.store.backup.make import UNFINISHED, Show, make_backup
from weboid.store.backup.manifest import Manifest, is_backup, read_manifest
from weboid.store.upkeep.last_backup import GoodBackup

_NAME: Final = re.compile(r"weboid-\d{4}-\d\d-\d\d\.dump", re.ASCII)
_LEFT: Final = re.compile(_NAME.pattern + re.escape(UNFINISHED), re.ASCII)


async def make_kept_backup(
    dsn: str, folder: Path, runner: Runner, *, day: int, keep: int, show: Show
) -> tuple[Path, Manifest]:
    """Makes the backup of a day in a folder, then deletes all but the `keep` newest; raises StoreError.

    The folder is made if it is not there.
    """
    path = folder / f"weboid-{iso(day)}.dump"
    _make_folder(folder)
    manifest = await make_backup(dsn, path, runner, day=day, show=show)
    try:
        for old in [*_left(folder), *list_backups(folder)[keep:]]:
            if old != path:
                old.unlink()
    except OSError as error:
        raise StoreError(f"{path} is made, but older ones cannot be deleted: {error}") from error
    return path, manifest


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot use the folder {folder} for backups: {error.strerror or error}") from error


def list_backups(folder: Path) -> list[Path]:
    """The whole backups of a folder, the newest first; none if there is no folder that can be read."""
    try:
        paths = [Path(entry.path) for entry in os.scandir(folder) if _NAME.fullmatch(entry.name)]
    except OSError:
        return []
    return sorted((path for path in paths if not path.is_symlink() and is_backup(path)), reverse=True)


def newest_backup(folder: Path, day: int) -> GoodBackup | None:
    """The newest whole backup of a folder as of a day, None = there is none.

    Those of later days are of a clock that was wrong: they stand for no day until it has come.
    """
    for path in list_backups(folder):
        manifest = read_manifest(path)
        if manifest.day <= day:
            return good_backup(path, manifest)
    return None


def good_backup(path: Path, manifest: Manifest) -> GoodBackup:
    """The record of a backup in the store."""
    return GoodBackup(manifest.day, manifest.made, manifest.file_size, str(path.absolute()))


def _left(folder: Path) -> Iterator[Path]:
    """The unfinished files of killed programs; the names of later days are not written again."""
    for entry in os.scandir(folder):
        if _LEFT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
