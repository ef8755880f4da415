"""How many results a second a crawler elsewhere gets recorded: ``python -m benchmarks.central``.

Whole rounds of the real crawler without any network but that to its core, which is one web process: every check is
answered at once. Beside it the same rounds with the database at hand, in the same store. One law: both write the same.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmarks.storage import ALONE
from weboid.central.crawl.core import CrawlCore
from weboid.central.crawl.on_store import store_core
from weboid.central.crawl.remote import remote_core
from weboid.central.http.calling import open_caller
from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.crawl.round import Round
from weboid.feed.intake import page_urls
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded.server import open_server
from weboid.store.pages.page import record_pages
from weboid.store.pages.wiki import record_wiki
from weboid.wiki.source import PageLinks

_URLS_A_HOST: Final = 3
_LINKS_A_PAGE: Final = 1_000
_CONNECTIONS: Final = 1_000
_CONFIG: Final = CrawlConfig(delay=0.0)
_TOKEN: Final = "benchmark"
_SEEN: Final = Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, "https://www.example-host.demo/another", http=200)


async def main(urls: int, rounds: int, dsn: str) -> None:
    """Takes in the URLs, runs the rounds by turns, prints the rates."""
    rates: dict[str, list[float]] = {"here": [], "elsewhere": []}
    async with open_pool(dsn, size=4, part="benchmark") as pool:
        await _take_in(pool, urls)
        async with _serving(dsn) as core, open_caller(core, _TOKEN, "elsewhere") as caller:
            cores = {"here": store_core(pool, "here", _CONFIG, DEFAULT), "elsewhere": remote_core(caller)}
            await _rate(cores["here"], 100)  # the first checks of all write more than later ones
            day = 100
            for _ in range(rounds):
                for name, each in cores.items():
                    day += 30
                    rates[name].append(await _rate(each, day))
    here, elsewhere = (max(each) for each in rates.values())
    print(f"results/s: {elsewhere:,.0f} through one web process, {here:,.0f} at the database: {elsewhere / here:.2f}")


async def _rate(core: CrawlCore, day: int) -> float:
    """Results a second of one round."""

    async def ask(_: CheckRequest) -> Observation:
        return _SEEN

    begun = perf_counter()
    tally = await Round(
        core.work,
        ask,
        ALONE,
        now=partial(Moment, day),
        config=_CONFIG,
        connections=_CONNECTIONS,
        policy=DEFAULT,
    ).run()
    return tally.written / (perf_counter() - begun)


async def _take_in(pool: Pool, urls: int) -> None:
    async with pool.connection() as conn:
        await migrate(conn)
        wiki = await record_wiki(conn, WMFLABS, WikiName("testwiki", "wmflabs"))
    links = [f"http://host-{number // _URLS_A_HOST}.demo/path/{number}" for number in range(urls)]
    for page, start in enumerate(range(0, urls, _LINKS_A_PAGE), start=1):
        linked = PageLinks(page, 0, f"Page {page}", 1, None, tuple(sorted(links[start : start + _LINKS_A_PAGE])))
        async with pool.connection() as conn:
            await record_pages(conn, wiki.wiki, [page_urls(linked, WMFLABS)], 100)


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
            "WEBOID_CRAWL_DELAY": "0",
            "WEBOID_WEB_CRAWLERS": f"far:{sha256(_TOKEN.encode()).hexdigest()}",
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
    parser.add_argument("--urls", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_server(Path(folder)) as server:
        asyncio.run(main(given.urls, given.rounds, server.dsn))
