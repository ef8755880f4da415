from collections.abc import AsyncIterator

import pytest

from weboid.store.db.pool import Connection, Pool


@pytest.fixture
async def conn(pool: Pool) -> AsyncIterator[Connection]:
    async with pool.connection() as connection:
        yield connection
