"""Links that come after their page is marked as changed, or without a mark, on a real MediaWiki (P-5).

An edit of a template is followed by two jobs: one marks the pages that use it, a later one brings their links.
"""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime

import aiohttp
import pytest
from support.mediawiki import MediaWiki, make_mediawiki
from support.stored import do

from weboid.core.record.days import day_of
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.page_pass import PagePass
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import open_pool
from weboid.store.pages.page import Intake
from weboid.store.pages.page_pass import SWEEP_DAYS
from weboid.store.pages.wiki import find_wiki, record_wiki
from weboid.wiki.api import ApiSource
from weboid.wiki.criteria import read_criteria

pytestmark = pytest.mark.long

_NAME = WikiName("testwiki", "wmflabs")
_OLD, _NEW = "https://harbour.org/old", "https://harbour.org/new"
_TODAY = day_of(datetime.now(UTC))


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    """A wiki with a template that has a link, and pages that use it; all jobs are done."""
    with make_mediawiki() as made:
        made.save_pages({"Template:Source": _OLD, **{f"Quay {number}": "{{Source}}" for number in range(4)}})
        made.run("runJobs")
        made.start()
        yield made


@asynccontextmanager
async def _passes(wiki: MediaWiki, dsn: str) -> AsyncIterator[Callable[[int], Awaitable[Intake]]]:
    async with open_pool(dsn, size=2, part="test") as pool, aiohttp.ClientSession() as session:
        await do(pool, record_wiki, WMFLABS, _NAME)
        source = ApiSource(wiki.api, session, user_agent="Weboid-test")

        async def passed(day: int) -> Intake:
            stored = await do(pool, find_wiki, WMFLABS, _NAME)
            assert stored
            criteria = read_criteria({"namespaces": [0]}, {})
            core = local_feed_store(pool)
            done = PagePass(
                core,
                source,
                stored,
                WMFLABS,
                criteria,
                today=lambda: day,
                now=lambda: datetime.now(UTC),
                untouched_days=90,
            )
            return (await done.run()).intake

        yield passed


@pytest.mark.parametrize("order", [["htmlCacheUpdate", "refreshLinks"], ["refreshLinks", "htmlCacheUpdate"]])
async def test_links_that_come_after_their_page_is_marked_are_taken_in(
    wiki: MediaWiki, database: str, order: list[str]
) -> None:
    wiki.save("Template:Source", _OLD)
    wiki.run("runJobs")
    async with _passes(wiki, database) as passed:
        await passed(_TODAY)
        wiki.save("Template:Source", f"{_OLD} {_NEW}")
        came = []
        for day, kind in enumerate(order, _TODAY + 1):
            wiki.run("runJobs", f"--type={kind}")
            came.append((await passed(day)).links_new)
        wiki.run("runJobs")
        came.append((await passed(_TODAY + 3)).links_new)
        assert sum(came) == 4


async def test_links_that_come_without_a_mark_are_taken_in_by_the_slow_sweep(wiki: MediaWiki, database: str) -> None:
    async with _passes(wiki, database) as passed:
        pages = (await passed(_TODAY)).pages
        # A week later no page is read for its new mark any more.
        await passed(_TODAY + 8)
        with closing(sqlite3.connect(wiki.database)) as connection, connection:
            connection.execute("UPDATE externallinks SET el_to_path = '/by-hand' WHERE el_to_path = '/old'")
        swept = [await passed(_TODAY + 8 + days) for days in range(30, SWEEP_DAYS + 1, 30)]
        assert sum(each.pages for each in swept) == pages
        assert sum(each.links_new for each in swept) == 4
