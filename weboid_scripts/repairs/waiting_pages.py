"""Pages to look at again, for what was in the way may pass: an archive did not answer, people were at work (B-4).

``-weboid:dead`` begins with them, as the list of changes names a page once only. They are in the journal's file.
A page waits for 30 days at most, however often it is looked at in vain.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from weboid_scripts.journal.journal_file import JournalFile

MOST_DAYS: Final = 30
_PART: Final = 500
_TABLE: Final = """CREATE TABLE IF NOT EXISTS waiting (
    wiki TEXT NOT NULL,
    page INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (wiki, page)
) WITHOUT ROWID"""


class WaitingPages:
    """The pages of one wiki that wait; `wiki` as the journal names it. Moments are aware."""

    def __init__(self, file: JournalFile, wiki: str) -> None:
        self._file = file
        self._wiki = wiki
        file.ensure(_TABLE)

    def begin(self, page: int, moment: datetime) -> None:
        """The page waits; since when stays as it is if it did before."""
        self._file.write(
            "INSERT OR IGNORE INTO waiting (wiki, page, since) VALUES (?, ?, ?)",
            (self._wiki, page, int(moment.timestamp())),
        )

    def end(self, page: int) -> None:
        """The page waits for nothing any more. Nothing is written if it did not wait."""
        if self._file.rows("SELECT 1 FROM waiting WHERE wiki = ? AND page = ?", (self._wiki, page)):
            self._file.write("DELETE FROM waiting WHERE wiki = ? AND page = ?", (self._wiki, page))

    def find(self, now: datetime) -> Iterator[int]:
        """The numbers of all that wait, in their order; those that have waited for too long are forgotten."""
        oldest = int((now - timedelta(days=MOST_DAYS)).timestamp())
        self._file.write("DELETE FROM waiting WHERE wiki = ? AND since < ?", (self._wiki, oldest))
        last = 0
        while some := self._file.rows(
            "SELECT page FROM waiting WHERE wiki = ? AND page > ? AND since >= ? ORDER BY page LIMIT ?",
            (self._wiki, last, oldest, _PART),
        ):
            yield from (page for (page,) in some)
            last = some[-1][0]
