"""The continuous archive of a server's log of writes (WAL), from which any moment can be restored.

The server itself hands over each segment (16 MB, or the writes of five minutes), by a small script that is written at
each start. An archive that is full or unreachable never stops the database: of the segments that wait, the oldest are
given up once they are more than a gigabyte, and a file in the cluster records that the archive has a gap.
pg_receivewal would lose seconds instead of five minutes, but is a process that has to be kept alive.

Below the configured folder each cluster has a folder of its own, `cluster-ID`, with `wal/` and its base backups
(``base_backup``): an upgraded, restored or newly made database never mixes with the one before.
"""

import logging
import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Final

import psycopg

from weboid.pgfolder.accounts import this_account
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder, replace_file, text_of

log = logging.getLogger(__name__)

SEGMENT_S: Final = 300
"""A segment that is not full is archived after so many seconds: as much may be lost with the disk."""
_MOST_WAITING: Final = 64
"""Segments of 16 MB that wait for the archive at most."""
_RESTORED_NAME: Final = re.compile(r"-[0-9a-f]{8}")
_SCRIPT_NAME: Final = "archive-wal.sh"
_SCRIPT: Final = """\
# Written by APPLICATION at each start. $1: the archive's folder, $2: a file of the log of writes, $3: its name.
umask 077
to="$1/$3.gz"
if test -e "$to"; then
    gzip -dc "$to" | cmp -s - "$2" && exit 0
    echo "APPLICATION: $to is there already, and is another one" >&2
elif gzip -1nc "$2" >"$to.unfinished" && sync "$to.unfinished" && mv "$to.unfinished" "$to"; then
    sync "$1"
    exit 0
else
    rm -f "$to.unfinished"
fi
set -- pg_wal/archive_status/*.ready
test $# -gt MOST_WAITING || exit 1
echo "APPLICATION: gives up the oldest of $# segments, so that the log of writes does not fill the disk" >&2
echo "$3" >>GAP
"""


@dataclass(frozen=True, slots=True)
class WalArchive:
    """The archive of one cluster."""

    path: Path
    """`cluster-ID` below the configured folder, `cluster-ID-NAME` if the cluster was restored from an archive."""

    @classmethod
    def of(cls, folder: Folder, programs: Path) -> "WalArchive":
        """The archive of a data folder's cluster, below the folder's ``wal``; raises FolderError if the cluster is not
        readable."""
        assert folder.wal is not None, "an archive is configured"
        run = folder.account.run([programs / "pg_controldata", folder.cluster])
        found = re.search(r"^Database system identifier: +(\d+)$", run.stdout, re.M)
        if run.returncode or found is None:
            raise folder.fault("read", run.stdout)
        restored = _RESTORED_NAME.fullmatch(text_of(_restored_file(folder)))
        return cls(folder.wal / f"cluster-{found[1]}{restored[0] if restored else ''}")

    @property
    def wal(self) -> Path:
        return self.path / "wal"

    def make(self, folder: Folder) -> None:
        """Makes its folders in the configured one, for the server's account; raises OSError, FolderError.

        The configured one is not made: where its disk is not mounted the archive would fill another one.
        """
        if not self.path.parent.is_dir():
            raise FolderError(f"there is no folder {self.path.parent}: mount its disk, or make it (mkdir)")
        folder.make_private(self.path, folder.account)
        folder.make_private(self.wal, folder.account)


def archive_settings(folder: Folder, programs: Path) -> dict[str, str]:
    """The settings with which a server archives into the folder's ``wal``; none if that is None.

    A folder that cannot be used now is logged, and tried again by the server. Raises OSError, FolderError.
    """
    if folder.wal is None:
        return {}
    archive = WalArchive.of(folder, programs)
    try:
        archive.make(folder)
    except (OSError, FolderError) as error:
        log.warning("the log of writes cannot be archived in %s now: %s", archive.path, error)
    script = folder.data / _SCRIPT_NAME
    words = {"MOST_WAITING": str(_MOST_WAITING), "GAP": _gap_file(folder).name, "APPLICATION": folder.app.name}
    text = re.sub("|".join(words), lambda word: words[word[0]], _SCRIPT)
    replace_file(script, text.encode(), this_account())
    script.chmod(0o644)
    return {
        "wal_level": "replica",
        "max_wal_senders": "10",
        "archive_mode": "on",
        "archive_library": "",
        "archive_timeout": str(SEGMENT_S),
        "archive_command": _command(folder, archive),
    }


@dataclass(frozen=True, slots=True)
class ArchivingState:
    """The state of an archive; `is_on`: the running server archives into the folder's ``wal``."""

    is_on: bool
    behind_s: float
    """The seconds that the oldest segment has waited."""
    has_gap: bool
    """Segments were given up since the last base backup."""


def archiving_state(folder: Folder, archive: WalArchive, now: datetime) -> ArchivingState:
    """The state of the archive of a running server. Blocks; raises FolderError."""
    with folder.reported_faults():
        with psycopg.connect(folder.superuser_dsn) as connection:
            query = "SELECT current_setting('archive_mode') || ' ' || current_setting('archive_command')"
            row = connection.execute(query).fetchone()
        is_on = row is not None and row[0] == f"on {_command(folder, archive)}"
        waiting = [path.lstat().st_mtime for path in (folder.cluster / "pg_wal" / "archive_status").glob("*.ready")]
    return ArchivingState(is_on, now.timestamp() - min(waiting, default=now.timestamp()), has_gap(folder))


def has_gap(folder: Folder) -> bool:
    """True if segments were given up since the last base backup: later moments cannot be restored from it."""
    return _gap_file(folder).exists()


def gap_size(folder: Folder) -> int:
    """The size of the gap, a number that only grows; 0 if there is none."""
    with suppress(FileNotFoundError):
        return _gap_file(folder).stat().st_size
    return 0


def forget_gap(folder: Folder, size: int) -> None:
    """Forgets a gap that had this size when a base backup began, unless it has grown since."""
    if gap_size(folder) == size:
        _gap_file(folder).unlink(missing_ok=True)


def separate_archive(restored: Folder) -> None:
    """Gives a restored cluster an archive of its own: the server from whose archive it came may still run (D-400)."""
    replace_file(_restored_file(restored), f"-{token_hex(4)}".encode(), restored.account)


def _gap_file(folder: Folder) -> Path:
    return folder.cluster / f"{folder.app.name}-wal.gap"


def _restored_file(folder: Folder) -> Path:
    return folder.cluster / f"{folder.app.name}-wal.restored"


def _command(folder: Folder, archive: WalArchive) -> str:
    words = (str(folder.data / _SCRIPT_NAME), str(archive.wal))
    return f"/bin/sh {shlex.join(words)}".replace("%", "%%") + ' "%p" "%f"'
