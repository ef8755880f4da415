from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.gadget import GadgetWiki
from support.gadget_repairs import open_gadget
from support.mediawiki import MediaWiki


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gadget(
    wiki: MediaWiki, module_database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[GadgetWiki]:
    """The gadget on the wiki of the module, and Weboid."""
    async with open_gadget(wiki, module_database, tmp_path_factory.mktemp("gadget")) as gadget:
        yield gadget
