"""The memory of ``weboid_weblinks``, in tables in the file of the journal: scans, dead links, reports (B-3).

A failure that was noted stays a failure until a scan finds the link working.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from secrets import token_bytes
from typing import Final

from weboid.core.record.policy import NO_PROOF
from weboid.core.record.reasons import Outcome
from weboid_scripts.journal.journal_file import JournalFile

AGAIN: Final = timedelta(days=7)
"""A link that did not fail is not scanned again before."""
AGAIN_FAILED: Final = timedelta(days=3)
"""Nor one that failed and is not dead yet."""
DEAD_AFTER: Final = 3
"""Failures in a row that make a link dead by the rule of three in nine days."""
_NO_PROOF: Final = frozenset(reason.word for reason in NO_PROOF)
_PART: Final = 500

_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS scans (
        normal TEXT PRIMARY KEY,
        scanned INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        reason TEXT NOT NULL,
        http INTEGER,
        failures INTEGER NOT NULL,
        since INTEGER
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS pages_with_dead_links (
        wiki TEXT NOT NULL,
        page INTEGER NOT NULL,
        PRIMARY KEY (wiki, page)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS reported_links (
        wiki TEXT NOT NULL,
        page INTEGER NOT NULL,
        normal TEXT NOT NULL,
        PRIMARY KEY (wiki, page, normal)
    ) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS report_key (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class Scan:
    """The newest scan of a link (by its normal form): when, and what it found; `http` is the code, None without one.

    `failures` have come in a row since the moment `since`. Moments are in UTC.
    """

    normal: str
    scanned: datetime
    outcome: Outcome
    reason: str
    http: int | None = None
    failures: int = 0
    since: datetime | None = None

    @property
    def is_dead(self) -> bool:
        """True if it is dead by the rule of three in nine days."""
        return self.failures >= DEAD_AFTER

    def is_due(self, now: datetime) -> bool:
        """True if it may be scanned again; after a moment in the future, which a clock that was wrong has left, too."""
        again = AGAIN_FAILED if self.outcome is Outcome.FAILING and not self.is_dead else AGAIN
        return not self.scanned <= now < self.scanned + again


def scan_after(
    before: Scan | None, normal: str, now: datetime, outcome: Outcome, reason: str, http: int | None
) -> Scan:
    """The memory of a link after one more scan.

    What arrives ends the row of failures; a server that refuses us, or is unavailable for now, says nothing of the
    document, and leaves it.
    """
    failures, since = (before.failures, before.since) if before else (0, None)
    match outcome:
        case Outcome.FAILING if reason in _NO_PROOF:
            pass
        case Outcome.FAILING:
            failures, since = failures + 1, since or now
        case Outcome.WORKING | Outcome.DOUBTFUL:
            failures, since = 0, None
        case Outcome.REFUSED:
            pass
    return Scan(normal, now, outcome, reason, http, failures, since)


class ScanMemory:
    """The tables in an open file. Raises JournalError, as JournalFile says."""

    def __init__(self, file: JournalFile) -> None:
        self._file = file
        file.ensure(*_TABLES)

    def scans(self, normals: Iterable[str]) -> dict[str, Scan]:
        """The newest scans of those of these links that were scanned."""
        found = {}
        for normal in normals:
            for row in self._file.rows(
                "SELECT scanned, outcome, reason, http, failures, since FROM scans WHERE normal = ?", (normal,)
            ):
                scanned, outcome, reason, http, failures, since = row
                began = None if since is None else datetime.fromtimestamp(since, UTC)
                found[normal] = Scan(
                    normal, datetime.fromtimestamp(scanned, UTC), Outcome(outcome), reason, http, failures, began
                )
        return found

    def note(self, scans: Iterable[Scan]) -> None:
        """Notes what scans found, all or none."""
        with self._file.writing():
            for scan in scans:
                self._file.write(
                    "INSERT OR REPLACE INTO scans (normal, scanned, outcome, reason, http, failures, since)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        scan.normal,
                        int(scan.scanned.timestamp()),
                        scan.outcome.value,
                        scan.reason,
                        scan.http,
                        scan.failures,
                        None if scan.since is None else int(scan.since.timestamp()),
                    ),
                )

    def note_pages(self, wiki: str, pages: Iterable[tuple[int, bool]]) -> None:
        """Notes of pages whether they have links that fail."""
        with self._file.writing():
            for page, has_dead in pages:
                statement = (
                    "INSERT OR IGNORE INTO pages_with_dead_links (wiki, page) VALUES (?, ?)"
                    if has_dead
                    else "DELETE FROM pages_with_dead_links WHERE wiki = ? AND page = ?"
                )
                self._file.write(statement, (wiki, page))

    def pages(self, wiki: str) -> Iterator[int]:
        """The pages on which links failed when they were last looked at, by their numbers, read in parts."""
        after = 0
        while True:
            part = self._file.rows(
                "SELECT page FROM pages_with_dead_links WHERE wiki = ? AND page > ? ORDER BY page LIMIT ?",
                (wiki, after, _PART),
            )
            yield from (page for (page,) in part)
            if len(part) < _PART:
                return
            after = part[-1][0]

    def report_key(self) -> bytes:
        """The secret by which reports on talk pages are known again, made at its first use."""
        self._file.write("INSERT OR IGNORE INTO report_key (one, key) VALUES (1, ?)", (token_bytes(32),))
        return bytes(self._file.rows("SELECT key FROM report_key")[0][0])

    def reported(self, wiki: str, page: int) -> frozenset[str]:
        """The links of a page, by normal form, that were reported on its talk page and are not well since."""
        found = self._file.rows("SELECT normal FROM reported_links WHERE wiki = ? AND page = ?", (wiki, page))
        return frozenset(normal for (normal,) in found)

    def note_reported(self, wiki: str, page: int, normals: Iterable[str]) -> None:
        """Notes which links of a page those are now."""
        with self._file.writing():
            self._file.write("DELETE FROM reported_links WHERE wiki = ? AND page = ?", (wiki, page))
            for normal in normals:
                self._file.write(
                    "INSERT INTO reported_links (wiki, page, normal) VALUES (?, ?, ?)", (wiki, page, normal)
                )
