"""Base backups of a server: the whole cluster as of a moment, from which its archived log of writes continues.

They are made by pg_basebackup while everything runs. The archive between them belongs to ``archiving``. A base backup
gets its name when it is complete and on the disk.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Final

from weboid.pgfolder.accounts import client_account
from weboid.pgfolder.archiving import WalArchive, forget_gap, gap_size, has_gap
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder, hand_over, remove_tree, sync_folder, text_of
from weboid.pgfolder.programs import find_programs

KEPT: Final = 2
"""Base backups that are kept: with the older one any moment since then can be restored."""
_NAME: Final = re.compile(r"base-(\d{8}T\d{6}\.\d{6}Z)-(\d+)")
_MOMENT_FORMAT: Final = "%Y%m%dT%H%M%S.%fZ"
_SEGMENT: Final = re.compile(r"[0-9A-F]{24}\.")
_SEGMENT_BITS: Final = 24
_POSITION: Final = slice(8, 24)
"""The digits of a segment's name that continue where timelines, the eight digits before, fork."""


@dataclass(frozen=True, slots=True, order=True)
class BaseBackup:
    """A complete base backup: the moment from which on one can restore, PostgreSQL's major version, the folder."""

    moment: datetime
    version: int
    path: Path

    @property
    def archive(self) -> WalArchive:
        return WalArchive(self.path.parent)

    def first_segment(self) -> str:
        """The name of the first segment of the log that it needs; raises FolderError if its manifest cannot be read."""
        try:
            ranges = json.loads(text_of(self.path / "backup_manifest"))["WAL-Ranges"]
            starts = [(int(each["Timeline"]), str(each["Start-LSN"])) for each in ranges]
            timeline, lsn = min(starts)
            high, low = (int(part, 16) for part in lsn.split("/"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FolderError(f"{self.path} has no readable backup_manifest: move it away") from error
        return f"{timeline:08X}{high:08X}{low >> _SEGMENT_BITS:08X}"


def base_backups(wal: Path) -> list[BaseBackup]:
    """All complete base backups below the configured folder, the oldest first."""
    named = ((_NAME.fullmatch(path.name), path) for path in wal.glob("cluster-*/base-*") if not path.is_symlink())
    return sorted(BaseBackup(datetime.fromisoformat(name[1]), int(name[2]), path) for name, path in named if name)


def is_base_due(folder: Folder, now: datetime, *, days: float) -> bool:
    """True if a new base backup is needed: there is none of this cluster, it is old, or the log has a gap since.

    One of the future is of a clock that was wrong: for so many days it counts as new. Raises FolderError.
    """
    bases = _in_order(archive_of(folder)[0])
    return not bases or has_gap(folder) or abs((now - bases[-1].moment).total_seconds()) > days * 86_400


def make_base_backup(folder: Folder, now: Callable[[], datetime], given_up: Event | None = None) -> BaseBackup:
    """Makes a base backup of the running server, and deletes the oldest with the log that only they needed. Blocks.

    Raises FolderError, also where the disk is full, and soon after `given_up` is set (by another thread): the
    unfinished one is removed then.
    """
    with folder.reported_faults():
        archive, programs = archive_of(folder)
        archive.make(folder)
        for left in archive.path.glob("base-*.unfinished"):
            remove_tree(left)
        # A name of its own: a pg_basebackup whose program was killed may still write into the one before.
        unfinished = archive.path / f"base-{os.getpid()}.unfinished"
        gap = gap_size(folder)
        try:
            folder.make_private(unfinished, client_account(folder.account))
            _fill(unfinished, folder, programs, given_up)
        except BaseException:
            remove_tree(unfinished)
            raise
        moment, version = now(), folder.version
        assert version is not None, "its server runs"
        base = BaseBackup(moment, version, archive.path / f"base-{moment.strftime(_MOMENT_FORMAT)}-{version}")
        unfinished.rename(base.path)
        sync_folder(archive.path)
        forget_gap(folder, gap)
        _drop_oldest(archive)
        return base


def _fill(unfinished: Path, folder: Folder, programs: Path, given_up: Event | None) -> None:
    """Runs pg_basebackup into a folder; raises FolderError with its reason."""
    command: list[str | Path] = [programs / "pg_basebackup", "--pgdata", unfinished, "--format=tar", "--gzip"]
    command += ["--wal-method=stream", "--checkpoint=fast", "--no-password", f"--label={folder.app.name}"]
    command += ["--dbname", folder.superuser_dsn]
    client = client_account(folder.account)
    run = client.run(command, given_up=given_up)
    if run.returncode:
        reason = "stopped before its end" if given_up is not None and given_up.is_set() else _reason(run.stdout)
        raise FolderError(f"cannot make a base backup in {unfinished.parent}: {reason}")
    if client != folder.account:
        hand_over(unfinished, folder.account)


def archive_of(folder: Folder) -> tuple[WalArchive, Path]:
    """The archive of a data folder's cluster, and the programs of its version; raises FolderError."""
    programs = find_programs(folder, folder.version)
    return WalArchive.of(folder, programs), programs


def _in_order(archive: WalArchive) -> list[BaseBackup]:
    """The base backups of one cluster by the log's position: a clock may go back (D-401). Raises FolderError."""
    bases = [base for base in base_backups(archive.path.parent) if base.archive == archive]
    return sorted(bases, key=lambda base: base.first_segment()[_POSITION])


def _drop_oldest(archive: WalArchive) -> None:
    bases = _in_order(archive)
    for base in bases[:-KEPT]:
        remove_tree(base.path)
    first = bases[-KEPT:][0].first_segment()
    for path in archive.wal.iterdir():
        if _SEGMENT.match(path.name) and path.name[_POSITION] < first[_POSITION]:
            path.unlink()


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no reason was given"]
    return next((line for line in lines if "error:" in line), lines[-1])
