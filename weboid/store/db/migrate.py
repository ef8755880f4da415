"""Migrations: the numbered steps ``sql/migrations/NNNN_words.sql`` that bring a database to this program's version.

They go forward only, and an applied file never changes again. ``sql/schema.sql`` describes the tables.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from weboid.assets import asset
from weboid.errors import StoreError

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('weboid migration', 0))"
_TABLE = """
CREATE TABLE IF NOT EXISTS migration (
    number smallint PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied timestamptz NOT NULL DEFAULT now()
)
"""
_STATE = "SELECT to_regclass('migration') IS NOT NULL, current_setting('server_encoding') = 'UTF8'"
_APPLIED = "SELECT number, name, checksum FROM migration ORDER BY number"
_FILE = re.compile(r"(\d{4})_(\w+)\.sql", re.ASCII)


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: its number from 1, its file's name without ``.sql``, its SQL."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text with newlines as read, so that a checkout with other line ends is the same step."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


async def migrate(connection: AsyncConnection[TupleRow], folder: Path | None = None) -> list[str]:
    """Applies what is missing, each step in a transaction of its own, and returns the names of those applied.

    ``connection`` must be in no transaction. Several programs may do it at once: they take turns. Where nothing is
    missing nothing is written, so that a program can start on a server that is read-only. Raises StoreError if
    a step fails (it leaves no trace), an applied file has changed, or the database is newer than this program, another
    program's, or of another encoding than UTF8, and psycopg's OperationalError.
    """
    known = migrations(folder or asset("sql") / "migrations")
    if await _is_complete(connection, known):
        return []
    applied: list[str] = []
    while True:
        async with connection.transaction():
            # Before the lock: waiting for another program's migration may take long.
            await connection.execute("SET LOCAL statement_timeout = 0")
            await connection.execute(_LOCK)
            await connection.execute("SET LOCAL client_min_messages = warning")
            await connection.execute(_TABLE)
            rows = await connection.execute(_APPLIED)
            step = next_migration(known, await rows.fetchall())
            if step is None:
                return applied
            await _apply(connection, step)
        applied.append(step.name)


def migrations(folder: Path) -> list[Migration]:
    """The steps of a folder in order; raises StoreError if their numbers are not 1, 2, 3 …"""
    steps: list[Migration] = []
    for path in sorted(folder.glob("*.sql")):
        if (name := _FILE.fullmatch(path.name)) is None or int(name[1]) != len(steps) + 1:
            raise StoreError(f"{path} is not migration number {len(steps) + 1}: name it {len(steps) + 1:04}_words.sql")
        steps.append(Migration(int(name[1]), path.stem, path.read_text(encoding="utf-8")))
    return steps


def next_migration(known: Sequence[Migration], applied: Sequence[tuple[int, str, str]]) -> Migration | None:
    """The step to apply now, or None; ``applied`` are the (number, name, checksum) of the database.

    Raises StoreError if the database has steps that this program does not know or knows otherwise.
    """
    for number, name, _ in applied[len(known) :]:
        raise StoreError(
            f"the database was made by a newer weboid (its migration {number} is {name!r}): update this one"
        )
    for step, (number, name, checksum) in zip(known, applied, strict=False):
        if (step.number, step.name, step.checksum) != (number, name, checksum):
            raise StoreError(
                f"migration {number} was applied as {name!r} ({checksum[:8]}), but here it is {step.name!r} "
                f"({step.checksum[:8]}): restore the file, and put changes into a new migration"
            )
    return known[len(applied)] if len(applied) < len(known) else None


async def _is_complete(connection: AsyncConnection[TupleRow], known: Sequence[Migration]) -> bool:
    """Returns whether all known steps have been applied; raises StoreError as `next_migration` does."""
    async with connection.transaction():
        table, is_utf8 = await (await connection.execute(_STATE)).fetchone() or (False, True)
        if not is_utf8:
            made = "createdb --encoding UTF8 --locale C --template template0"
            raise StoreError(f"the database is not in UTF8: make one by {made}, and restore there what it has")
        if not table:
            return False
        try:
            rows = await connection.execute(_APPLIED)
        except psycopg.errors.UndefinedColumn as error:
            raise StoreError("its table migration is of another program: give Weboid a database of its own") from error
        return next_migration(known, await rows.fetchall()) is None


async def _apply(connection: AsyncConnection[TupleRow], step: Migration) -> None:
    try:
        await connection.execute(step.sql.encode())
    except psycopg.OperationalError:
        raise  # the database is away, and nothing is wrong with the step
    except psycopg.Error as error:
        raise StoreError(f"migration {step.name} failed, nothing of it was kept: {error}") from error
    await connection.execute(
        "INSERT INTO migration (number, name, checksum) VALUES (%s, %s, %s)", (step.number, step.name, step.checksum)
    )
