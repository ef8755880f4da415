from collections.abc import AsyncIterator

import pytest

from weboid.store.db.pool import Pool, open_pool


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    """Connections to an empty store."""
    async with open_pool(database, size=8, part="test") as opened:
        yield opened
