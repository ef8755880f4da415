"""A fail-over to a server that is read-only and back, as clients of a database see it."""

import psycopg
from psycopg import sql


async def set_read_only(database: str, *, is_on: bool) -> None:
    """From now on new sessions are read-only, or no longer; those that exist are ended."""
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
