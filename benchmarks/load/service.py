"""The webservice in processes of their own: ``python -m benchmarks.load.service DSN URLS WORKERS``.

It prints two addresses and runs until its stdin is closed. At the first is the service, whose wikis are sources in the
same process, so that what is measured is ours: one has small pages, one fifty pages of 20,000 links each, and one never
answers. At the second is the control, an aiohttp handler that does nothing. `WORKERS` processes share both sockets.
"""

import asyncio
import gc
import os
import sys
from pathlib import Path
from socket import socket
from typing import Final

from aiohttp import web

from benchmarks.pages.seed import TODAY, World
from benchmarks.pages.service import InProcess, made
from weboid.cli.processes.process import run_async
from weboid.config import load_config
from weboid.core.document.card import CardText
from weboid.store.db.pool import open_pool
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.card import StoredCard
from weboid.web.app import make_app
from weboid.web.health.worker_share import FOLDER_VARIABLE, WorkerShare
from weboid.web.http.lanes import CONNECTIONS
from weboid.web.http.listening import url_of
from weboid.web.http.server import open_site
from weboid.wiki.source import PageLinks

SMALL, LARGE, SILENT = "smallwiki", "largewiki", "silentwiki"
PAGES: Final = 50
SMALL_PAGES: Final = 400
LINKS: Final = {SMALL: 20, LARGE: 20_000}
_SETTINGS: Final = {"WEBOID_WEB_PROXIES": "127.0.0.0/8"}
_LOOK_S: Final = 0.5
"""Of the made look at a URL for its card."""


async def _look(url: str, is_file: bool) -> StoredCard:
    await asyncio.sleep(_LOOK_S)
    return StoredCard(CardText("A title", "Somebody", url[-200:], "en", 3, 20, 4), 200, is_whole=True)


async def _nothing(_: web.Request) -> web.Response:
    return web.Response(text="nothing\n")


def _pages(world: World, dbname: str, count: int) -> dict[int, PageLinks]:
    return made(world, dict.fromkeys(range(1, count + 1), LINKS[dbname]))


async def main(dsn: str, urls: int, listeners: list[socket], share: WorkerShare | None) -> None:
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
    bare = web.Application()
    bare.router.add_get("/nothing", _nothing)
    ours, control = ([each] for each in listeners)
    async with open_pool(dsn, size=CONNECTIONS, part="web", statement_timeout_s=10) as pool:
        app = make_app(config, pool, today=lambda: TODAY, sources=source, look=_look, share=share)
        async with open_site(app, "", 0, listeners=ours), open_site(bare, "", 0, listeners=control):
            if share is None or share.number == 1:
                print(*map(url_of, listeners), flush=True)
            await asyncio.to_thread(sys.stdin.read)


def _listener() -> socket:
    made = socket()
    made.bind(("127.0.0.1", 0))
    made.listen(4_096)
    return made


if __name__ == "__main__":
    _listeners, _number = [_listener(), _listener()], 1
    while _number < int(sys.argv[3]) and os.fork() == 0:
        _number += 1
    _share = WorkerShare(Path(os.environ[FOLDER_VARIABLE]), _number) if FOLDER_VARIABLE in os.environ else None
    if _share is not None:
        _share.take(os.getpid())
    run_async(main(sys.argv[1], int(sys.argv[2]), _listeners, _share))
