"""Base backups of an embedded server: the whole cluster as of a moment, from which its archived log of writes goes on.

They are made by pg_basebackup while everything runs. What is archived between them belongs to
``store/embedded/archiving``. One law: a base backup gets its name when it is complete and on the disk.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from weboid.errors import StoreError
from weboid.store.embedded.accounts import client_of
from weboid.store.embedded.archiving import WalArchive, forget_gap, has_gap
from weboid.store.embedded.folder import Folder, hand_over, make_private_folder, remove_tree, sync_folder, text_of
from weboid.store.embedded.programs import find_programs

KEPT: Final = 2
"""Base backups that are kept: with the older one any moment since then can be restored."""
_NAME: Final = re.compile(r"base-(\d{8}T\d{6}\.\d{6}Z)-(\d+)")
_FORM: Final = "%Y%m%dT%H%M%S.%fZ"
_SEGMENT: Final = re.compile(r"[0-9A-F]{24}\.")
_SEGMENT_BITS: Final = 24


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
        """The name of the first segment of the log that it needs; raises StoreError if its manifest does not say."""
        try:
            ranges = json.loads(text_of(self.path / "backup_manifest"))["WAL-Ranges"]
            starts = [(int(each["Timeline"]), str(each["Start-LSN"])) for each in ranges]
            timeline, lsn = min(starts)
            high, low = (int(part, 16) for part in lsn.split("/"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self.path} has no readable backup_manifest: move it away") from error
        return f"{timeline:08X}{high:08X}{low >> _SEGMENT_BITS:08X}"


def base_backups(wal: Path) -> list[BaseBackup]:
    """All complete base backups below the configured folder, the oldest first."""
    named = ((_NAME.fullmatch(path.name), path) for path in wal.glob("cluster-*/base-*") if not path.is_symlink())
    return sorted(BaseBackup(datetime.fromisoformat(name[1]), int(name[2]), path) for name, path in named if name)


def is_base_due(folder: Folder, now: datetime, *, days: float) -> bool:
    """Whether a new base backup is needed: there is none of this cluster, it is old, or the log has a gap since."""
    assert folder.wal is not None, "an archive is wanted"
    archive, _ = archive_of(folder)
    newest = [base for base in base_backups(folder.wal) if base.archive == archive][-1:]
    return not newest or has_gap(folder) or (now - newest[0].moment).total_seconds() > days * 86_400


def make_base_backup(folder: Folder, now: Callable[[], datetime]) -> BaseBackup:
    """Makes a base backup of the running server, and drops the oldest with the log that only they needed. Blocks.

    Raises StoreError, also where the place is full: what was begun is removed then.
    """
    with folder.faults_told():
        archive, programs = archive_of(folder)
        archive.make(folder.account)
        for left in archive.path.glob("base-*.unfinished"):
            remove_tree(left)
        # A name of its own: a pg_basebackup whose program was killed may still write into the one before.
        unfinished = archive.path / f"base-{os.getpid()}.unfinished"
        client = client_of(folder.account)
        make_private_folder(unfinished, client)
        forget_gap(folder)
        command: list[str | Path] = [programs / "pg_basebackup", "--pgdata", unfinished, "--format=tar", "--gzip"]
        command += ["--wal-method=stream", "--checkpoint=fast", "--no-password", "--label=weboid"]
        command += ["--dbname", folder.dsn("postgres", "postgres")]
        run = client.run(command)
        if run.returncode:
            remove_tree(unfinished)
            raise StoreError(f"cannot make a base backup in {archive.path}: {_reason(run.stdout)}")
        if client != folder.account:
            hand_over(unfinished, folder.account)
        version = int(text_of(folder.cluster / "PG_VERSION"))
        base = archive.path / f"base-{now().strftime(_FORM)}-{version}"
        unfinished.rename(base)
        sync_folder(archive.path)
        _drop_oldest(archive)
        return base_backups(archive.path.parent)[-1]


def archive_of(folder: Folder) -> tuple[WalArchive, Path]:
    """The archive of a data folder's cluster, and the programs of its version; raises StoreError."""
    made_by = int(text_of(folder.cluster / "PG_VERSION") or 0) or None
    programs = find_programs(folder.account, folder.data, made_by)
    return WalArchive.of(folder, programs), programs


def _drop_oldest(archive: WalArchive) -> None:
    bases = [base for base in base_backups(archive.path.parent) if base.archive == archive]
    for base in bases[:-KEPT]:
        remove_tree(base.path)
    first = bases[-KEPT:][0].first_segment()
    for path in archive.wal.iterdir():
        # Timelines (the first eight digits) fork, but the log's position goes on.
        if _SEGMENT.match(path.name) and path.name[8:24] < first[8:24]:
            path.unlink()


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no reason was given"]
    return next((line for line in lines if "error:" in line), lines[-1])
