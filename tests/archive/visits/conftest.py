"""The archive that visits go to."""

from collections.abc import AsyncIterator

import pytest
from support.little_archive import LittleArchive, open_little_archive


@pytest.fixture
async def archive() -> AsyncIterator[LittleArchive]:
    async with open_little_archive() as little:
        yield little
