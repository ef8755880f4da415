"""A store on several servers for tests: the one that ``WEBOID_TEST_CITUS`` names, emptied for each test."""

import os
from typing import Final

import psycopg
import pytest
from psycopg import sql

from weboid.store.db.migrate import migrate
from weboid.store.db.pool import open_pool
from weboid.store.upkeep.distribute import distribute

DSN: Final = os.environ.get("WEBOID_TEST_CITUS", "")
NEEDED: Final = pytest.mark.skipif(not DSN, reason="WEBOID_TEST_CITUS names no coordinator of Citus")
_tables: set[str] = set()
_TABLES: Final = """
SELECT oid::regclass::text FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
    AND relname NOT IN ('migration', 'citus_tables')
"""
_SEEDS: Final = """
INSERT INTO lease (bucket, epoch, worker, until) SELECT n, 0, '', '-infinity' FROM generate_series(0, 4095) AS n;
INSERT INTO settled DEFAULT VALUES;
"""


async def make() -> None:
    """Makes the store there, if it is not yet."""
    async with await psycopg.AsyncConnection.connect(DSN) as connection:
        await migrate(connection)
    async with open_pool(DSN, size=1, part="test") as pool:
        await distribute(pool)
        async with pool.connection() as conn:
            _tables.update([row[0] async for row in await conn.execute(_TABLES)])


def empty() -> None:
    """Leaves what a migrated store holds."""
    with psycopg.connect(DSN) as connection:
        tables = {row[0] for row in connection.execute(_TABLES)}
        for strange in tables - _tables:
            connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(strange)))
        names = sql.SQL(", ").join(map(sql.Identifier, tables & _tables))
        connection.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(names))
        connection.execute(_SEEDS)
