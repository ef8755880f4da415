"""The interface of what feeders need (O-1): over HTTP, and over a bad network, it leaves the rows that it leaves on the
store itself."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
from support.databases import all_rows
from support.eventmaker import categorised, change, links_added, moment
from support.remote import feeder_client, open_bad_network, open_server
from support.sseserver import event_id
from support.stored import key
from support.wiki_edits import record_edit

from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.spam_lines import parse_lines
from weboid.core.url.urls import parse
from weboid.core.wikitext.titles import Namespace
from weboid.demo.littlewiki import open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.errors import StoreAway, StoreError
from weboid.feed.effects import FollowedWiki, apply
from weboid.feed.events import load_streams
from weboid.feed.intake import SpamFilters
from weboid.feed.page_pass import PagePass
from weboid.feed.reread import reread
from weboid.feed.spam import reclassify
from weboid.feed.stream import RawEvent
from weboid.mechanism.patience import Again, again_until, at_once
from weboid.remote.feed.batches import JudgedPages, Move, StreamMove
from weboid.remote.feed.calls import FeederCalls, FeedStore, local_feed_store
from weboid.remote.http.rpc import connected, remote
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.page import PageUrls
from weboid.store.pages.page_pass import PassPosition
from weboid.store.pages.spam import ListKind
from weboid.store.pages.stream import Position
from weboid.wiki.api import ApiSource
from weboid.wiki.criteria import read_criteria
from weboid.wiki.source import WikiSource

STREAMS = load_streams()
DAY = 100
A, B, BAD = "https://a.sample.de/", "https://b.sample.de/", "https://bad.sample.de/x"
LINKS = {f"Page {number}": [A, f"https://h{number}.sample.de/", BAD] for number in range(1, 13)}
WHEN = frozenset({"part", "done_request"})
"""Tables that only remote feeders have rows in."""


@asynccontextmanager
async def stores(kind: str, dsn: str, seed: int = 3) -> AsyncIterator[tuple[FeedStore, Pool, Again]]:
    """A store of this kind on a database, and what does steps again."""
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(dsn, size=4, part="test"))
        if kind == "store":
            yield local_feed_store(pool), pool, at_once
            return
        url = await stack.enter_async_context(open_server(pool))
        if kind == "bad-network":
            url, _ = await stack.enter_async_context(open_bad_network(url, seed, share=0.3))
        store = remote(FeedStore, await stack.enter_async_context(feeder_client(url)))
        yield store, pool, again_until(asyncio.Event(), store.away)


@pytest.fixture(params=["store", "http"])
async def store(request: pytest.FixtureRequest, database: str) -> AsyncIterator[FeedStore]:
    async with stores(request.param, database) as (store, *_):
        yield store


async def rows_of(dsn: str) -> dict[str, list[str]]:
    """All rows, without times and durations."""
    rows = await all_rows(dsn, without=WHEN)
    rows["wiki"] = [row.rpartition(",")[0] for row in rows["wiki"]]
    rows["day_total"] = []
    rows["watch_list"] = []
    return rows


async def passed(store: FeedStore, source: WikiSource, again: Again, day: int = DAY) -> None:
    wiki = await again(lambda: store.wikis.record(WMFLABS, WikiName("testwiki", "wmflabs"), None))
    criteria = read_criteria({}, {})
    await PagePass(
        store,
        source,
        wiki,
        WMFLABS,
        criteria,
        today=lambda: day,
        now=lambda: datetime.now(UTC),
        untouched_days=90,
        again=again,
    ).run()


async def _listed(store: FeedStore, again: Again, lines: str, day: int) -> None:
    """A refresh of the wiki's own list."""
    [wiki] = await again(store.wikis.list_all)
    fetched = {ListKind.BLACK: parse_lines(lines), ListKind.WHITE: parse_lines("")}
    assert await again(lambda: store.lists.record(wiki.farm, wiki.dbname, fetched, day))
    spam, _ = await again(lambda: SpamFilters(store.lists).judge(wiki.farm, wiki.dbname))
    await reclassify(store, wiki, spam, day=day, batch=3, again=again)
    await again(lambda: store.lists.record_applied(wiki.farm, wiki.dbname, day))


EVENTS: list[list[dict[str, Any]]] = [
    [links_added(1, [B, f"{BAD}y"], 1), change("delete", 2, 2), change("create", 40, 3)],
    [change("edit", 3, 4), change("move", 4, 5), categorised("Page 5", "Bridges", 6)],
    [links_added(6, [B], 7), links_added(99, [B], 8)],
]


async def story(store: FeedStore, again: Again) -> None:
    """All that feeders do: two passes, lists, events, pages read again."""
    pages = [WikiPage(n, title, tuple(map(WikiLink, urls))) for n, (title, urls) in enumerate(LINKS.items(), 1)]
    async with open_littlewiki(pages) as little, open_source(little.api_url) as source:
        await passed(store, source, again)
        [wiki] = await again(store.wikis.list_all)
        await again(lambda: store.wikis.record_namespaces(wiki.wiki, [Namespace(1, "Talk"), Namespace(0, "")]))
        await _listed(store, again, r"bad\.sample", DAY + 1)
        filters = SpamFilters(store.lists).of(wiki.farm, wiki.dbname)
        followed = FollowedWiki(wiki.wiki, WMFLABS, lambda page: page.namespace == 0, spam=filters)
        before = None
        for number, events in enumerate(EVENTS):
            batch = [RawEvent(event_id(10 * number + at), json.dumps(event)) for at, event in enumerate(events)]
            state = before

            async def take(batch: list[RawEvent] = batch, state: Any = state) -> Any:
                return await apply(
                    store, batch, STREAMS, {"testwiki": followed}, before=state, day=DAY + 1, now=moment(60)
                )

            _, before = await again(take)
        record_edit(little, "Page 4", [WikiLink(B)])
        await again(lambda: reread(store, source, followed, day=DAY + 1, now=moment(90), margin_s=0.0))
        await _listed(store, again, "", DAY + 1)
        for title in ("Page 7", "Page 8"):
            del little.pages[title]
        await passed(store, source, again, DAY + 1)


@asynccontextmanager
async def open_source(api: str) -> AsyncIterator[WikiSource]:
    async with aiohttp.ClientSession() as session:
        yield ApiSource(api, session, user_agent="Weboid-test")


async def test_all_that_feeders_do_leaves_the_same_rows(database: str, second_database: str) -> None:
    for kind, dsn in (("store", database), ("bad-network", second_database)):
        async with stores(kind, dsn) as (store, _, again), asyncio.timeout(90):
            await story(store, again)
    rows = await rows_of(database)
    assert all(rows[table] for table in ("page", "link", "url", "spam_list", "stream_position"))
    assert await rows_of(second_database) == rows


async def test_of_two_who_move_a_pass_or_a_stream_one_is_reported_to_stop(store: FeedStore) -> None:
    wiki = await store.wikis.record(WMFLABS, WikiName("testwiki", "wmflabs"), None)
    _, start = await store.passes.start(wiki.wiki, "plan", DAY)
    move = Move(start, PassPosition(0, "7"))
    await store.passes.meet(wiki.wiki, [], DAY, move)
    with pytest.raises(StoreError, match="another feeder is at work on this wiki") as refused:
        await store.passes.record(wiki.wiki, JudgedPages(), DAY, Move(start, PassPosition(1)))
    assert not isinstance(refused.value, StoreAway)
    one = StreamMove(None, Position("a", "[1]", datetime.now(UTC)))
    await store.streams.apply([], one, DAY)
    await store.streams.apply([], one, DAY)  # as after a commit whose answer was lost
    await store.streams.apply([], StreamMove(("a", "[1]"), Position("a", "[2]", datetime.now(UTC))), DAY)
    with pytest.raises(StoreError, match="another feeder follows the event streams"):
        await store.streams.apply([], one, DAY)
    position = await store.streams.find_position("a")
    assert position is not None
    assert position.last_event_id == "[2]"


async def test_links_are_judged_again_when_a_list_has_changed_meanwhile(store: FeedStore) -> None:
    wiki = await store.wikis.record(WMFLABS, WikiName("testwiki", "wmflabs"), None)
    filters = SpamFilters(store.lists)
    before = await filters.judge(wiki.farm, wiki.dbname)
    fetched = {ListKind.BLACK: parse_lines(r"bad\.sample"), ListKind.WHITE: parse_lines("")}
    await store.lists.record(wiki.farm, wiki.dbname, fetched, DAY)
    _, start = await store.passes.start(wiki.wiki, "plan", DAY)
    move = Move(start, PassPosition(0, "7"))
    assert await store.passes.record(wiki.wiki, JudgedPages(stamp=before.stamp), DAY, move) is None
    now = await filters.renew(wiki.farm, wiki.dbname)
    assert now.spam.is_spam(BAD)
    assert await store.passes.record(wiki.wiki, JudgedPages(stamp=now.stamp), DAY, move) is not None
    assert await store.lists.find(wiki.farm, wiki.dbname, now.stamp.own if now.stamp else ()) is None


async def test_what_waits_and_was_read_meanwhile_is_not_overwritten_by_what_was_read_before(store: FeedStore) -> None:
    wiki = await store.wikis.record(WMFLABS, WikiName("testwiki", "wmflabs"), None)
    filters = SpamFilters(store.lists).of(wiki.farm, wiki.dbname)
    followed = FollowedWiki(wiki.wiki, WMFLABS, lambda page: True, spam=filters)
    batch = [RawEvent(event_id(1), json.dumps(change("create", 1, 1)))]
    await apply(store, batch, STREAMS, {"testwiki": followed}, before=None, day=DAY, now=moment(60))
    waiting = await store.waiting.list_waiting(wiki.wiki, moment(60), 10)
    assert [each.page for each in waiting] == [1]
    newer, older = (
        JudgedPages([PageUrls(1, 0, "Page 1", revision, None, {key(url): parse(url)})])
        for revision, url in ((7, A), (6, B))
    )
    assert await store.waiting.record(wiki.wiki, newer, waiting, DAY)
    late = await store.waiting.record(wiki.wiki, older, waiting, DAY)
    assert late is not None
    assert late.pages == 0
    assert await store.waiting.list_watched(wiki.wiki, [1, 2]) == {1}


async def test_the_page_of_watched_wikis_and_its_alarm_are_the_cores(store: FeedStore) -> None:
    assert await store.watched.find("meta:Page") is None
    page = '{"testwiki@wmflabs": {"namespaces": [0]}}'
    await store.watched.record("meta:Page", page, "", DAY)
    await store.watched.record("meta:Page", None, "it is no JSON", DAY)
    stored = await store.watched.find("meta:Page")
    assert stored is not None
    assert (stored.text, bool(stored.fault)) == (page, True)
    await store.watched.lower()


async def test_a_feeder_is_reported_the_farms_and_the_moment_of_its_core(database: str) -> None:
    async with open_pool(database, size=4, part="test") as pool, open_server(pool) as url, feeder_client(url) as caller:
        greeting = await connected(FeederCalls, caller).greet()
        assert {farm.name for farm in greeting.farms} >= {"WMF", "wmflabs"}
        assert abs((datetime.now(UTC) - greeting.moment).total_seconds()) < 60
