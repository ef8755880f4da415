"""The SQLite file in which the scripts remember things: opens it, makes tables, and says what is wrong with it.

What was noted is there after ``kill -9``, and two scripts may have the file open. It has SQLite's rollback
journal, no write-ahead log: that one needs memory shared by all who have the file open, which network file systems
such as Toolforge's cannot give. So nobody may hold a read open for long: reads are fetched whole.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Final

from weboid.errors import WeboidError

_APPLICATION: Final = 0x77656264  # "webd": marks the file as ours
_VERSION: Final = 1
_PATIENCE_S: Final = 30.0
"""How long is waited for another script that is writing."""


class JournalError(WeboidError):
    """The journal cannot be used; nothing may be edited without it, for what was reverted would be done again."""


class JournalFile:
    """An open file; threads may share it. Raises JournalError if it is damaged, foreign, locked or cannot be written.

    A module that needs its own table makes it by `ensure` and reads and writes it by `rows` and `write`. A file that
    `is_read_only` is left as it is, or away, and no other script is kept waiting: all goes to a copy in memory.
    """

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        self.path = path
        self._lock = RLock()
        with self._reporting_errors():
            self._connection = sqlite3.connect(
                ":memory:" if is_read_only else f"{path.absolute().as_uri()}?mode=rwc",
                uri=True,
                timeout=_PATIENCE_S,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=64,
            )
            try:
                if is_read_only and path.exists():
                    self._copy()
                self._open()
            except BaseException:
                self._connection.close()
                raise

    def _copy(self) -> None:
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, isolation_level=None)) as kept:
            # The lock is acquired here, with patience; `backup` itself would wait for ever.
            kept.execute("BEGIN")
            kept.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
            kept.backup(self._connection)

    def _open(self) -> None:
        application = self.rows("PRAGMA application_id")[0][0]
        version = self.rows("PRAGMA user_version")[0][0]
        if application == 0 and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            with self.writing():
                self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._connection.execute(f"PRAGMA user_version = {_VERSION}")
        elif application != _APPLICATION:
            raise JournalError(f"{self.path} is a database of another program; name another file with -journal:")
        elif version != _VERSION:
            raise JournalError(
                f"{self.path} was made by another version of Weboid (its form is {version}, not {_VERSION}); "
                "install that version, or name another file with -journal:"
            )
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")

    def ensure(self, *statements: str) -> None:
        """Makes tables and indexes, by statements with IF NOT EXISTS, all or none."""
        with self.writing():
            for statement in statements:
                self._connection.execute(statement)

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query; many are to be requested in parts."""
        with self._reporting_errors(), self._lock:
            return self._connection.execute(query, values).fetchall()

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """One statement; returns the number of the row that it inserted. Durable on return, unless inside `writing`."""
        with self._reporting_errors(), self._lock:
            return self._connection.execute(statement, values).lastrowid or 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written inside is written whole or not at all; inside of another one, together with that."""
        with self._reporting_errors(), self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite ends it itself after some failures.
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Closes the file; what was written is there already."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise JournalError(f"the journal {self.path} cannot be used: {error}{_advice(error)}") from error
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise
            raise JournalError(
                f"the journal {self.path} is damaged, or no journal: {error}. Restore it from a backup. Without one, "
                "move it away; then first run weboid_reverts, as what was reverted is no longer known."
            ) from error


def _advice(error: sqlite3.OperationalError) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF == sqlite3.SQLITE_BUSY:
        return "; another script has been writing for too long: end it, or try again later"
    return "; look whether its folder is there, may be written, and has room"
