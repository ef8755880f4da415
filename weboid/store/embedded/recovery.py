"""A data folder as of a given moment: from a base backup and the archived log of writes.

Like an upgrade it is made in ``making/``, and gets its place when it is complete; the archive is only read.
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

from weboid.errors import StoreError
from weboid.store.embedded.accounts import server_account
from weboid.store.embedded.archiving import forget_gap, gap_size, separate
from weboid.store.embedded.base_backup import BaseBackup, base_backups
from weboid.store.embedded.folder import Folder, hand_over, make_private_folder, replace_file, sync_folder, text_of
from weboid.store.embedded.kept_programs import find_kept_programs
from weboid.store.embedded.postmaster import ServerState, find_state, stop
from weboid.store.embedded.starting import run_server
from weboid.store.embedded.unfinished import alone, drop_making

_LOOK_S: Final = 0.1
_SAID_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was restored: the base backup, and the moment of the last change that is in it (None: nothing after it)."""

    base: BaseBackup
    reached: datetime | None


SetRight = Callable[[str, datetime], None]
"""Sets the restored database right, to which a DSN leads; it is as of the moment."""


def recover(
    data: Path, wal: Path, until: datetime | None, show: Callable[[str], None], set_right: SetRight | None = None
) -> Recovery:
    """Makes the database of an empty data folder, as it was at a moment; None = up to the last that was archived.

    It is set right before it gets its place, so that it is never there without. Blocks. Raises StoreError that says
    what to do: also if the archive does not reach that moment (D-436).
    """
    given = Folder.of(data)
    with given.faults_told():
        base = _choose(Path(wal).absolute(), until)
        # The account that can read the archive: its server may still run, on another data folder.
        folder = replace(given, account=server_account(base.archive.path))
        folder.make()
        with alone(folder):
            if folder.cluster.exists():
                raise StoreError(f"there is a database in {folder.data}: restore into an empty folder (--data)")
            programs = find_kept_programs(folder.account, folder.data, base.version)
            if programs is None:
                raise StoreError(f"the base backup is of PostgreSQL {base.version}, which is not here: install that")
            try:
                _unpack(folder, base, show)
                reached = _replay(folder, programs, base, until, show, set_right)
            except BaseException:
                drop_making(folder)
                raise
            folder.making.cluster.rename(folder.finished)
            sync_folder(folder.making.data)
            drop_making(folder, folder.finished)
            return Recovery(base, reached)


def _choose(wal: Path, until: datetime | None) -> BaseBackup:
    """The newest base backup before a moment; raises StoreError if there is none."""
    bases = base_backups(wal)
    if not bases:
        raise StoreError(f"there is no base backup in {wal}: give the folder of `[embedded] wal`")
    before = [base for base in bases if until is None or base.moment <= until]
    if not before:
        raise StoreError(f"the oldest base backup in {wal} is of {bases[0].moment.isoformat()}: give a later --until")
    return before[-1]


def _unpack(folder: Folder, base: BaseBackup, show: Callable[[str], None]) -> None:
    """Puts a base backup into the folder for a cluster in ``making/``; nothing is unpacked by root."""
    new = folder.making
    new.make()
    make_private_folder(new.cluster, new.account)
    for name, into in (("base.tar.gz", new.cluster), ("pg_wal.tar.gz", new.cluster / "pg_wal")):
        show(f"unpacking {base.path / name}")
        with open(os.open(base.path / name, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            run = new.account.run(["tar", "-xzf", "-", "-C", into], stdin=file)
        if run.returncode:
            raise new.fault("unpack", run.stdout)
    forget_gap(new, gap_size(new))
    separate(new)
    replace_file(new.cluster / "recovery.signal", b"", new.account)


def _replay(
    folder: Folder,
    programs: Path,
    base: BaseBackup,
    until: datetime | None,
    show: Callable[[str], None],
    set_right: SetRight | None,
) -> datetime | None:
    """Replays the archived log until the moment, and sets right what came; returns the moment of the last change."""
    new, wal = folder.making, base.archive.wal
    if new.account.foreign and wal.stat().st_uid == 0:
        hand_over(base.archive.path, new.account)  # A copy that root has made.
    if new.account.run(["ls", wal]).returncode:
        raise StoreError(f"the user {new.account.name} cannot read {wal}: let it enter and read it")
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
    except StoreError as error:
        raise _told(new, error) from error
    if set_right is not None:
        set_right(new.dsn(), reached or base.moment)
    stop(new)
    return reached


def _promoted(new: Folder, show: Callable[[str], None]) -> datetime | None:
    """Waits until the server has replayed all and takes writes; returns the moment of the last change."""
    said = time.monotonic()
    while (state := find_state(new)) is not ServerState.GONE:
        if state is ServerState.READY:
            try:
                with psycopg.connect(new.dsn("postgres", "postgres")) as connection:
                    query = "SELECT pg_is_in_recovery(), pg_last_xact_replay_timestamp()"
                    recovering, reached = connection.execute(query).fetchone() or (True, None)
            except psycopg.OperationalError:
                continue  # It ends: the next look finds it gone.
            if not recovering:
                return reached if isinstance(reached, datetime) else None
            if reached is not None and time.monotonic() - said > _SAID_S:
                said = time.monotonic()
                show(f"replayed until {reached.isoformat()}")
        time.sleep(_LOOK_S)
    raise new.fault("recover", text_of(new.log))


def _told(new: Folder, error: StoreError) -> StoreError:
    """The error in words for whoever gave a moment that the archive does not reach."""
    text = text_of(new.log)
    if "recovery ended before configured recovery target was reached" not in text:
        return error
    last = re.findall(r"last completed transaction was at log time (\S+ [\d:]+)", text)
    until = f" The last change in it is of {last[-1]} UTC." if last else " No change is in it."
    return StoreError(f"the archive does not reach that moment.{until} Without --until all of it is restored")
