"""The whole chain: a server of streams that misbehaves, a follower, a real store. Each effect comes exactly once."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import aiohttp
import pytest
from support.eventmaker import change, links_added, moment
from support.shared import shared
from support.sseserver import EventServer, Turn, event_id, open_event_server
from support.stored import WikiInStore, open_wiki

from weboid.core.url.farms import WMFLABS
from weboid.errors import SourceError, StoreAway
from weboid.feed import following as following_module
from weboid.feed.effects import Applied, FollowedWiki
from weboid.feed.events import load_streams
from weboid.feed.following import Following
from weboid.feed.intake import Judge, WikiSpam
from weboid.feed.stream import EventStream, StreamLimits
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import Again, again_until, at_once
from weboid.remote.feed.calls import local_feed_store
from weboid.store.pages.page_pass import record_trees
from weboid.store.pages.pending import list_pending
from weboid.store.pages.stream import Position, find_position

STREAMS = load_streams()
NAMES = STREAMS.worthwhile(()).names
QUICK = StreamLimits(
    first_pause_s=0.01, longest_pause_s=0.05, batch_s=0.05, batch_events=3, stall_s=30.0, event_bytes=20_000
)
STAY = Turn(end="stall")
END = moment(24 * 60)

LINKS = "SELECT page, bucket, host_key, url_key FROM link"
_STATE = ("SELECT * FROM page", LINKS, "SELECT * FROM pending", "SELECT * FROM url", "SELECT * FROM host")


class Chain:
    def __init__(self, stored: WikiInStore, server: EventServer, client: aiohttp.ClientSession) -> None:
        self.stored = stored
        self.server = server
        self.client = client
        self.wikis = {"testwiki": FollowedWiki(stored.wiki.wiki, WMFLABS, lambda page: page.namespace == 0)}
        self.opened: list[EventStream] = []
        self.again: Again = at_once

    def follower(self, show: Callable[[Applied], None] = lambda applied: None, now: datetime = END) -> Following:
        def open_stream(names: str) -> EventStream:
            self.opened.append(EventStream(self.server.url, names, self.client, user_agent="Weboid-test", limits=QUICK))
            return self.opened[-1]

        core, wikis = local_feed_store(self.stored.pool), self.wikis
        return Following(
            core, open_stream, STREAMS, wikis, today=lambda: 200, now=lambda: now, show=show, again=self.again
        )

    async def follow(self, until: int, **more: Any) -> Applied:
        """Follows until so many events have been applied, then is killed."""
        enough = asyncio.Event()

        def show(done: Applied) -> None:
            if done.events >= until:
                enough.set()

        follower = self.follower(show, **more)
        running = asyncio.create_task(follower.run())
        waiting = asyncio.create_task(enough.wait())
        await asyncio.wait({running, waiting}, return_when="FIRST_COMPLETED", timeout=60)
        running.cancel()
        waiting.cancel()
        (end, _) = await asyncio.gather(running, waiting, return_exceptions=True)
        assert isinstance(end, asyncio.CancelledError), end
        return follower.done

    async def state(self) -> list[tuple[object, ...]]:
        """Everything that events can change, but the position."""
        return [row for query in _STATE for row in await self.stored.rows(query)]

    async def position(self) -> Position | None:
        return await self.stored.do(find_position, NAMES)


@asynccontextmanager
async def chain(
    database: str, pages: dict[int, Sequence[str]], events: Sequence[Any], *turns: Turn
) -> AsyncIterator[Chain]:
    async with (
        open_wiki(database, pages) as stored,
        open_event_server(events, *turns) as server,
        aiohttp.ClientSession() as client,
    ):
        yield Chain(stored, server, client)


def some_events(count: int = 30) -> list[Any]:
    """Links to new URLs, pages that come and go."""
    events: list[Any] = []
    for number in range(count):
        minute = number / 10
        match number % 6:
            case 3:
                events.append(change("create", 100 + number, minute))
            case 5:
                events.append(change("delete", 10 + number % 12, minute))
            case _:
                urls = [f"https://h{number}.sample.de/", "https://all.sample.de/"]
                events.append(links_added(number % 10, urls, minute))
    return events


PAGES: dict[int, Sequence[str]] = {page: ["https://old.sample.de/"] for page in range(1, 25)}


async def test_a_quiet_server_and_a_bad_one_lead_to_the_same(database: str, second_database: str) -> None:
    events = some_events()
    canary = change("create", 999, 1)
    canary["meta"]["domain"] = "canary"
    noise = f'data: {json.dumps(canary)}\n\ndata: {{malformed\n\ndata: "{"x" * 30_000}"\n\n'.encode()
    turns = [
        Turn(503, ("Retry-After: 0",)),
        Turn(raw=noise, count=4),
        Turn(429, ("Retry-After: 0",)),
        Turn(count=5, again=3, end="mid-event"),
        Turn(count=5, end="abort", again=2, raw=b"event: error\ndata: {}\n\n"),
        Turn(400),
        Turn(count=7),
        Turn(count=0),
        STAY,
    ]
    async with chain(database, PAGES, events, STAY) as quiet:
        await quiet.follow(len(events))
        wanted = await quiet.state()
    async with chain(second_database, PAGES, events, *turns) as bad:
        running = asyncio.create_task(bad.follower().run())
        await until(lambda: has_come_to(bad, len(events) - 1))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert await bad.state() == wanted
        assert bad.opened[0].counts["oversized"] == 1
        assert len(bad.server.begins) >= 8


async def has_come_to(one: Chain, number: int) -> bool:
    position = await one.position()
    return bool(position and position.last_event_id == event_id(number))


async def until(holds: Callable[[], Any]) -> None:
    for _ in range(6_000):
        if await holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to that")


async def test_a_follower_killed_after_any_batch_goes_on_and_each_effect_comes_once(database: str) -> None:
    events = some_events()
    applied = 0
    async with chain(database, PAGES, events, STAY) as one:
        before = len(await one.stored.rows(LINKS))
        links_new = links_gone = 0
        while not await has_come_to(one, len(events) - 1):
            done = await one.follow(4)
            applied += done.events
            links_new += done.intake.links_new
            links_gone += done.intake.links_gone
        assert applied >= len(events)
        assert links_new - links_gone == len(await one.stored.rows(LINKS)) - before
        assert len(one.server.begins) > 3


async def test_replaying_everything_after_the_end_changes_nothing_more(database: str) -> None:
    events = some_events()
    async with chain(database, PAGES, events, Turn(again=10_000, end="stall")) as one:
        await one.follow(len(events))
        before = await one.state()
        assert (await one.follow(len(events))).events >= len(events)
        assert await one.state() == before


async def test_once_ends_where_the_server_does_and_where_it_has_caught_up(database: str) -> None:
    events = [change("edit", 1, minute) for minute in range(10)]
    async with chain(database, {1: []}, events, Turn(count=5), STAY) as one:
        assert (await one.follower().run(once=True)).events == 5
        assert (await one.follower(now=moment(6)).run(once=True)).events >= 2
    assert one.server.begins == ["", "4"]


async def test_a_database_that_fails_for_a_moment_is_tried_again(database: str) -> None:
    events = some_events()
    failures = iter([True])

    class Spam(WikiSpam):
        async def judge(self) -> Judge:
            if next(failures, False):
                raise StoreAway("gone for a moment")
            return await super().judge()

    async with chain(database, PAGES, events, STAY) as one:
        one.wikis["testwiki"] = FollowedWiki(one.stored.wiki.wiki, WMFLABS, lambda page: True, spam=Spam())
        one.again = again_until(asyncio.Event(), Disturbance(logging.getLogger("test"), "away"))
        assert (await one.follow(len(events))).events == len(events)
    assert next(failures, None) is None


async def test_the_stream_of_categories_is_asked_if_trees_are(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following_module, "_LOOK_S", 0.0)
    async with chain(database, {1: []}, [change("edit", 1, 30)], STAY) as one:
        running = asyncio.create_task(one.follower().run())
        await until(lambda: has_come_to(one, 0))
        assert "recentchange" not in one.server.site.asked[-1].target
        await one.stored.do(record_trees, one.stored.wiki.wiki, 1, {"Bridges": 0})
        await until(lambda: asyncio.sleep(0, "recentchange" in one.server.site.asked[-1].target))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert one.server.begins[-1].startswith("2026-11-20T12:20:00")


async def test_streams_that_the_server_has_no_longer_stop_no_others(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Turn(400, raw=b'{"detail": "Invalid streams: mediawiki.page-create,other"}')
    async with chain(database, PAGES, some_events(6), gone, STAY) as one:
        await one.follow(6)
        assert one.server.site.asked[-1].target.endswith(NAMES.removeprefix("mediawiki.page-create,"))
        monkeypatch.setattr(following_module, "_LOOK_S", 0.0)
        monkeypatch.setattr(following_module, "_GONE_S", 0.0)
        one.server.turns[:] = [gone, STAY]
        asked = one.server.site.asked = []
        running = asyncio.create_task(one.follower().run())
        await until(lambda: asyncio.sleep(0, [NAMES in each.target for each in asked] == [True, False, True]))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        one.server.turns[:] = [Turn(400, raw=b"Invalid streams: " + NAMES.encode())]
        with pytest.raises(SourceError, match="has no stream mediawiki"):
            await one.follower().run()


async def test_recorded_events_change_exactly_the_pages_they_name(database: str) -> None:
    recorded = [json.loads(path.read_text()) for path in sorted(shared("eventstreams/page_change").glob("*.json"))]
    lines = shared("eventstreams/links_change/twl_externallinks_tests.jsonl").read_text().splitlines()
    recorded += [json.loads(line) for line in lines]
    for name in ("page-create", "page-delete", "page-move"):
        recorded += [event["data"] for event in json.loads(shared(f"eventstreams/recorded/{name}.json").read_text())]
    recorded.append(json.loads(shared("eventstreams/links_change/greenc_2021.json").read_text()))
    named: dict[str, dict[int, Sequence[str]]] = {}
    for event in recorded:
        name, page = event.get("database") or event["wiki_id"], event.get("page_id") or event["page"]["page_id"]
        named.setdefault(name, {})[page] = ["https://old.sample.de/"]
    async with chain(database, {1: [], 2: [], 3: []}, recorded, STAY) as one:
        for name, pages in named.items():
            wiki = await one.stored.another(name)
            await wiki.take_in(pages, 100)
            one.wikis[name] = FollowedWiki(wiki.wiki.wiki, WMFLABS, lambda page: page.namespace == 0)
        before = {row[0]: row for row in await one.stored.rows("SELECT page, x::text FROM page x")}
        done = await one.follow(len(recorded))
        after = {row[0]: row for row in await one.stored.rows("SELECT page, x::text FROM page x")}
        changed = {page for page in before if before[page] != after.get(page)}
        gone = {330275, 4656021, 4656283}  # the deleted ones
        assert before.keys() - after.keys() == gone
        assert changed == gone | {63608061, 102113090}  # and those with added links
        async with one.stored.pool.connection() as conn:
            pending = [await list_pending(conn, wiki.wiki, END, 100) for wiki in one.wikis.values()]
        waiting = {page for each in pending for page, *_ in each}
        # Of the new, moved and edited ones those in namespace 0 or watched, and for certainty the gone ones.
        assert waiting == gone | {9052925, 504089, 8394444, 49988679} | {728, 114491269, 90146511}
        kinds = ("created", "moved", "gone", "malformed", "unknown")
        assert [done.kinds[name] for name in kinds] == [3, 3, 4, 0, 0]
        urls = await one.stored.rows("SELECT count(*) FROM link WHERE page IN (63608061, 102113090)")
        assert urls == [(2 + 2 + 4,)]
