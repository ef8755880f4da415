"""Rates of remote crawlers and feeders, in results and links a second.

``python -m benchmarks.remote [crawlers | feeders]``

Whole rounds of the real crawler, with checks that are answered at once, and batches of pages as a pass records them
(first all links are new, then every tenth one has changed): through one web process, and in turn with the database at
hand. Both write the same.
"""

import argparse
import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from hashlib import sha256
from time import perf_counter
from typing import Final

from benchmarks.harness import open_migrated, open_serve, take_in, temporary_store
from benchmarks.storage import UNPACED, run_round
from weboid.cli.days import clock
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.intake import page_urls
from weboid.remote.crawl.calls import CrawlStore, local_crawl_store, remote_crawl_store
from weboid.remote.feed.batches import JudgedPages, Move
from weboid.remote.feed.calls import FeedStore, local_feed_store
from weboid.remote.http.client import open_client
from weboid.remote.http.messages import FEEDERS
from weboid.remote.http.rpc import remote
from weboid.wiki.source import PageLinks

_URLS_A_HOST: Final = 3
_LINKS_A_PAGE: Final = 20
_PAGES_AT_ONCE: Final = 500
_TOKEN: Final = "benchmark"
_SEEN: Final = Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, "https://www.example-host.demo/another", http=200)

Rates = dict[str, list[float]]
"""A second, by what was recorded and whether ``here`` or ``remote``."""
Serve = Callable[..., AbstractContextManager[tuple[str, int]]]
"""Starts a web process, with these words of its command; gives its address."""


async def crawlers(dsn: str, serve: Serve, number: int, rounds: int) -> Rates:
    """Results a second of the rounds over so many URLs, each on a day of its own, here and in the web process."""
    rates: Rates = {}
    async with open_migrated(dsn) as pool:
        await take_in(pool, [f"http://host-{n // _URLS_A_HOST}.demo/path/{n}" for n in range(number)], 1_000)
        here = local_crawl_store(pool, "here", UNPACED, DEFAULT)
        await _results(here, 100)  # the first checks of all write more than later ones
        for day in range(130, 130 + 60 * rounds, 60):
            rates.setdefault("results, here", []).append(await _results(here, day))
            with serve("--day", str(day + 30)) as (url, _):
                async with open_client(url, _TOKEN, "remote") as caller:
                    rates.setdefault("results, remote", []).append(await _results(remote_crawl_store(caller), day + 30))
    return rates


async def _results(core: CrawlStore, day: int) -> float:
    async def ask(_: CheckRequest) -> Observation:
        return _SEEN

    return await run_round(core.work, ask, day)


async def feeders(dsn: str, serve: Serve, number: int, rounds: int) -> Rates:
    """Links a second of passes over so many, each round and place over a wiki of its own."""
    rates: Rates = {}
    with serve() as (url, _):
        async with open_migrated(dsn) as pool, open_client(url, _TOKEN, "remote", endpoint=FEEDERS) as caller:
            cores = {"here": local_feed_store(pool), "remote": remote(FeedStore, caller)}
            for turn in range(rounds):
                for place, core in cores.items():
                    for state, share in (("new links", 1.0), ("links, a tenth changed", 0.1)):
                        rate = await _links(core, f"w{turn}{place}wiki", number, share)
                        rates.setdefault(f"{state}, {place}", []).append(rate)
    return rates


async def _links(core: FeedStore, dbname: str, links: int, share: float) -> float:
    """Links a second of one pass. With a `share` below 1, of links that were recorded before so many are others."""
    wiki = await core.wikis.record(WMFLABS, WikiName(dbname, WMFLABS.name), None)
    day = clock(None)() - (share == 1.0)
    _, place = await core.passes.start(wiki.wiki, f"{share}", day)
    spent_s, pages = 0.0, links // _LINKS_A_PAGE
    for first in range(1, pages + 1, _PAGES_AT_ONCE):
        read = [_page(page, dbname, share) for page in range(first, min(first + _PAGES_AT_ONCE, pages + 1))]
        move = Move(place, place._replace(place=str(first)))
        begun = perf_counter()
        judged = JudgedPages([page_urls(each, WMFLABS) for each in read])
        assert await core.passes.record(wiki.wiki, judged, day, move)
        spent_s += perf_counter() - begun
        place = move.after
    return links / spent_s


def _page(page: int, dbname: str, share: float) -> PageLinks:
    changed = 0 if share == 1.0 else int(_LINKS_A_PAGE * share)
    urls = [
        f"http://host-{(page * _LINKS_A_PAGE + link) // 3}.demo/{dbname}/{page}/{link}{'/new' * (link < changed)}"
        for link in range(_LINKS_A_PAGE)
    ]
    return PageLinks(page, 0, f"Page {page}", 2 if changed else 1, None, tuple(urls))


_SIDES: Final = {"crawlers": (crawlers, 30_000), "feeders": (feeders, 100_000)}


def main() -> None:
    """Runs both sides, and prints the best of the rounds and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", nargs="*", choices=[[], *_SIDES], help="default: both")
    parser.add_argument("--number", type=int, help="of URLs or links instead of the usual one")
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    token = f"far:{sha256(_TOKEN.encode()).hexdigest()}"
    settings = {"WEBOID_CRAWL_DELAY": "0", "WEBOID_WEB_CRAWLERS": token, "WEBOID_WEB_FEEDERS": token}
    for side in given.side or _SIDES:
        measure, usual = _SIDES[side]
        with temporary_store() as dsn:
            rates = asyncio.run(measure(dsn, partial(open_serve, dsn, **settings), given.number or usual, given.rounds))
        best = {name: max(each) for name, each in rates.items()}
        for name in dict.fromkeys(name.rpartition(", ")[0] for name in best):
            here, far = best[f"{name}, here"], best[f"{name}, remote"]
            print(f"{name} a second: {far:,.0f} through one web process, {here:,.0f} at the database: {far / here:.2f}")


if __name__ == "__main__":
    main()
