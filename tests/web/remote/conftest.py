from collections.abc import AsyncIterator

import pytest
from support.remote import open_server
from support.stored import WikiInStore, open_wiki


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[WikiInStore]:
    async with open_wiki(database, {1: ["http://a.demo/"]}) as wiki:
        yield wiki


@pytest.fixture
async def server(wiki: WikiInStore) -> AsyncIterator[str]:
    async with open_server(wiki.pool) as url:
        yield url
