"""What a token must never do (O-1): real calls over HTTP, of two tokens; each is refused, and nothing is written."""

import re
import zlib
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import aiohttp
import msgspec
import pytest
from msgspec.structs import replace
from support.databases import all_rows
from support.observations import FINE
from support.remote import CRAWLERS as FAR
from support.remote import FEED_TOKEN, TOKEN, open_server, posted_call, server_config
from support.remote import FEEDERS as FEEDERS_HASH
from support.stored import WikiInStore

from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.record import HostEffect
from weboid.core.url.farms import WMFLABS
from weboid.core.url.keys import bucket, host_key
from weboid.remote.crawl import server as crawl_server
from weboid.remote.crawl.sightings import Sighting
from weboid.remote.crawl.work import Work
from weboid.remote.http import wire
from weboid.remote.http.messages import CRAWLERS, FEEDERS, Endpoint
from weboid.store.db.rows import HostKey
from weboid.store.schedule.lease import delete_past_wishes
from weboid.store.upkeep.alarm import AlarmKind, raise_alarm

DAY: Final = 100
OTHER: Final = "token-of-another-machine"
HOST: Final = HostKey(bucket("a.demo"), host_key("a.demo"))
TOO_FAR: Final = (0, DAY - 29, DAY - 2, DAY + 2, DAY + 30, 32_000)
API: Final = "https://wiki.demo/w/api.php"


@pytest.fixture
async def server(wiki: WikiInStore) -> AsyncIterator[str]:
    crawlers = f"{FAR},other:{sha256(OTHER.encode()).hexdigest()}"
    async with open_server(wiki.pool, server_config(WEBOID_WEB_CRAWLERS=crawlers)) as url:
        yield url


async def call(
    server: str, name: str, arguments: object, token: str = TOKEN, worker: str = "w", way: Endpoint = CRAWLERS
) -> tuple[int, Any]:
    data = zlib.compress(msgspec.msgpack.encode({"worker": worker, "request": str(uuid4()), "arguments": arguments}), 1)
    status, body = await posted_call(server + way.path + name, data, f"{way.scheme} {token}", way.sent_kind)
    return status, msgspec.msgpack.decode(zlib.decompress(body), strict=False) if body else None


async def leased(server: str, token: str = TOKEN, worker: str = "w") -> dict[int, int]:
    status, held = await call(server, "lease", {"until": [DAY, None]}, token, worker)
    assert (status, len(held)) == (200, 1)
    return dict(held)


async def refused(server: str, wiki: WikiInStore, key: str, name: str, arguments: object, **more: Any) -> None:
    """Asserts that a call is refused in words with this key, and that the store is as before."""
    before = await all_rows(str(wiki.pool.conninfo))
    status, words = await call(server, name, arguments, **more)
    assert (name, status, words) == (name, 422, words)
    assert words.endswith(f"({key})")
    assert await all_rows(str(wiki.pool.conninfo)) == before


async def checked(wiki: WikiInStore, **other: Any) -> Sighting:
    key = (await wiki.known("http://a.demo/")).key
    return replace(Sighting(key, DAY, FINE, HostEffect.SEEN, 0, frozenset()), **other)


async def test_no_token_confirms_a_day(server: str, wiki: WikiInStore) -> None:
    await refused(server, wiki, "confirm-day", "confirm-day", {"day": DAY})


@pytest.mark.parametrize("thief", [(OTHER, "w"), (TOKEN, "another"), (OTHER, "far:w")])
async def test_nobody_renews_ends_or_writes_under_a_lease_of_another(
    server: str, wiki: WikiInStore, thief: tuple[str, str]
) -> None:
    held = await leased(server)
    who: dict[str, Any] = dict(zip(("token", "worker"), thief, strict=True))
    await refused(server, wiki, "lease", "renew", {"held": held}, **who)
    await refused(server, wiki, "lease", "release", {"held": held}, **who)
    batch = {"checks": [await checked(wiki)], "held": held}
    await refused(server, wiki, "lease", "record", batch, **who)
    hosts = {"buckets": [*held], "until": [DAY, None], "but": [], "limit": 9}
    assert await call(server, "hosts", hosts, **who) == (200, [])
    status, urls = await call(server, "urls", {"hosts": [HOST], "day": DAY}, **who)
    assert (status, [*urls.values()]) == (200, [[]])
    assert (await call(server, "hosts", hosts))[1] != []
    assert await call(server, "renew", {"held": held}) == (200, [*held])
    assert (await call(server, "record", batch))[1]["written"] == 1
    assert (await call(server, "release", {"held": held}))[0] == 200


async def test_a_lease_of_a_crawler_at_the_database_is_no_tokens(server: str, wiki: WikiInStore) -> None:
    """Whatever a client calls itself: its name begins with that of its token."""
    await wiki.rows("UPDATE lease SET worker = 'here/far:w', epoch = 7, until = now() + interval '1 hour' RETURNING 1")
    for worker in ("w", "here/far:w", "/far:w"):
        await refused(server, wiki, "lease", "renew", {"held": {HOST.bucket: 7}}, worker=worker)


async def test_a_lease_that_another_has_taken_over_is_not_refused_but_lost(server: str, wiki: WikiInStore) -> None:
    held = await leased(server)
    await wiki.rows("UPDATE lease SET epoch = epoch + 1, worker = 'other:x' WHERE worker <> '' RETURNING 1")
    assert await call(server, "renew", {"held": held}) == (200, [])
    assert (await call(server, "record", {"checks": [await checked(wiki)], "held": held}))[1]["lost"] == 1
    assert await wiki.rows("SELECT FROM day_total") == []


async def test_no_token_moves_the_day_away_from_the_servers(server: str, wiki: WikiInStore) -> None:
    held = await leased(server)
    for day in TOO_FAR:
        await refused(server, wiki, "day", "accept-day", {"day": day, "is_over": True})
        await refused(server, wiki, "day", "raise-alarm", {"kind": "offline", "day": day, "detail": "x"})
        await refused(server, wiki, "day", "exchange", {"day": day, "written": [], "found": {}})
        written = [[["network", "192.0.2.0/24"], day, {"answered": 1}]]
        if day > DAY:
            await refused(server, wiki, "day", "exchange", {"day": DAY, "written": written, "found": {}})
            await refused(server, wiki, "day", "lease", {"until": [day, None]})
        batch = {"checks": [await checked(wiki, day=day)], "held": held}
        await refused(server, wiki, "day", "record", batch)


async def test_no_token_puts_a_link_off_for_longer_than_the_longest_interval(server: str, wiki: WikiInStore) -> None:
    report = await checked(wiki, seen=None, days=10_000)
    assert (await call(server, "record", {"checks": [report], "held": await leased(server)}))[1]["postponed"] == 1
    assert (await wiki.known("http://a.demo/")).due == DAY + 28


async def test_a_later_day_that_the_store_has_from_a_wrong_clock_keeps_no_token_from_its_work(
    server: str, wiki: WikiInStore
) -> None:
    await wiki.rows("UPDATE url SET status = 1, since = 90, asked = 160, reason = 1 RETURNING 1")
    assert (await wiki.known("http://a.demo/")).record.checked == 160
    batch = {"checks": [await checked(wiki)], "held": await leased(server)}
    assert (await call(server, "record", batch))[1]["written"] == 1


async def test_contacts_that_are_too_old_to_count_are_left_out(server: str, wiki: WikiInStore) -> None:
    sent = [[["network", "192.0.2.0/24"], day, {"answered": 9}] for day in (DAY, DAY - 60)]
    assert (await call(server, "exchange", {"day": DAY, "written": sent, "found": {}}))[0] == 200


async def test_turns_at_hosts_without_a_lease_are_short_ones(server: str, wiki: WikiInStore) -> None:
    near = HostKey(HOST.bucket, HOST.host_key + 1)
    for slots in ({"notes": {HOST: (8_640_000.0, False, 7)}, "wanted": {}}, {"notes": {}, "wanted": {near: (1e9, 9)}}):
        assert (await call(server, "slots", slots, token=OTHER))[0] == 200
    assert await wiki.rows("SELECT count(*) FROM slot WHERE free > now() + interval '1 minute'") == [(2,)]
    assert await wiki.rows("SELECT count(*) FROM slot WHERE free > now() + interval '5 minutes'") == [(0,)]


async def test_a_pause_takes_a_lease_that_has_not_run_out(server: str, wiki: WikiInStore) -> None:
    held = await leased(server)
    await call(server, "release", {"held": held})
    await refused(server, wiki, "rest", "rest", {"host": HOST, "seconds": 60.0})
    hosts = {"buckets": [*held], "until": [DAY, None], "but": [], "limit": 9}
    assert await call(server, "hosts", hosts) == (200, [])


async def test_a_host_that_a_crawler_does_not_hold_gets_no_pause(server: str, wiki: WikiInStore) -> None:
    rest = {"host": HOST, "seconds": 86_400.0}
    await refused(server, wiki, "rest", "rest", rest)
    await leased(server)
    await refused(server, wiki, "rest", "rest", rest, token=OTHER)
    assert (await call(server, "rest", rest))[0] == 200
    assert len(await wiki.rows("SELECT FROM slot WHERE free > now() + interval '23 hours'")) == 1


FED: Final[dict[str, Any]] = {"token": FEED_TOKEN, "way": FEEDERS}
AT_NOON: Final = "1970-04-11T12:00:00Z"
EVENTS: Final[dict[str, Any]] = {"wiki": 1, "stamp": None, "added": [], "gone": {}, "named": [], "moved": [],
                                 "categorised": [], "later": {}, "later_titles": {}}  # fmt: skip


def of_wiki(wiki: int) -> list[tuple[str, dict[str, Any]]]:
    """Calls that say something of a wiki, or read what is said of it."""
    place, pages = ((0, ""), (0, "1")), dict[str, Any](pages=[], gone=[], stamp=None, as_of=None)
    move = {"before": None, "after": ["streams", "1", AT_NOON]}
    lines = {"usable": [".*"], "unusable": []}
    given: dict[str, dict[str, Any]] = {
        "namespaces": {"names": []}, "start": {"plan": "p", "day": DAY}, "count": {"started": DAY},
        "meet": {"pages": [], "day": DAY, "move": place}, "exclude": {"pages": [], "move": place},
        "end-step": {"started": DAY, "trees": {}, "move": place}, "records": {"after": 0, "limit": 1},
        "walk": {**pages, "day": DAY, "move": place}, "end": {"started": DAY, "day": DAY},
        "waiting": {"until": AT_NOON, "limit": 1}, "watched": {"pages": []},
        "waited": {**pages, "done": [], "day": DAY},
        "trees": {"titles": []}, "branch": {"trees": {}, "pages": [], "day": DAY},
        "stretch": {"after": 0, "limit": 1}, "reclassify": {"now_spam": {}, "no_spam": {}, "day": DAY},
    }  # fmt: skip
    calls = [(name, {"wiki": wiki, **more}) for name, more in given.items()]
    calls += [("apply", {"events": [{**EVENTS, "wiki": wiki}], "move": None, "day": DAY})]
    # What is of all wikis is of this one, too.
    calls += [("apply", {"events": [], "move": move, "day": DAY})]
    calls += [("record-watch-page", {"source": "Weboid", "text": "{}", "fault": "", "day": DAY})]
    for of in ("", "testwiki"):
        calls += [("record-list", {"farm": WMFLABS.code, "of": of, "black": lines, "white": lines, "day": DAY})]
        calls += [("applied", {"farm": WMFLABS.code, "of": of, "day": DAY})]
    return [*calls, ("wiki", {"farm": WMFLABS.name, "dbname": "testwiki", "api": None})]


async def test_a_feeder_reaches_the_wikis_alone_that_its_token_names(wiki: WikiInStore) -> None:
    assert (wiki.wiki.wiki, wiki.wiki.farm, wiki.wiki.dbname) == (1, WMFLABS.code, "testwiki")
    async with open_server(wiki.pool, server_config(WEBOID_WEB_FEEDERS=f"{FEEDERS_HASH}:dewiki:frwiki@WMF")) as url:
        for name, arguments in of_wiki(1):
            await refused(url, wiki, "wiki", name, arguments, **FED)
        await wiki.do(raise_alarm, AlarmKind.WATCHED, "", DAY, "of all")
        assert (await call(url, "no-watch-page", {}, **FED))[0] == 200
        assert await wiki.rows("SELECT kind, detail FROM alarm") == [("watched", "of all")]
        status, made = await call(url, "wiki", {"farm": "WMF", "dbname": "dewiki", "api": None}, **FED)
        assert (status, made["dbname"]) == (200, "dewiki")
        plan = {"wiki": made["wiki"], "plan": "p", "day": DAY}
        assert (await call(url, "start", plan, **FED))[0] == 200


async def test_a_feeder_whose_token_names_no_wiki_may_feed_all(server: str, wiki: WikiInStore) -> None:
    for name, arguments in (("start", {"wiki": 1, "plan": "p", "day": DAY}), ("count", {"wiki": 1, "started": DAY})):
        assert (await call(server, name, arguments, **FED))[0] == 200
    move = {"before": None, "after": ["streams", "1", AT_NOON]}
    assert (await call(server, "apply", {"events": [], "move": move, "day": DAY}, **FED))[0] == 200


async def test_no_feeder_names_a_day_or_a_moment_away_from_the_servers(server: str, wiki: WikiInStore) -> None:
    before = await all_rows(str(wiki.pool.conninfo))
    late, late_move = "2099-01-01T00:00:00Z", {"before": None, "after": ["streams", "1", "2099-01-01T00:00:00Z"]}
    calls = [("start", {"wiki": 1, "plan": "p", "day": day}) for day in (0, DAY - 2, DAY + 2, 32_000)]
    for field, value in (("gone", {1: late}), ("later", {1: late}), ("later_titles", {"A": late}),
                         ("named", [[1, late, True]]), ("categorised", [["A", "B", late]])):  # fmt: skip
        calls += [("apply", {"events": [{**EVENTS, field: value}], "move": None, "day": DAY})]
    calls += [("apply", {"events": [], "move": late_move, "day": DAY})]
    pages = {"wiki": 1, "pages": [], "gone": [], "stamp": None, "as_of": late}
    calls += [("walk", {**pages, "day": DAY, "move": ((0, ""), (0, "1"))})]
    for name, arguments in calls:
        assert (arguments, (await call(server, name, arguments, **FED))[0]) == (arguments, 422)
    assert await all_rows(str(wiki.pool.conninfo)) == before


async def test_no_feeder_takes_the_role_of_a_process_that_is_not_its_tokens(server: str, wiki: WikiInStore) -> None:
    """Whatever it says of it: that the process has ended."""
    await wiki.rows("INSERT INTO part (role, name, host, machine, pid, version) VALUES ('feed', 'here', '', '', 1, '') "
                    "RETURNING 1")  # fmt: skip
    life = {"name": "x", "host": "", "machine": "", "pid": 1, "version": "1"}
    given = {"role": "feed", "life": life, "takes": True, "gone": ["here"]}
    status, other = await call(server, "life", given, **FED)
    assert (status, other[1]) == (200, "here")


async def test_no_token_sets_where_the_api_of_a_wiki_is(server: str, wiki: WikiInStore) -> None:
    for api in ["http://evil.test", "file:///etc/passwd", "http://127.0.0.1/api.php", "", API + "?x"]:
        for dbname in (wiki.wiki.dbname, "newwiki"):
            given = {"farm": WMFLABS.name, "dbname": dbname, "api": api}
            await refused(server, wiki, "api", "wiki", given, token=FEED_TOKEN, way=FEEDERS)


async def test_a_feeder_may_name_the_address_that_the_server_has_anyway(server: str, wiki: WikiInStore) -> None:
    await wiki.rows("UPDATE wiki SET api = 'https://wiki.demo/w/api.php' RETURNING 1")
    known = {"farm": WMFLABS.name, "dbname": wiki.wiki.dbname}
    for api in (API, None):
        assert (await call(server, "wiki", {**known, "api": api}, token=FEED_TOKEN, way=FEEDERS))[0] == 200
    usual = {"farm": "WMF", "dbname": "dewiki", "api": "https://de.wikipedia.org/w/api.php"}
    assert (await call(server, "wiki", usual, token=FEED_TOKEN, way=FEEDERS))[0] == 200
    assert await wiki.rows("SELECT api FROM wiki ORDER BY api") == [(usual["api"],), (API,)]


async def test_a_page_of_watched_wikis_that_nobody_can_use_is_not_put_in_force(server: str, wiki: WikiInStore) -> None:
    """Each feeder, crawler and web process would fail by it."""
    for text in ["not json", "[1, 2]", '{"nowiki": {"namespaces": "all"}}']:
        before = await all_rows(str(wiki.pool.conninfo))
        given = {"source": "Weboid", "text": text, "fault": "", "day": DAY}
        status, words = await call(server, "record-watch-page", given, token=FEED_TOKEN, way=FEEDERS)
        assert (status, "cannot be used" in words) == (422, True), text
        assert await all_rows(str(wiki.pool.conninfo)) == before, text


async def test_text_of_a_token_is_neither_a_line_nor_a_label(
    server: str, wiki: WikiInStore, caplog: pytest.LogCaptureFixture
) -> None:
    life = {"name": "n", "host": "h", "machine": "m", "pid": 1, "version": 'x"} 1\nweboid_evil{a="'}
    assert (await call(server, "life", life))[0] == 400
    assert (await call(server, "life", {**life, "version": "evil words", "doing": "a\nb\u202e"}))[0] == 200
    alarm = {"kind": "offline", "day": DAY, "detail": "cut\n\u202eoff"}
    assert (await call(server, "raise-alarm", alarm))[0] == 200
    assert (await call(server, "refuse-day", {"since": 32_000, "detail": "a\x00\nb"}))[0] == 200
    assert sorted(await wiki.rows("SELECT since, detail FROM alarm")) == [
        (0, "far: a<U+0000><U+000A>b"),
        (DAY, "far: cut<U+000A><U+202E>off"),
    ]
    group = ["network", "192.0.2.0\nevil"]
    written = {"day": DAY, "written": [[group, DAY, {"answered": 1}]], "found": {}}
    assert (await call(server, "exchange", written))[0] == 400
    async with aiohttp.ClientSession() as client, client.get(f"{server}/metrics") as answer:
        metrics = await answer.text()
    assert "evil" not in metrics
    assert 'weboid_part_info{role="crawl",version="other"} 1.0' in metrics
    assert "evil" not in caplog.text


async def test_a_token_has_only_so_many_processes(
    server: str, wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MOST_PROCESSES", 3)
    life = {"host": "h", "machine": "m", "pid": 1, "version": "1"}
    statuses = [(await call(server, "life", {**life, "name": f"{number}"}))[0] for number in (1, 2, 3, 4, 1)]
    assert statuses == [200, 200, 200, 429, 200]
    assert (await call(server, "life", {**life, "name": "1"}, OTHER))[0] == 200


async def test_no_process_takes_the_place_of_one_of_another_token(server: str, wiki: WikiInStore) -> None:
    life = {"host": "h", "machine": "m", "pid": 1, "version": "1"}
    assert (await call(server, "life", {**life, "name": "gone"}))[0] == 200
    await wiki.execute("UPDATE part SET seen = now() - interval '2 minutes'")
    for is_last in (False, True):
        assert (await call(server, "life", {**life, "name": "next", "is_last": is_last}, OTHER))[0] == 200
        assert ("far:gone",) in await wiki.rows("SELECT name FROM part")
    assert (await call(server, "life", {**life, "name": "next"}))[0] == 200
    assert await wiki.rows("SELECT name FROM part WHERE role = 'crawl'") == [("far:next",)]


async def _workers(wiki: WikiInStore, *names: str) -> list[Work]:
    """Crawlers of these names, of a store with ninety hosts that are due; each wants buckets."""
    await wiki.take_in({number: [f"http://n{number}.demo/"] for number in range(2, 91)}, DAY)
    workers = [Work(wiki.pool, name, server_config().crawl, DEFAULT) for name in names]
    for each in workers:
        await each.find_share(Moment(DAY))
    return workers


async def test_a_token_with_many_processes_counts_as_eight(wiki: WikiInStore) -> None:
    *many, near, other = await _workers(wiki, *(f"far:{number}" for number in range(100)), "here/a:1", "other:1")
    due = await near.count_due_buckets(Moment(DAY))
    assert [(await each.find_share(Moment(DAY))).most for each in (near, other)] == [-(-due // 10)] * 2
    assert sum([len(await each.lease(Moment(DAY))) for each in many]) == -(-8 * due // 10)
    await wiki.execute("UPDATE asking_worker SET asked = now() - interval '1 minute' WHERE worker LIKE 'far:%'")
    await wiki.do(delete_past_wishes)
    assert sorted(await wiki.rows("SELECT worker FROM asking_worker")) == [("here/a:1",), ("other:1",)]


async def test_a_token_that_gives_nothing_back_is_left_its_part(
    server: str, wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    [near] = await _workers(wiki, "here/a:1")
    due = await near.count_due_buckets(Moment(DAY))
    await wiki.execute("DELETE FROM asking_worker")
    held = dict((await call(server, "lease", {"until": [DAY, None]}))[1])
    assert len(held) == due
    assert not await near.lease(Moment(DAY))
    assert len((await call(server, "renew", {"held": held}))[1]) == due
    monkeypatch.setattr(crawl_server, "_KEPT_S", 0.0)
    left = (await call(server, "renew", {"held": held}))[1]
    assert due / 2 <= len(left) <= due * 9 / 16 + 1
    assert set((await call(server, "renew", {"held": held}))[1]) == set(left)
    assert len(await near.lease(Moment(DAY))) == due - len(left)


async def test_a_new_token_goes_on_where_the_one_of_the_same_name_was(wiki: WikiInStore) -> None:
    new = f"far:{sha256(OTHER.encode()).hexdigest()}"
    async with open_server(wiki.pool, server_config(WEBOID_WEB_CRAWLERS=f"{FAR},{new}")) as url:
        held = await leased(url)
        assert await call(url, "renew", {"held": held}, token=OTHER) == (200, [*held])
        batch = {"checks": [await checked(wiki)], "held": held}
        assert (await call(url, "record", batch, token=OTHER))[1]["written"] == 1


async def test_a_token_that_was_taken_out_is_refused_at_once(wiki: WikiInStore) -> None:
    async with open_server(wiki.pool) as url:
        held = await leased(url)
    async with open_server(wiki.pool, server_config(WEBOID_WEB_CRAWLERS=f"other:{'0' * 64}")) as url:
        before = await all_rows(str(wiki.pool.conninfo))
        for name, given in (("renew", {"held": held}), ("record", {"checks": [await checked(wiki)], "held": held})):
            assert await call(url, name, given) == (401, None)
        assert await all_rows(str(wiki.pool.conninfo)) == before


def test_each_line_of_the_page_on_tokens_has_a_test_that_allows_and_one_that_refuses() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "tokens.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| ") and "test_" in line]
    assert len(lines) >= 20
    assert [len(re.findall(r"`test_\w+`", line)) for line in lines] == [2] * len(lines)
    named = set(re.findall(r"`(test_\w+)`", page))
    there = set()
    for module in (root / "tests").rglob("test_*.py"):
        there |= set(re.findall(r"def (test_\w+)", module.read_text(encoding="utf-8")))
    assert named <= there, named - there


async def test_what_no_token_may_do_is_counted_and_logged(server: str, caplog: pytest.LogCaptureFixture) -> None:
    await call(server, "confirm-day", {"day": DAY})
    async with aiohttp.ClientSession() as client, client.get(f"{server}/metrics") as answer:
        assert 'weboid_web_forbidden_calls_total{key="confirm-day",part="crawl"} 1.0' in await answer.text()
    assert "a call of the crawl far is refused" in caplog.text
