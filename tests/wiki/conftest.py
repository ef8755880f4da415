from collections.abc import AsyncIterator

import aiohttp
import pytest
from support.mariadb import mariadb_server

__all__ = ["mariadb_server"]


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as opened:
        yield opened
