"""The sessions that programs of Weboid have at a database."""

import asyncio

import psycopg

_OPEN = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'weboid%' AND datname = current_database()"


async def until_no_session(database: str, limit_s: float = 30) -> None:
    """Waits until no program of Weboid has a session any more; raises TimeoutError."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        async with asyncio.timeout(limit_s):
            while await (await connection.execute(_OPEN)).fetchone():
                await asyncio.sleep(0.05)
