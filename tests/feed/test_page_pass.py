"""Passes over a wiki: what is met, read, released, and what happens when they are broken off (P-4, P-5, P-7, P-9). The
same real wiki leaves the same tables whether a pass over its API feeds it or an import of its dumps (L-2). That a
replica says what the dumps say is shown in tests/wiki.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TypeVar

import aiohttp
import pytest
from support.database_proxy import open_database_proxy
from support.killing import open_killer, twice
from support.realsources import dump_source, open_real_api, real_wiki
from support.stored import do, key
from support.wiki_edits import record_edit

from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.demo.littlewiki import LittleWiki, open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.errors import SourceError
from weboid.feed.page_pass import PageFate, PagePass, PassProgress, fate_of, is_swept
from weboid.feed.sweep import take_in
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import Again, again_until, at_once
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.page_pass import SWEEP_DAYS, PageRecord, PassPosition, record_place, record_start
from weboid.store.pages.pending import record_asked
from weboid.store.pages.wiki import StoredWiki, list_wikis, record_wiki
from weboid.wiki.api import ApiSource
from weboid.wiki.criteria import Criteria, read_criteria
from weboid.wiki.source import PageState, WikiSource

PAGES = 12
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
_T = TypeVar("_T")


def page(number: int, *urls: str, namespace: int = 0, title: str = "") -> WikiPage:
    links = tuple(WikiLink(url, url) for url in urls)
    return WikiPage(number, title or f"Page {number:02}", links=links, namespace=namespace, revision=number)


def small_wiki() -> list[WikiPage]:
    """Twelve articles with two links each, one of them common to all."""
    return [page(number, f"http://site{number}.demo/", "http://common.demo/") for number in range(1, PAGES + 1)]


async def pass_over(
    pool: Pool,
    source: WikiSource,
    wiki: StoredWiki,
    criteria: Criteria,
    day: int,
    now: datetime = NOW,
    again: Again = at_once,
) -> PassProgress:
    core, today = local_feed_store(pool), lambda: day
    whole = PagePass(
        core, source, wiki, WMFLABS, criteria, today=today, now=lambda: now, untouched_days=90, again=again
    )
    return await whole.run()


class Fed:
    """A little wiki next to a store that passes are made into."""

    def __init__(self, pool: Pool, wiki: StoredWiki, little: LittleWiki, source: ApiSource) -> None:
        self.pool, self.wiki, self.little, self.source = pool, wiki, little, source

    async def passed(
        self, day: int, without: dict[str, object] | None = None, now: datetime = NOW, **matching: object
    ) -> PassProgress:
        criteria = read_criteria(matching, without or {})
        return await pass_over(self.pool, self.source, self.wiki, criteria, day, now)

    async def rows(self, query: str) -> list[tuple[object, ...]]:
        async with self.pool.connection() as conn:
            return sorted(await (await conn.execute(query.encode())).fetchall())

    async def watched(self) -> list[object]:
        return [row[0] for row in await self.rows("SELECT page FROM page")]

    async def tables(self) -> dict[str, list[tuple[object, ...]]]:
        queries = {
            "page": "SELECT page, namespace, title, latest, mark, urls, touched, flagged FROM page",
            "link": "SELECT page, bucket, host_key, url_key FROM link",
            "url": "SELECT bucket, host_key, url_key, path, due, orphaned FROM url",
            "host": "SELECT bucket, host_key, host, next_day FROM host",
            "pass": "SELECT step FROM pass",
            "wiki": "SELECT dbname, passed, pass_days FROM wiki",
        }
        return {name: await self.rows(query) for name, query in queries.items()}

    def asked_for_links(self) -> int:
        return sum("extlinks" in question.get("prop", "") for question in self.little.asked)


@asynccontextmanager
async def fed(dsn: str, pages: Iterable[WikiPage] = ()) -> AsyncIterator[Fed]:
    async with (
        open_pool(dsn, size=3, part="test") as pool,
        open_littlewiki(pages or small_wiki()) as little,
        aiohttp.ClientSession() as session,
    ):
        wiki = await do(pool, record_wiki, WMFLABS, WikiName("demowiki", "wmflabs"))
        yield Fed(pool, wiki, little, ApiSource(little.api_url, session, user_agent="Weboid-test"))


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[Fed]:
    async with fed(database) as opened:
        yield opened


async def test_a_pass_takes_in_all_pages_and_the_next_one_reads_no_links(wiki: Fed) -> None:
    done = await wiki.passed(100)
    assert (done.met, done.intake.pages_new, done.intake.links_new, done.intake.urls_new) == (12, 12, 24, 13)
    asked = wiki.asked_for_links()
    again = await wiki.passed(107)
    assert (again.met, again.walked, again.intake.pages) == (12, 12, 0)
    assert wiki.asked_for_links() == asked
    assert {row[0] for row in await wiki.rows("SELECT touched FROM page")} == {107}
    assert await wiki.rows("SELECT passed, pass_days FROM wiki") == [(107, 0)]


async def test_a_pass_whose_end_was_stored_and_not_confirmed_is_no_new_pass(database: str) -> None:
    """The connection is lost at the commit of its end, whose answer never comes."""
    patient = again_until(asyncio.Event(), Disturbance(logging.getLogger("test"), "away"))
    steps = 0

    with open_database_proxy(database) as proxy:
        async with fed(proxy.dsn) as wiki:

            async def heal() -> None:
                while not proxy.is_cut:
                    await asyncio.sleep(0.01)
                assert await _pass_rows(database) == 0
                proxy.heal()

            async def again(step: Callable[[], Awaitable[_T]], /) -> _T:
                nonlocal steps
                steps += 1
                if steps == 2:
                    proxy.cut_at(b"COMMIT", is_passed=True)
                    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
                        group.create_task(heal())
                        return await patient(step)
                return await patient(step)

            await pass_over(wiki.pool, wiki.source, wiki.wiki, read_criteria({}, {}), 100, again=again)
            assert steps == 2
            assert await wiki.rows("SELECT passed, pass_days FROM wiki") == [(100, 0)]
            assert await wiki.rows("SELECT wiki FROM pass") == []
            assert len(await wiki.watched()) == PAGES


async def _pass_rows(dsn: str) -> int:
    async with open_pool(dsn, size=1) as pool, pool.connection() as conn:
        row = await (await conn.execute("SELECT count(*) FROM pass")).fetchone()
    return int(row[0]) if row else 0


@pytest.mark.parametrize(("minutes", "there"), [(1, True), (-1, False)])
async def test_a_link_of_an_event_after_what_a_pass_reads_survives_it(wiki: Fed, minutes: int, there: bool) -> None:
    await wiki.passed(100)
    new = parse("http://new.demo/")
    event = PageChanges(added={3: ({key_of(new): new}, {})}, added_at={3: NOW + timedelta(minutes=minutes)})
    await do(wiki.pool, record_intake, {wiki.wiki.wiki: event}, 103)
    await wiki.passed(107)
    assert bool(await wiki.rows("SELECT FROM link JOIN host USING (bucket, host_key) WHERE host = 'new.demo'")) is there
    if there:
        # Later than the event, a pass reads the page whatever its mark says.
        wiki.little.pages["Page 03"] = replace(wiki.little.pages["Page 03"], links=())
        await wiki.passed(114, now=NOW + timedelta(hours=1))
        assert not await wiki.rows("SELECT FROM link WHERE page = 3")


async def test_only_pages_that_changed_are_read_again(wiki: Fed) -> None:
    await wiki.passed(100)
    record_edit(wiki.little, "Page 03", [WikiLink("http://new.demo/", "new")])
    done = (await wiki.passed(107)).intake
    assert (done.pages, done.pages_changed, done.links_new, done.links_gone) == (1, 1, 1, 2)
    orphans = await wiki.rows("SELECT host FROM url JOIN host USING (bucket, host_key) WHERE orphaned = 107")
    assert orphans == [("site3.demo",)]


async def test_deleted_and_other_pages_are_released_however_often_they_are_requested(wiki: Fed) -> None:
    await wiki.passed(100)
    del wiki.little.pages["Page 01"]
    wiki.little.pages["Page 02"] = replace(wiki.little.pages["Page 02"], model="javascript")
    await do(wiki.pool, record_asked, wiki.wiki.wiki, [1, 2, 3], 107)
    assert (await wiki.passed(107)).intake.pages_gone == 2
    assert await wiki.watched() == [*range(3, 13)]
    assert not await wiki.rows("SELECT FROM link WHERE page IN (1, 2)")


async def test_an_excluded_page_ages_unread_as_any_that_matches_no_more_and_goes_though_it_is_requested(
    wiki: Fed,
) -> None:
    without: dict[str, object] = {"pages": ["Page 05", "Page 06"]}
    await wiki.passed(100)
    record_edit(wiki.little, "Page 05", [WikiLink("http://new.demo/", "new")])
    assert (await wiki.passed(107, without)).intake == Intake()
    assert await wiki.rows("SELECT page, touched FROM page WHERE touched < 107") == [(5, 100), (6, 100)]
    # One pass without it, and it is as before; its edit is taken in then.
    done = (await wiki.passed(114, {"pages": ["Page 06"]})).intake
    assert (done.pages_new, done.links_new, done.links_gone) == (0, 1, 2)
    for day in range(121, 205, 7):
        await do(wiki.pool, record_asked, wiki.wiki.wiki, [5, 6], day)
        gone = 6 if day > 190 else None
        await wiki.passed(day, without)
        assert await wiki.watched() == [page for page in range(1, 13) if page != gone], day
    await wiki.passed(205, without)
    assert await wiki.watched() == [*range(1, 5), *range(7, 13)]


async def test_what_matches_no_more_is_kept_for_months_and_still_read(database: str) -> None:
    async with fed(database, [*small_wiki(), page(20, "http://talk.demo/", namespace=1, title="Talk:A")]) as wiki:
        await wiki.passed(100, namespaces=[0, 1])
        await wiki.passed(110)
        assert 20 in await wiki.watched()
        record_edit(wiki.little, "Talk:A", [WikiLink("http://other.demo/", "other")])
        assert (await wiki.passed(120)).intake.links_new == 1
        assert await wiki.rows("SELECT touched FROM page WHERE page = 20") == [(100,)]
        assert (await wiki.passed(191)).intake.pages_gone == 1
        assert 20 not in await wiki.watched()


async def test_a_wiki_that_lists_nothing_releases_nothing(wiki: Fed) -> None:
    await wiki.passed(100)
    wiki.little.pages.clear()
    with pytest.raises(SourceError, match="nothing was released"):
        await wiki.passed(107)
    assert len(await wiki.watched()) == PAGES
    assert await wiki.rows("SELECT passed FROM wiki") == [(100,)]


async def test_a_pass_under_other_criteria_begins_anew(wiki: Fed) -> None:
    async with wiki.pool.connection() as conn:
        await record_start(conn, wiki.wiki.wiki, "another plan", 90)
        await record_place(conn, wiki.wiki.wiki, PassPosition(), PassPosition(1, "7"))
    assert (await wiki.passed(100)).met == PAGES
    async with wiki.pool.connection() as conn:
        assert [stored.passed for stored in await list_wikis(conn)] == [100]


async def killed_pass(dsn: str) -> None:
    """What a process does before it is killed: two passes over a wiki that is edited between them."""
    async with fed(dsn) as wiki:
        if await wiki.rows("SELECT FROM wiki WHERE passed IS NULL"):
            await wiki.passed(100)
        edit(wiki.little)
        await wiki.passed(107)


def edit(little: LittleWiki) -> None:
    record_edit(little, "Page 03", [WikiLink("http://new.demo/", "new"), WikiLink("http://common.demo/", "common")])
    del little.pages["Page 07"]
    little.pages["Page 13"] = page(13, "http://site13.demo/")


@pytest.mark.timeout(300)
async def test_a_pass_killed_again_and_again_ends_as_an_undisturbed_one(database: str, second_database: str) -> None:
    await killed_pass(second_database)
    kills = 0
    # The number grows: with the same one, a pass could be killed in the same step for ever.
    async with open_killer(killed_pass, database) as is_done_before:
        while not await is_done_before(5 + 8 * kills):
            kills += 1
    assert kills >= 4
    async with fed(database) as wiki, fed(second_database) as other:
        assert await wiki.tables() == await other.tables()
        assert key("http://new.demo/").url_key in {row[3] for row in (await wiki.tables())["link"]}


@pytest.mark.parametrize(
    ("touched", "flagged", "state", "fate"),
    [
        (100, False, None, PageFate.KEPT),
        (100, True, None, PageFate.READ),
        (99, False, None, PageFate.RELEASED),
        (99, False, PageState(1, 1, "A", 1, 7), PageFate.KEPT),
        (99, True, PageState(1, 1, "A", 1, 7), PageFate.READ),
        (99, False, PageState(1, 1, "A", 2, 8), PageFate.READ),
        (99, False, PageState(1, 1, "A", 2, None), PageFate.READ),
        (99, False, PageState(1, 1, "A", 1, 7, "json"), PageFate.RELEASED),
        (99, False, PageState(1, 1, "A", 1, 8, redirect=True), PageFate.READ),
        (9, True, PageState(1, 1, "A", 1, 7), PageFate.RELEASED),
    ],
)
def test_the_fate_of_a_record(touched: int, flagged: bool, state: PageState | None, fate: PageFate) -> None:
    assert fate_of(PageRecord(1, 7, touched, flagged), state, started=100, oldest=10) is fate


@pytest.mark.parametrize("begun", [range(100, 400), range(100, 400, 7), [100, 180, 181, 300, 500]])
def test_each_page_is_swept_once_in_ninety_days_however_far_apart_passes_are(begun: Sequence[int]) -> None:
    for page_id in range(1, 200):
        turns = {day for day in range(101, begun[-1] + 1) if day % SWEEP_DAYS == page_id % SWEEP_DAYS}
        swept = [(since, to) for since, to in pairwise(begun) if is_swept(page_id, since=since, started=to)]
        assert swept == [(since, to) for since, to in pairwise(begun) if turns & {*range(since + 1, to + 1)}]
    assert not is_swept(1, since=None, started=100)


DAY = 100
TABLES = {
    # The mark is the one thing that sources tell differently: when links were updated, or a page was touched.
    "page": "SELECT page, namespace, title, latest, urls, touched, flagged FROM page",
    "url": "SELECT bucket, host_key, url_key, scheme, port, path, due, status, orphaned FROM url",
    "host": "SELECT bucket, host_key, host, reversed, next_day FROM host",
    "link": "SELECT bucket, host_key, url_key, page FROM link",
    "dead": "SELECT bucket, host_key, url_key, page FROM dead",
    "wiki": "SELECT farm, dbname, passed FROM wiki",
}

Rows = dict[str, list[tuple[object, ...]]]


async def test_the_api_and_the_dump_leave_the_same_tables(database: str, second_database: str) -> None:
    async with open_pool(database, size=2, part="test") as pool, open_real_api() as source:
        await pass_over(pool, source, await _wiki(pool), read_criteria({}, {}), DAY)
        asked = await _rows(pool)
    async with open_pool(second_database, size=2, part="test") as pool:
        wiki = await _wiki(pool)
        await take_in(pool, dump_source(real_wiki()), wiki, WMFLABS, namespaces=frozenset({0}), day=DAY, again=twice)
        dumped = await _rows(pool)
    assert len(asked["page"]) == 178
    assert len(asked["link"]) > 7_000
    for table in TABLES:
        assert asked[table] == dumped[table], table


async def _wiki(pool: Pool) -> StoredWiki:
    return await do(pool, record_wiki, WMFLABS, WikiName("enwiki", "wmflabs"))


async def _rows(pool: Pool) -> Rows:
    async with pool.connection() as conn:
        return {name: sorted(await (await conn.execute(query.encode())).fetchall()) for name, query in TABLES.items()}
