from collections.abc import AsyncIterator

import pytest
from support.archives import MadeArchive, open_made_archive, plays


@pytest.fixture
async def archive() -> AsyncIterator[MadeArchive]:
    async with open_made_archive(usual=plays) as made:
        yield made
