"""A data folder as of a given moment: from a base backup and the archived log of writes.

It is made in ``making/``, and takes its place when it is complete; the archive is only read.
"""

import os
import re
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import psycopg

from weboid.pgfolder.accounts import server_account
from weboid.pgfolder.archiving import forget_gap, gap_size, separate_archive
from weboid.pgfolder.base_backup import BaseBackup, base_backups
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder, hand_over, replace_file, text_of
from weboid.pgfolder.postmaster import ServerState, find_state, stop
from weboid.pgfolder.programs import find_version
from weboid.pgfolder.starting import run_server
from weboid.pgfolder.unfinished import drop_making, exclusive, take_place

_POLL_S: Final = 0.1
_PROGRESS_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """A restored database: its base backup, and the moment of the last change in it (None: none after the backup)."""

    base: BaseBackup
    reached: datetime | None


Prepare = Callable[[str, datetime], None]
"""Prepares a restored database for use; called with its DSN and the moment as of which it is."""


def recover(
    given: Folder, until: datetime | None, show: Callable[[str], None], prepare: Prepare | None = None
) -> Recovery:
    """Makes the database of an empty data folder from its ``wal``, as of a moment; None = the last archived one.

    It is prepared before it takes its place, so that nobody finds it unprepared. Blocks. Raises FolderError that says
    what to do: also if the archive does not reach that moment (D-436).
    """
    assert given.wal is not None, "an archive is given"
    with given.reported_faults():
        base = _choose(given.wal, until)
        # The account that can read the archive: its server may still run, on another data folder.
        folder = replace(given, account=server_account(base.archive.path, given.app))
        folder.make()
        with exclusive(folder):
            if folder.cluster.exists():
                raise FolderError(f"there is a database in {folder.data}: restore into an empty folder")
            programs = find_version(folder, base.version)
            if programs is None:
                raise FolderError(f"the base backup is of PostgreSQL {base.version}, which is not here: install that")
            try:
                _unpack(folder, base, show)
                reached = _replay(folder, programs, base, until, show, prepare)
            except BaseException:
                drop_making(folder)
                raise
            take_place(folder)
            return Recovery(base, reached)


def _choose(wal: Path, until: datetime | None) -> BaseBackup:
    """The newest base backup before a moment; raises FolderError if there is none."""
    bases = base_backups(wal)
    if not bases:
        raise FolderError(f"there is no base backup in {wal}: give the folder of the archive")
    before = [base for base in bases if until is None or base.moment <= until]
    if not before:
        raise FolderError(f"the oldest base backup in {wal} is of {bases[0].moment.isoformat()}: give a later moment")
    return before[-1]


def _unpack(folder: Folder, base: BaseBackup, show: Callable[[str], None]) -> None:
    """Puts a base backup into the folder for a cluster in ``making/``; nothing is unpacked by root."""
    new = folder.making
    new.make()
    new.make_private(new.cluster, new.account)
    for name, into in (("base.tar.gz", new.cluster), ("pg_wal.tar.gz", new.cluster / "pg_wal")):
        show(f"unpacking {base.path / name}")
        with open(os.open(base.path / name, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            run = new.account.run(["tar", "-xzf", "-", "-C", into], stdin=file)
        if run.returncode:
            raise new.fault("unpack", run.stdout)
    forget_gap(new, gap_size(new))
    separate_archive(new)
    replace_file(new.cluster / "recovery.signal", b"", new.account)


def _replay(
    folder: Folder,
    programs: Path,
    base: BaseBackup,
    until: datetime | None,
    show: Callable[[str], None],
    prepare: Prepare | None,
) -> datetime | None:
    """Replays the archived log until the moment, and prepares the result; returns the moment of the last change."""
    new, wal = folder.making, base.archive.wal
    if new.account.foreign and wal.stat().st_uid == 0:
        hand_over(base.archive.path, new.account)  # A copy that root has made.
    if new.account.run(["ls", wal]).returncode:
        raise FolderError(f"the user {new.account.name} cannot read {wal}: let it enter and read it")
    source = shlex.quote(str(wal)).replace("%", "%%") + "/%f.gz"
    settings = {
        "restore_command": f'test -e {source} && gzip -dc {source} >"%p"',
        "recovery_target_action": "promote",
        "recovery_target_timeline": "latest",
        "hot_standby": "on",
        "archive_mode": "off",
    }
    if until is not None:
        settings["recovery_target_time"] = until.isoformat()
    show(f"replaying {wal}")
    try:
        run_server(new, programs, settings)
        reached = _promoted(new, show)
    except FolderError as error:
        raise _explained(new, error) from error
    if prepare is not None:
        prepare(new.dsn(), reached or base.moment)
    stop(new)
    return reached


def _promoted(new: Folder, show: Callable[[str], None]) -> datetime | None:
    """Waits until the server has replayed all and takes writes; returns the moment of the last change."""
    shown = time.monotonic()
    while (state := find_state(new)) is not ServerState.GONE:
        if state is ServerState.READY:
            try:
                with psycopg.connect(new.superuser_dsn) as connection:
                    query = "SELECT pg_is_in_recovery(), pg_last_xact_replay_timestamp()"
                    recovering, reached = connection.execute(query).fetchone() or (True, None)
            except psycopg.OperationalError:
                continue  # It is ending: the next turn finds it gone.
            if not recovering:
                return reached if isinstance(reached, datetime) else None
            if reached is not None and time.monotonic() - shown > _PROGRESS_S:
                shown = time.monotonic()
                show(f"replayed until {reached.isoformat()}")
        time.sleep(_POLL_S)
    raise new.fault("recover", text_of(new.log))


def _explained(new: Folder, error: FolderError) -> FolderError:
    """The error in plain words where the archive does not reach the given moment."""
    text = text_of(new.log)
    if "recovery ended before configured recovery target was reached" not in text:
        return error
    last = re.findall(r"last completed transaction was at log time (\S+ [\d:]+)", text)
    until = f" The last change in it is of {last[-1]} UTC." if last else " No change is in it."
    return FolderError(f"the archive does not reach that moment.{until} Without a moment all of it is restored")
