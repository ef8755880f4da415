"""Databases that only read (a hot standby, a fail-over to a copy), and transactions that only read."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from weboid.store.db.pool import Connection, Pool


async def is_read_only(pool: Pool) -> bool:
    """Whether nothing can be written there now; on a hot standby PostgreSQL says so, too. Raises StoreAway."""
    async with pool.connection() as conn:
        return await (await conn.execute("SHOW transaction_read_only")).fetchone() == ("on",)


@asynccontextmanager
async def one_moment(pool: Pool) -> AsyncIterator[Connection]:
    """Lends a connection whose statements all see the database as it is at the first of them. Raises StoreAway."""
    async with pool.connection() as conn:
        await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield conn
