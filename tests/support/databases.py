"""What tests do to whole databases: compare all of their rows, turn them read-only, wait until nobody is connected."""

import asyncio
from collections.abc import Collection

import psycopg
from psycopg import sql

_OPEN = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'weboid%' AND datname = current_database()"
LOCKED_OUT = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


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


async def found_in(dsn: str, query: str, *given: object) -> list[tuple[object, ...]]:
    """The rows of a query, in a transaction of its own."""
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        return await (await connection.execute(query.encode(), given or None)).fetchall()


async def set_read_only(database: str, *, is_on: bool) -> None:
    """As a fail-over does: from now on new sessions are read-only, or no longer; those that exist are ended."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        await connection.execute("SET default_transaction_read_only = off")
        name = sql.Identifier(connection.info.dbname)
        await connection.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}").format(name, is_on)
        )
        await connection.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def until_no_session(database: str, limit_s: float = 30) -> None:
    """Waits until no program of Weboid has a session any more; raises TimeoutError."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        async with asyncio.timeout(limit_s):
            while await (await connection.execute(_OPEN)).fetchone():
                await asyncio.sleep(0.05)


async def until_locked_out(database: str, count: int = 1) -> None:
    """Waits until so many sessions wait for locks; raises TimeoutError."""
    async with asyncio.timeout(60), await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        while (await connection.execute(LOCKED_OUT)).rowcount < count:
            await asyncio.sleep(0.01)
