"""``/internal/feed/…`` (O-1): who may call, and what hostile bodies bring about: nothing."""

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import pytest
from support.databases import all_rows
from support.remote import FEED_TOKEN, TOKEN, feeder_client, open_server, posted_call, server_config
from support.stored import WikiInStore

from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.spam_lines import SpamLines
from weboid.errors import StoreError
from weboid.remote.feed.calls import FeederCalls, FeedLife, FeedStore
from weboid.remote.feed.wire import MOST_PAGES
from weboid.remote.http.messages import CRAWLERS, FEEDERS, compressed, encoded
from weboid.remote.http.rpc import connected, remote
from weboid.remote.http.wire import Life
from weboid.store.pages.spam import ListKind

WIKI: Final = 1
START: Final = ((0, ""), (0, "1"))
FINE: Final = [1, 0, "Page 1", 7, None, ["http://a.demo/"], []]


def body(arguments: object, request: int = 7) -> bytes:
    return compressed(encoded({"worker": "w", "request": str(UUID(int=request)), "arguments": arguments}))


def walked(*pages: object, **more: object) -> dict[str, Any]:
    """What a pass sends of these pages."""
    given = {"wiki": WIKI, "pages": list(pages), "gone": [], "stamp": None, "as_of": None, "day": 100, "move": START}
    return given | more


async def sent(
    server: str, name: str, data: bytes, token: str = f"{FEEDERS.scheme} {FEED_TOKEN}", way: Any = FEEDERS
) -> tuple[int, bytes]:
    return await posted_call(server + way.path + name, data, token, way.sent_kind)


async def test_a_token_opens_its_own_endpoint_alone(server: str) -> None:
    assert (await sent(server, "greet", body({})))[0] == 200
    crawler = f"{CRAWLERS.scheme} {TOKEN}"
    for token in (crawler, f"{FEEDERS.scheme} {TOKEN}", f"{CRAWLERS.scheme} {FEED_TOKEN}", f"Bearer {FEED_TOKEN}"):
        assert (token, (await sent(server, "greet", body({}), token))[0]) == (token, 401)
    for token in (f"{CRAWLERS.scheme} {FEED_TOKEN}", f"{FEEDERS.scheme} {FEED_TOKEN}"):
        assert (token, (await sent(server, "greet", body({}), token, CRAWLERS))[0]) == (token, 401)
    assert (await sent(server, "record", body({})))[0] == 404
    assert (await sent(server, "walk", body({}), crawler, CRAWLERS))[0] == 404


async def test_without_configured_feeders_there_is_no_such_address(wiki: WikiInStore) -> None:
    async with open_server(wiki.pool, server_config(WEBOID_WEB_FEEDERS="")) as url:
        assert (await sent(url, "greet", body({})))[0] == 404


def page(*, urls: object = (), spam: object = (), title: object = "x", number: object = 1) -> list[object]:
    return [number, 0, title, 7, None, urls, spam]


HOSTILE: Final = [
    ("walk", walked(FINE, wiki=2**40), 400),
    ("walk", walked(FINE, wiki=-1), 400),
    ("walk", walked(FINE, wiki=77), 422),
    ("walk", walked(FINE, day=40_000), 400),
    ("walk", walked(FINE, day=900), 422),
    ("walk", walked(FINE, move=((0, "9"), (0, "10"))), 422),
    ("walk", walked(*[FINE] * (MOST_PAGES + 1)), 400),
    ("walk", walked(page(urls=["http://a.demo/"] * 500_001)), 400),
    ("walk", walked(*[page(urls=["http://a.demo/"] * 300_000, number=n) for n in (1, 2)]), 400),
    ("walk", walked(page(urls=["no URL"])), 400),
    ("walk", walked(page(urls=["http://localhost/"])), 400),
    ("walk", walked(page(urls=["http://de.beta.wmflabs.org/"])), 400),
    ("walk", walked(page(spam=["javascript:x"])), 400),
    ("walk", walked(page(urls=["http://a.demo/"], spam=["http://a.demo/"])), 400),
    ("walk", walked(page(urls=["http://a.demo/" + "x" * 30_000])), 400),
    ("walk", walked(page(title="x" * 2_000)), 400),
    ("walk", walked(page(title="x\x00")), 400),
    ("walk", walked(page(number=2**31)), 400),
    ("meet", {"wiki": WIKI, "pages": [[1, 0, "x", 2**64 - 1]], "day": 100, "move": START}, 400),
    ("walk", walked(FINE, move=((0, ""), (2**15, "10"))), 400),
    ("walk", walked(FINE, move=((-1, ""), (0, "10"))), 400),
    ("walk", walked(FINE, move=((0, ""), (0, "1" * 2_001))), 400),
    ("namespaces", {"wiki": WIKI, "names": [[0, "x" * 1_001, False, False]]}, 400),
    ("waited", {"wiki": WIKI, "pages": [], "gone": [], "stamp": None, "as_of": None, "day": 100,
                "done": [[-1, "", "2026-11-20T12:00:00Z", True]]}, 400),
    ("waited", {"wiki": WIKI, "pages": [], "gone": [], "stamp": None, "as_of": None, "day": 100,
                "done": [[0, "x" * 1_001, "2026-11-20T12:00:00Z", True]]}, 400),
    ("apply", {"events": [], "move": {"before": None, "after": ["a" * 2_001, "c", "2026-11-20T12:00:00Z"]}, "day": 100},
     400),
    ("apply", {"events": [], "move": {"before": ["a", "b" * 20_001], "after": ["a", "c", "2026-11-20T12:00:00Z"]},
               "day": 100}, 400),
    ("start", {"wiki": 77, "plan": "p", "day": 100}, 422),
    ("start", {"wiki": WIKI, "plan": "p", "day": 900}, 422),
    ("wiki", {"farm": "Evil", "dbname": "x", "api": None}, 422),
    ("wiki", {"farm": "WMF", "dbname": "x'; DROP", "api": None}, 400),
    ("records", {"wiki": WIKI, "after": 0, "limit": 10**7}, 400),
    ("record-list", {"farm": 999, "of": "", "black": {"usable": [], "unusable": []},
                     "white": {"usable": [], "unusable": []}, "day": 100}, 422),
    ("life", {"role": "web", "life": {"name": "n", "host": "h", "machine": "m", "pid": 1, "version": "0"}}, 400),
    ("apply", {"events": [], "move": {"before": ["a", "b"], "after": ["a", "c", "2026-11-20T12:00:00Z"]}, "day": 100},
     422),
]  # fmt: skip


async def test_what_cannot_be_is_refused_and_changes_nothing(server: str, wiki: WikiInStore, database: str) -> None:
    assert (await sent(server, "start", body({"wiki": WIKI, "plan": "plan", "day": 100}, 1)))[0] == 200
    before = await all_rows(database)
    for number, (name, arguments, status) in enumerate(HOSTILE, start=100):
        answered = (await sent(server, name, body(arguments, number)))[0]
        assert (number, name, answered) == (number, name, status)
    assert await all_rows(database) == before


async def test_lines_of_a_list_that_the_server_cannot_run_are_not_in_force(server: str, wiki: WikiInStore) -> None:
    async with feeder_client(server) as caller:
        fetched = {ListKind.BLACK: SpamLines(("good\\.com", "(?=x)", "a\nb")), ListKind.WHITE: SpamLines(())}
        assert await remote(FeedStore, caller).lists.record(wiki.wiki.farm, "testwiki", fetched, 100)
    assert await wiki.rows("SELECT lines FROM spam_list WHERE kind = 0") == [("good\\.com\na\nb",)]


async def test_a_request_that_comes_again_is_done_once_and_answered_as_the_first_time(
    server: str, wiki: WikiInStore
) -> None:
    await sent(server, "start", body({"wiki": WIKI, "plan": "plan", "day": 100}, 1))
    call = body(walked([2, 0, "Page 2", 7, None, ["http://b.demo/"], []]))
    answers = [await sent(server, "walk", call) for _ in range(3)]
    assert answers[0][0] == 200
    assert answers[0] == answers[1] == answers[2]
    assert await wiki.rows("SELECT count(*) FROM page WHERE page = 2") == [(1,)]


async def test_a_refusal_names_its_reason(server: str) -> None:
    async with feeder_client(server) as caller:
        with pytest.raises(StoreError, match="the server refuses: the day there is not that of this server"):
            await remote(FeedStore, caller).passes.start(WIKI, "plan", 900)
        with pytest.raises(StoreError, match="the farm Evil is not configured on this server"):
            await remote(FeedStore, caller).wikis.record(replace(WMFLABS, name="Evil"), WikiName("x", "Evil"), None)
    async with feeder_client(server, token=TOKEN) as caller:
        with pytest.raises(StoreError, match=r"set WEBOID_FEED_TOKEN here, and its hash in WEBOID_WEB_FEEDERS there"):
            await connected(FeederCalls, caller).greet()


async def test_a_role_is_one_feeders_at_a_time(server: str, wiki: WikiInStore) -> None:
    def life(name: str, **more: Any) -> FeedLife:
        return FeedLife("events", Life(name, "host", "machine", 1, "0", "working"), **more)

    async with feeder_client(server) as caller:
        process = connected(FeederCalls, caller)
        assert await process.live(life("1-a", takes=True)) is None
        other = await process.live(life("2-b", takes=True))
        assert other is not None
        assert other.name == "fed:1-a"
        assert await process.live(life("2-b", takes=True, gone=["fed:1-a"])) is None
        lost_to = await process.live(life("1-a"))
        assert lost_to is not None
        assert lost_to.name == "fed:2-b"
        assert await wiki.rows("SELECT role, name, doing FROM part") == [("events", "fed:2-b", "working")]
