"""A pool whose idle connections were all cut off: by a restart, a fail-over, or a proxy that closes what is idle."""

import asyncio
from contextlib import AsyncExitStack

import psycopg

from weboid.store.db.pool import Pool, open_pool


async def _fill(pool: Pool, count: int) -> list[int]:
    """Lets the pool have so many connections; returns the server's processes."""
    async with AsyncExitStack() as stack:
        lent = [await stack.enter_async_context(pool.connection()) for _ in range(count)]
        return [connection.info.backend_pid for connection in lent]


async def test_one_that_was_cut_off_tells_of_all_so_that_nobody_pauses_for_each(database: str) -> None:
    # After the second one that it finds, psycopg_pool pauses for a second, then for two, four, eight …
    async with open_pool(database, size=6, timeout_s=2.5) as pool:
        for borrowers in (1, 4):
            pids = await _fill(pool, 6)
            async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
                await connection.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s) pid", (pids,))

            async def ask() -> None:
                async with pool.connection() as connection:
                    await connection.execute("SELECT 1")

            async with asyncio.timeout(20):
                await asyncio.gather(*(ask() for _ in range(borrowers)))
