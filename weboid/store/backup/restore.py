"""Restoring a backup into an empty store (O-9), in one transaction: all of it, in order again, or nothing.

What a restored store needs after it is in ``store/backup/aftermath``. Nothing is written to a store that watches
anything, and a program that starts in the meantime waits.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from weboid.assets import asset
from weboid.core.record.days import iso
from weboid.errors import StoreError
from weboid.mechanism.tasks import to_the_end
from weboid.store.backup.aftermath import Aftermath, set_right
from weboid.store.backup.archive import Script, ScriptEntry, archive_script
from weboid.store.backup.client_programs import ClientProgram, Runner, find_program
from weboid.store.backup.make import Show
from weboid.store.backup.manifest import Manifest, check_archive, read_manifest
from weboid.store.backup.tables import MADE_BY_STARTING, SQL, find_schema, list_tables, our_tables
from weboid.store.db.migrate import migrate, migrations
from weboid.store.db.pool import Connection, Pool

_LOCK_MS: Final = "10000"
_MEMORY: Final = "256MB"
_ROWS: Final = b" FROM stdin;\n"
_OWN_KINDS: Final = frozenset({
    "TABLE", "TABLE DATA", "TABLE ATTACH", "SEQUENCE", "SEQUENCE OWNED BY", "SEQUENCE SET", "DEFAULT", "CONSTRAINT",
    "CHECK CONSTRAINT", "FK CONSTRAINT", "INDEX", "INDEX ATTACH", "STATISTICS",
})  # fmt: skip
"""The kinds of entries that our migrations make. Others (triggers, rules, policies …) were planted in the store."""
_FROZEN: Final = b" FROM stdin WITH (FREEZE)"
"""The table was made in the same transaction: its rows need not be written again later."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored backup, the entries that were left out, the migrations that were applied to it, and the outcome of its
    aftermath."""

    manifest: Manifest
    left_out: list[str]
    migrations: list[str]
    aftermath: Aftermath


def require_restorable(path: Path, *, whole: bool = True) -> Manifest:
    """The manifest of a backup that this program can restore; raises StoreError. With `whole` it reads all of it."""
    try:
        manifest = read_manifest(path)
        if manifest.migration > len(migrations(asset("sql") / "migrations")):
            raise StoreError(f"{path} was made by a newer weboid ({manifest.weboid}): update this one")
        if whole:
            check_archive(path, manifest)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}") from error
    return manifest


async def restore_backup(pool: Pool, path: Path, runner: Runner, *, day: int, interval: int, show: Show) -> Restored:
    """Restores a file into an empty store; `interval` is that of working links, in days.

    Raises StoreError with what to do; then the store is as it was, and so it is if this is cancelled.
    """
    show("looking at the backup", 0, 0)
    manifest = await asyncio.to_thread(require_restorable, path)
    if day < manifest.day:
        raise StoreError(
            f"the backup is of {iso(manifest.day)}, but today would be {iso(day)}: set the clock right, or give --day"
        )
    program = find_program("pg_restore", runner, least=manifest.tool)
    async with pool.connection() as conn:
        await conn.execute("SELECT set_config('lock_timeout', %s, true)", (_LOCK_MS,))
        await conn.execute("SELECT set_config('statement_timeout', '0', true)")
        await conn.execute("SELECT set_config('maintenance_work_mem', %s, true)", (_MEMORY,))
        await _require_empty(conn, manifest)
        left_out = await _load(conn, program, path, manifest, show)
        show("migrating", manifest.size, manifest.size)
        applied = await migrate(conn)
        show("setting right", manifest.size, manifest.size)
        aftermath = await set_right(conn, manifest.day, day, interval=interval)
        show("analyzing", manifest.size, manifest.size)
        await conn.execute("ANALYZE")
        await to_the_end(conn.commit())
    return Restored(manifest, left_out, applied, aftermath)


async def _require_empty(conn: Connection, manifest: Manifest) -> None:
    """Keeps other programs out; raises StoreError if one is in, or if anything is watched or remembered here."""
    try:
        await conn.execute(SQL["lock_migrations"])
    except psycopg.errors.LockNotAvailable:
        raise StoreError("another program migrates or restores this database: wait for it, or end it") from None
    if others := [name async for (name,) in await conn.execute(SQL["list_others"])]:
        raise StoreError(f"parts of Weboid use this database ({', '.join(others)}): stop them first")
    if (schema := await find_schema(conn)) != manifest.schema:
        raise StoreError(
            f"the backup's tables are in the schema {manifest.schema!r}, new ones would come into {schema!r}: "
            "make it the first of the role's search_path"
        )
    tables = await list_tables(conn)
    if foreign := {table.whole for table in tables.values()} - our_tables():
        raise StoreError(f"the database has other tables ({', '.join(sorted(foreign))}): restore into one of its own")
    for table in sorted(tables.keys() - MADE_BY_STARTING):
        query = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(schema, table))
        row = await (await conn.execute(query)).fetchone()
        if row and row[0]:
            raise StoreError(
                f"the store is not empty (table {table}), and a restore would overwrite it: restore into a new one "
                "(--data NEW, or a new database in WEBOID_DATABASE)"
            )
    await _drop(conn, schema, tables)


async def _drop(conn: Connection, schema: str, tables: Collection[str]) -> None:
    """Drops the empty tables; they come back as they were if the transaction fails."""
    if not tables:
        return
    names = sql.SQL(", ").join(sql.Identifier(schema, table) for table in sorted(tables))
    try:
        await conn.execute(sql.SQL("DROP TABLE {}").format(names))
    except psycopg.errors.LockNotAvailable:
        raise StoreError("a session uses the tables of this database: end it first") from None


async def _load(conn: Connection, program: ClientProgram, path: Path, manifest: Manifest, show: Show) -> list[str]:
    """Runs the archive's text; returns the entries of no kind of ours, which are left out.

    Raises StoreError unless there are as many rows as when it was made (D-362).
    """
    rows: dict[str, int] = {}
    left_out: list[str] = []
    done, entry_name = 0, ""

    def fed(now: int) -> None:
        nonlocal done
        done = now
        show(entry_name, done, manifest.size)

    with path.open("rb", buffering=0) as file:
        async with archive_script(program, file, manifest.size, fed) as script:
            async for entry in script.entries():
                entry_name = f"restore: {entry.kind.lower()} {entry.name}"
                show(entry_name, done, manifest.size)
                if entry.kind not in _OWN_KINDS:
                    left_out.append(f"{entry.kind.lower()} {entry.name}")
                elif entry.has_rows:
                    rows[entry.name] = await _copy(conn, entry, script)
                else:
                    # Of a file whose checksum is that of its last line: as pg_restore itself would run it.
                    await conn.execute(entry.sql)
    if rows != manifest.rows:
        wrong = sorted(
            table for table in rows.keys() | manifest.rows.keys() if rows.get(table) != manifest.rows.get(table)
        )
        raise StoreError(
            f"the rows of {', '.join(wrong)} are not as many as when the backup was made: take another one"
        )
    return left_out


async def _copy(conn: Connection, entry: ScriptEntry, script: Script) -> int:
    """Copies the rows of a table; returns how many."""
    count = 0
    statement = entry.sql.removesuffix(_ROWS) + _FROZEN
    async with conn.cursor() as cursor, cursor.copy(statement) as copy:
        async for block in script.rows():
            count += block.count(b"\n")
            await copy.write(block)
    return count
