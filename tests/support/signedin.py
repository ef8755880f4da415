"""For tests of what people do: the service of ``support/webservice``, a provider, and browsers that have signed in."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from support.oauthprovider import PUBLIC_URL, Browser, environ_at, open_browser
from support.ports import free_port
from support.webservice import Site, open_service

from weboid.demo.littleprovider import Editor, LittleProvider, open_littleprovider

HOSTILE_NAME = '<b onmouseover="alert(1)">&amp;'
EDITORS = (
    Editor(7, "Anna"),
    Editor(8, "Bert"),
    Editor(9, "New", editcount=3),
    Editor(10, HOSTILE_NAME),
    Editor(11, "Boss"),
)
BOSS = "11"


@dataclass
class People:
    """The service, the provider, and a way to let somebody in."""

    site: Site
    provider: LittleProvider
    stack: AsyncExitStack

    async def browser(self, name: str = "") -> Browser:
        """The browser of somebody who has signed in by this name, or of nobody."""
        browser = await self.stack.enter_async_context(open_browser(self.site.url))
        if name:
            assert (await browser.go(self.provider, name)).status == 303
        return browser

    async def later(self, seconds: int = 61) -> None:
        """As if so much time had gone by since all that people did."""
        async with self.site.wiki.pool.connection() as conn:
            await conn.execute("UPDATE audit SET moment = moment - make_interval(secs => %s)", (seconds,))


@asynccontextmanager
async def open_people(
    database: str, folder: Path, environ: Mapping[str, str] | None = None, *, real_address: bool = False
) -> AsyncIterator[People]:
    """All of it; nobody has signed in. For real browsers the service says with `real_address` where it really is."""
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(open_littleprovider(EDITORS))
        way = await stack.enter_async_context(aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()))
        given = {**environ_at(provider, administrators=BOSS), **(environ or {})}
        port = free_port() if real_address else 0
        address = f"http://127.0.0.1:{port}" if real_address else PUBLIC_URL
        provider.addresses.add(address + "/account/back")
        site = await stack.enter_async_context(
            open_service(database, folder, environ=given, way=way, public_url=address, port=port)
        )
        yield People(site, provider, stack)
