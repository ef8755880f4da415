"""Fixtures: the webservice to which these tests send requests.

One law: a test never sees what another one wrote. One that only reads leaves the service to the next of its module.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import pytest
import pytest_asyncio
from support.people import Browser, People, open_browser, open_people
from support.webservice import FixedSource, Site, open_service

_HERE = Path(__file__).parent
_CHANGING = {"monkeypatch", "caplog"}
"""Fixtures of tests that change, or look at, more of the process than the service."""


@dataclass
class _Kept:
    """The service of a module, if one is open, and the state of its source when nobody had changed it."""

    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    database: str = ""
    site: Site | None = None
    source: FixedSource = field(default_factory=FixedSource)
    client: object = None

    async def open(self, database: str, folder: Path) -> Site:
        if self.site is None or self.database != database:
            await self.close()
            self.database, self.site = database, await self.stack.enter_async_context(open_service(database, folder))
            self.source = deepcopy(self.site.source)
            self.client = self.site.client
        self.site.source.asked = 0
        return self.site

    async def close(self) -> None:
        await self.stack.aclose()
        self.site = None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the service run on the loop of its module, on which the service does."""
    for item in items:
        if item.path.is_relative_to(_HERE) and isinstance(item, pytest.Function) and "site" in item.fixturenames:
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept_site() -> AsyncIterator[_Kept]:
    """The service that the tests of a module share."""
    kept = _Kept()
    yield kept
    await kept.close()


@pytest_asyncio.fixture(loop_scope="module")
async def site(
    site_database: str, kept_site: _Kept, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Site]:
    is_changing = bool(_CHANGING & set(request.fixturenames))
    if is_changing:
        await kept_site.close()
    site = await kept_site.open(site_database, tmp_path)
    before = await _next_transaction(site)
    yield site
    is_same = replace(site.source, asked=0) == kept_site.source and site.client is kept_site.client
    if is_changing or not is_same or await _next_transaction(site) != before:
        await kept_site.close()


@pytest_asyncio.fixture(loop_scope="module")
async def browser(site: Site) -> AsyncIterator[Browser]:
    """A browser that has sent nothing yet."""
    async with open_browser(site.url) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def own_site(site_database: str, tmp_path: Path) -> AsyncIterator[Site]:
    """A service of which nobody has asked anything."""
    async with open_service(site_database, tmp_path) as site:
        yield site


@pytest.fixture
async def trusting(site_database: str, tmp_path: Path) -> AsyncIterator[Site]:
    """A service that trusts the client ``ours``, whose token is ``known``."""
    tokens = f"ours:{sha256(b'known').hexdigest()}"
    async with open_service(site_database, tmp_path, environ={"WEBOID_WEB_TOKENS": tokens}) as service:
        yield service


@pytest.fixture
async def people(site_database: str, tmp_path: Path) -> AsyncIterator[People]:
    """The service with a provider; nobody has signed in."""
    async with open_people(site_database, tmp_path) as opened:
        yield opened


async def _next_transaction(site: Site) -> object:
    """The number of the server's next transaction that writes; another one if the store does not answer."""
    if site.wiki.pool.closed:
        return None
    return await site.wiki.rows("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
