"""How many links a second a feeder elsewhere gets recorded: ``python -m benchmarks.feeders``.

Batches of pages as a pass records them, through one web process; beside it the same with the database at hand. First
all links are new, then every tenth one has changed. One law: both write the same rows to databases of their own.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Final

from weboid.central.feed.feed_core import FeedCore, JudgedPages, Move
from weboid.central.feed.feed_on_store import store_feed
from weboid.central.feed.feed_remote import remote_feed
from weboid.central.http.calling import open_caller
from weboid.central.http.entrance import FEEDERS
from weboid.cli.days import clock
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.intake import page_urls
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import open_pool
from weboid.store.embedded.server import open_server
from weboid.wiki.source import PageLinks

_LINKS_A_PAGE: Final = 20
_PAGES: Final = 500
_TOKEN: Final = "benchmark"


async def main(links: int, rounds: int, dsn: str) -> None:
    """Records the links by turns, prints the rates."""
    async with open_pool(dsn, size=4, part="benchmark") as pool:
        async with pool.connection() as conn:
            await migrate(conn)
        rates: dict[str, list[float]] = {}
        async with _serving(dsn) as url, open_caller(url, _TOKEN, "elsewhere", entrance=FEEDERS) as caller:
            cores = {"at the database": store_feed(pool), "through one web process": remote_feed(caller)}
            for number in range(rounds):
                for name, core in cores.items():
                    wiki = f"w{number}{'far' if name.startswith('through') else 'near'}wiki"
                    for state, share in (("new", 1.0), ("a tenth changed", 0.1)):
                        rates.setdefault(f"{state}, {name}", []).append(await _rate(core, wiki, links, share))
    for name, each in sorted(rates.items()):
        print(f"{name}: {max(each):,.0f} links/s")


async def _rate(core: FeedCore, dbname: str, links: int, share: float) -> float:
    """Links a second of one pass. With a `share` below 1, of links that were recorded before so many are others."""
    wiki = await core.wikis.record(WMFLABS, WikiName(dbname, WMFLABS.name), None)
    day = _today() - (share == 1.0)
    _, place = await core.passes.start(wiki.wiki, f"{share}", day)
    spent_s, pages = 0.0, links // _LINKS_A_PAGE
    for first in range(1, pages + 1, _PAGES):
        read = [_page(page, dbname, share) for page in range(first, min(first + _PAGES, pages + 1))]
        move = Move(place, place._replace(place=str(first)))
        begun = perf_counter()
        judged = JudgedPages([page_urls(each, WMFLABS) for each in read])
        assert await core.passes.record(wiki.wiki, judged, day, move)
        spent_s += perf_counter() - begun
        place = move.after
    return links / spent_s


def _today() -> int:

    return clock(None)()


def _page(page: int, dbname: str, share: float) -> PageLinks:
    changed = 0 if share == 1.0 else int(_LINKS_A_PAGE * share)
    urls = [
        f"http://host-{(page * _LINKS_A_PAGE + link) // 3}.demo/{dbname}/{page}/{link}{'/new' * (link < changed)}"
        for link in range(_LINKS_A_PAGE)
    ]
    return PageLinks(page, 0, f"Page {page}", 2 if changed else 1, None, tuple(urls))


@asynccontextmanager
async def _serving(dsn: str) -> AsyncIterator[str]:
    """One web process; its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "weboid", "serve", "--port", "0"),
        stderr=asyncio.subprocess.PIPE,
        env={
            **os.environ,
            "WEBOID_DATABASE": dsn,
            "WEBOID_WEB_FEEDERS": f"far:{sha256(_TOKEN.encode()).hexdigest()}",
        },
    )
    try:
        assert process.stderr
        while b" answers at " not in (line := await process.stderr.readline()):
            assert line, "the web process has ended"
        yield line.decode().rpartition(" at ")[2].strip()
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_server(Path(folder)) as server:
        asyncio.run(main(given.links, given.rounds, server.dsn))
