from collections.abc import AsyncIterator

import pytest
from support.stored import WikiInStore, open_wiki

from weboid.store.db.pool import Connection, Pool, open_pool


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with open_pool(database, size=8, part="test") as opened:
        yield opened


@pytest.fixture
async def conn(pool: Pool) -> AsyncIterator[Connection]:
    async with pool.connection() as connection:
        yield connection


@pytest.fixture
async def stored(database: str) -> AsyncIterator[WikiInStore]:
    """The same with one wiki, which has no pages yet."""
    async with open_wiki(database, {}) as wiki:
        yield wiki
