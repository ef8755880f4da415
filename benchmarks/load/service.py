"""The webservice in a process of its own: ``python -m benchmarks.load.service DSN URLS``.

It prints its address and runs until its stdin is closed. Its wikis are sources in the same process, so that what is
measured is ours: one has small pages, one fifty pages of 20,000 links each, and one never answers.
"""

import asyncio
import gc
import sys
from pathlib import Path
from typing import Final

from benchmarks.pages.seed import TODAY, World
from benchmarks.pages.service import InProcess, made
from weboid.cli.processes.process import run_async
from weboid.config import load_config
from weboid.core.document.card import CardText
from weboid.store.db.pool import open_pool
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.card import StoredCard
from weboid.web.app import make_app
from weboid.web.http.lanes import CONNECTIONS
from weboid.web.http.server import open_site
from weboid.wiki.source import PageLinks

SMALL, LARGE, SILENT = "smallwiki", "largewiki", "silentwiki"
PAGES: Final = 50
SMALL_PAGES: Final = 400
LINKS: Final = {SMALL: 20, LARGE: 20_000}
_SETTINGS: Final = {
    "WEBOID_WEB_RATE": "1000000000",
    "WEBOID_WEB_BURST": "1000000000",
    "WEBOID_WEB_PROXIES": "127.0.0.0/8",
}


LOOK_S: Final = 0.5
"""Of the made look at a URL for its card."""


async def _look(url: str, is_file: bool) -> StoredCard:
    await asyncio.sleep(LOOK_S)
    return StoredCard(CardText("A title", "Somebody", url[-200:], "en", 3, 20, 4), 200, is_whole=True)


def _pages(world: World, dbname: str, count: int) -> dict[int, PageLinks]:
    return made(world, dict.fromkeys(range(1, count + 1), LINKS[dbname]))


async def main(dsn: str, urls: int) -> None:
    world = World(urls)
    wikis = {
        SMALL: InProcess(_pages(world, SMALL, SMALL_PAGES)),
        LARGE: InProcess(_pages(world, LARGE, PAGES)),
        SILENT: InProcess({}),
    }
    gc.freeze()  # the wikis' pages would be no objects of the real service

    def source(wiki: StoredWiki) -> InProcess:
        return wikis[wiki.dbname]

    config = load_config(None, _SETTINGS, data=Path("."))
    async with open_pool(dsn, size=CONNECTIONS, part="web", statement_timeout_s=10) as pool:
        app = make_app(config, pool, today=lambda: TODAY, sources=source, look=_look)
        async with open_site(app, "127.0.0.1", 0) as url:
            print(url, flush=True)
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    run_async(main(sys.argv[1], int(sys.argv[2])))
