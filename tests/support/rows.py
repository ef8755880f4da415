"""All rows of a database, table by table, to compare two of them."""

from collections.abc import Collection

import psycopg
from psycopg import sql


async def all_rows(dsn: str, *, without: Collection[str] = ()) -> dict[str, list[str]]:
    """The rows of each table as text, sorted, as one snapshot has them."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        return await rows_of(connection, without=without)


async def rows_of(
    connection: "psycopg.AsyncConnection[tuple[object, ...]]", *, without: Collection[str] = ()
) -> dict[str, list[str]]:
    """The same as the transaction of a connection sees them."""
    names = await connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    return {str(name): await _rows(connection, str(name)) async for (name,) in names if name not in without}


async def _rows(connection: "psycopg.AsyncConnection[tuple[object, ...]]", table: str) -> list[str]:
    query = sql.SQL("SELECT every::text FROM {} AS every").format(sql.Identifier("public", table))
    return sorted([str(row[0]) async for row in await connection.execute(query)])
