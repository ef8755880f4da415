"""Tables divided by bucket into partitions (O-4), so that each of them and of its indexes stays small.

A table is one transaction: a run that was stopped leaves each table as it was or divided, and the next one goes on. All
else is as before: statements name the tables, and touch one partition only for keys of one group of buckets, or say why
not (a test reads their plans).
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, LiteralString

import psycopg
from psycopg import sql

from weboid.core.url.keys import BUCKETS
from weboid.errors import StoreAway, StoreError
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.statements import fetch_all, fetch_value, statements

SQL: Final = statements("upkeep/partition")
TABLES: Final = ("link", "url")
"""The big ones, which have two thirds of the bytes (docs/sizing.md). Each partition of a table that a statement names
costs it some 10 µs (measured), so that what page answers read besides stays whole."""
_LOCK_MS: Final = "10000"
"""So many milliseconds others wait because we wait for somebody who reads a table for hours, such as a backup."""
_STEPS: Final = 100
"""The stretches in which a table is copied, for the progress."""

Show = Callable[[str, int], None]
"""Called with the table and the percentage of it that is copied."""


async def list_whole(pool: Pool) -> dict[str, int]:
    """Those of the big tables that are in one piece, with the bytes that each takes with its indexes."""
    async with pool.connection() as conn:
        rows = await conn.execute(SQL["list_whole"], {"tables": list(TABLES)})
        return {name: size async for name, size in rows}


async def partition(pool: Pool, parts: int, *, show: Show = lambda table, percent: None) -> Mapping[str, int]:
    """Divides the big tables that are in one piece into so many partitions each; returns them, as `list_whole` does.

    Who needs a table waits until it is done. Raises StoreError if one is in use for long, or cannot be divided now: it
    is not tried again by itself, which would fill the same disk once more.
    """
    tables = await list_whole(pool)
    for table in tables:
        try:
            async with pool.connection() as conn:
                await partition_table(conn, table, parts, partial(show, table))
        except StoreAway as error:
            message = f"{error}; no row of the table {table} is lost. Where the disk is full, free some; run it again"
            raise StoreError(message) from error
    return tables


async def partition_table(
    conn: Connection, table: str, parts: int, show: Callable[[int], None] = lambda percent: None
) -> None:
    """Divides a table with a bucket by ranges of it, in the caller's transaction; does nothing if it is divided.

    Indexes and settings of storage stay, rights that were granted on it do not. Raises StoreError if others use it.
    """
    await conn.execute("SELECT set_config('lock_timeout', %s, true)", (_LOCK_MS,))
    try:
        await _run(conn, "LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE", table)
    except psycopg.errors.LockNotAvailable:
        raise StoreError(f"another program uses the table {table}: run it again when backups are over") from None
    if not await fetch_value(conn, SQL["list_whole"], {"tables": [table]}):
        return
    indexes = await fetch_all(conn, str, SQL["list_indexes"], {"table": table})
    await _run(conn, "ALTER TABLE {table} RENAME TO {whole}", table)
    await _run(
        conn, "CREATE TABLE {table} (LIKE {whole} INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE (bucket)", table
    )
    for part in range(parts):
        await _run(
            conn,
            "CREATE TABLE {part} PARTITION OF {table} FOR VALUES FROM ({first}) TO ({end})",
            table,
            part=sql.Identifier(f"{table}_{part:02}"),
            first=sql.Literal(BUCKETS * part // parts) if part else sql.SQL("MINVALUE"),
            end=sql.Literal(BUCKETS * (part + 1) // parts) if part + 1 < parts else sql.SQL("MAXVALUE"),
        )
    for statement in await fetch_all(conn, str, SQL["list_settings"], {"table": table}):
        await conn.execute(statement.encode())
    await _copy(conn, table, show)
    await _run(conn, "DROP TABLE {whole}", table)
    for statement in indexes:
        await conn.execute(statement.encode())
    await _run(conn, "ANALYZE {table}", table)


async def count_divided(pool: Pool) -> None:
    """Counts the divided tables as a whole once a week (`ANALYZE`): the database counts each part alone by itself."""
    async with pool.reading() as conn:
        for table in await fetch_all(conn, str, SQL["list_uncounted"], {"tables": list(TABLES)}):
            await _run(conn, "ANALYZE {table}", table)


async def _copy(conn: Connection, table: str, show: Callable[[int], None]) -> None:
    """Copies the rows, in stretches of blocks; the table cannot grow any more."""
    blocks = int(await fetch_value(conn, SQL["count_blocks"], {"table": table}) or 0)
    for step in range(_STEPS):
        first, end = (sql.Literal(f"({blocks * number // _STEPS},0)") for number in (step, step + 1))
        copying: LiteralString = "INSERT INTO {table} SELECT * FROM {whole} WHERE ctid >= {first} AND ctid < {end}"
        await _run(conn, copying, table, first=first, end=end)
        show(step + 1)


async def _run(conn: Connection, statement: LiteralString, table: str, **more: Any) -> None:
    names = {"table": sql.Identifier(table), "whole": sql.Identifier(f"{table}_whole")}
    await conn.execute(sql.SQL(statement).format(**names, **more))
