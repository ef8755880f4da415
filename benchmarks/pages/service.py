"""The webservice in a process of its own: ``python -m benchmarks.pages.service DSN URLS PAGES FEW``.

It runs until its stdin is closed and prints two addresses. At the first is the service, whose wiki is a source in the
same process that has every page at once, so that what is measured is ours. At the second, under ``/bare/NAME``, stands
the floor: aiohttp handlers that answer with bytes they were given by PUT, as JSON.
"""

import asyncio
import gc
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from aiohttp import web

from benchmarks.pages.seed import LINKS_A_PAGE, TODAY, World
from weboid.cli.processes.process import run_async
from weboid.config import load_config
from weboid.core.wikitext.titles import Namespace
from weboid.errors import SourceError, TooManyLinks
from weboid.feed.intake import SpamFilters
from weboid.remote.feed.calls import SpamLists
from weboid.store.db.pool import open_pool
from weboid.web.app import make_app
from weboid.web.http.server import open_site
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.source import ListedEdit, Members, PageLinks, RevisionText

FEW_LINKS: Final = 20
FEW_FROM: Final = 1_000_000
"""Pages from this id on have 20 links."""
_CONNECTIONS: Final = 8
_UNLIMITED: Final = {"WEBOID_WEB_RATE": "1000000000", "WEBOID_WEB_BURST": "1000000000"}


class InProcess:
    """A wiki whose pages are there at once; without pages, one that never answers."""

    def __init__(self, pages: Mapping[int, PageLinks]) -> None:
        self._pages = pages
        self.answered = 0
        self.interwiki: InterwikiMap | None = None

    async def find_interwiki(self) -> InterwikiMap:
        """The map of a wiki without prefixes."""
        return InterwikiMap(())

    async def find_pages(
        self, *, ids: Sequence[int] = (), titles: Sequence[str] = (), most_links: int | None = None
    ) -> list[PageLinks]:
        """The pages, all of which exist."""
        if not self._pages:
            await asyncio.Event().wait()
        self.answered += 1
        if most_links is not None and sum(len(self._pages[page].urls) for page in ids) > most_links:
            raise TooManyLinks("more links than a reader waits for")
        return [self._pages[page] for page in ids]

    async def find_titled(self, titles: Sequence[str], *, most_links: int | None = None) -> dict[str, PageLinks]:
        """The pages of these titles, each of which is `Page` and its number."""
        return {title: self._pages[int(title.removeprefix("Page "))] for title in titles}

    async def find_namespaces(self) -> Sequence[Namespace]:
        """Those that every wiki has."""
        return ()

    async def find_texts(self, revisions: Sequence[int]) -> dict[int, RevisionText]:
        """Nobody asks for texts."""
        return {}

    async def list_titles(self, beginning: str) -> list[str]:
        """Nobody types."""
        return []

    async def list_edits(self, page: int, first: int) -> list[ListedEdit]:
        """Nobody asks for edits."""
        return []

    async def list_members(self, category: str, *, place: str = "", limit: int = 500) -> Members:
        """Nobody asks for categories."""
        raise SourceError("there are no categories")

    async def close(self) -> None:
        """Nothing is open."""


def made(world: World, links: Mapping[int, int]) -> dict[int, PageLinks]:
    """Pages by id, with so many links each, drawn at random from all URLs."""
    return {
        page: PageLinks(page, 0, f"Page {page}", 1, None, tuple(sorted(str(world.url(n)) for n in numbers)))
        for page, count in links.items()
        for numbers in (world.numbers_of(page, count),)
    }


def links_of(page: int) -> int:
    return FEW_LINKS if page >= FEW_FROM else LINKS_A_PAGE


def _bare() -> web.Application:
    bodies: dict[str, bytes] = {}

    async def put(request: web.Request) -> web.Response:
        bodies[request.match_info["name"]] = await request.read()
        return web.Response(status=204)

    async def get(request: web.Request) -> web.Response:
        return web.Response(body=bodies[request.match_info["name"]], content_type="application/json")

    app = web.Application(client_max_size=1 << 24)
    app.router.add_put("/bare/{name}", put)
    app.router.add_get("/bare/{name}", get)
    return app


async def main(dsn: str, urls: int, pages: int, few: int) -> None:
    ids = (*range(1, pages + 1), *range(FEW_FROM, FEW_FROM + few))
    source = InProcess(made(World(urls), {page: links_of(page) for page in ids}))
    gc.freeze()  # the wiki's pages would be no objects of the real service
    config = load_config(None, _UNLIMITED, data=Path("."))
    async with open_pool(dsn, size=_CONNECTIONS, part="web") as pool:
        spam = SpamFilters(SpamLists(pool)).filter_of
        app = make_app(config, pool, today=lambda: TODAY, sources=lambda _: source, spam=spam)
        async with open_site(app, "127.0.0.1", 0) as ours, open_site(_bare(), "127.0.0.1", 0) as bare:
            print(ours, bare, flush=True)
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    run_async(main(sys.argv[1], *map(int, sys.argv[2:5])))
