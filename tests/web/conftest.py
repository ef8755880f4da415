"""Fixtures: the webservice to which these tests send requests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.webservice import Site, open_service


@pytest.fixture
async def site(site_database: str, tmp_path: Path) -> AsyncIterator[Site]:
    """The service, ready to be asked."""
    async with open_service(site_database, tmp_path) as service:
        yield service
