"""A page of a wiki as the source of what is watched: what it may say, and that nothing is unwatched by accident."""

import json
import ssl
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from support.commands import Place
from support.wikireplay import open_wiki_replay, page_content

from weboid.config import NetConfig
from weboid.core.url.farms import BUILT_IN
from weboid.errors import ConfigError, SourceError
from weboid.feed.watch_list import current_watch_list
from weboid.net.outbound import open_client
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import StoredWatchList
from weboid.store.upkeep.alarm import AlarmKind, list_alarms
from weboid.wiki.watch_list import MOST_BYTES, fetch_address, read_watch_list

SOURCE = "testwiki@WMF:User:Ann/Weboid.json"
TITLE = "User:Ann/Weboid.json"


def listing(*wikis: str, **criteria: Any) -> str:
    return json.dumps(dict.fromkeys(wikis, criteria))


FOUR = listing("awiki", "bwiki", "cwiki", "dwiki")


async def read(pool: Pool, text: str | Exception, *, is_confirmed: bool = False) -> StoredWatchList:
    """What is in force after the page was read again with this text."""

    async def fetch() -> str:
        if isinstance(text, Exception):
            raise text
        return text

    async with pool.connection() as conn:
        await conn.execute("UPDATE watch_list SET seen = seen - interval '1 hour'")
    return await current_watch_list(local_feed_store(pool), SOURCE, fetch, BUILT_IN, 100, is_confirmed=is_confirmed)


async def alarms(pool: Pool) -> list[str]:
    async with pool.connection() as conn:
        return [alarm.detail for alarm in await list_alarms(conn) if alarm.kind == AlarmKind.WATCHED]


def test_a_page_has_the_keys_of_the_configuration() -> None:
    text = json.dumps(
        {"dewiki@WMF": {"namespaces": [0], "source": "replica", "without": {"pages": ["X"]}}, "frwiki": {}}
    )
    german, french = read_watch_list(text, BUILT_IN)
    assert (str(german.name), german.source, german.matching) == ("dewiki@WMF", "replica", {"namespaces": [0]})
    assert german.without == {"pages": ["X"]}
    assert str(french.name) == "frwiki@WMF"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "names no wiki"),
        ("{}", "names no wiki"),
        (listing("dewiki", api="http://127.0.0.1/w/api.php"), "addresses are not taken from a page"),
        (listing("dewiki@Other"), "Other"),
        (listing("../../etc"), "etc"),
        (listing("dewiki", namspaces=[0]), "dewiki@WMF.*namspaces"),
        (listing("dewiki", namespaces="all"), "namespaces"),
        (listing("dewiki", "dewiki@WMF"), "twice"),
        (json.dumps({"dewiki": 3}), "dewiki"),
        (listing(*(f"w{number}wiki" for number in range(1001))), "1000 wikis"),
        (listing("dewiki", pages=["\0"]), "U[+]0000"),
        (listing("dewiki", pages=["\ud800"]), "no JSON"),
        ('{"dewiki": {"pages": ["\ud800"]}}', "no JSON"),
        (" " * MOST_BYTES + FOUR, "bytes"),
    ],
)
def test_what_cannot_be_used_is_said(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_watch_list(text, BUILT_IN)


JSON = st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=5)
KEYS = st.sampled_from(["namespaces", "categories", "category_depth", "pages", "without", "source", "settings"])


@given(st.dictionaries(st.just("dewiki") | st.text(max_size=5), st.dictionaries(KEYS, JSON) | JSON) | JSON)
def test_no_page_raises_anything_but_our_error(value: Any) -> None:
    try:
        wikis = read_watch_list(json.dumps(value), BUILT_IN)
    except ConfigError:
        return
    assert len(wikis) == len(value)


async def test_a_page_that_cannot_be_used_leaves_the_one_before_in_force(pool: Pool) -> None:
    assert (await read(pool, SourceError("away"))).text is None
    assert await alarms(pool) == ["away"]
    assert (await read(pool, FOUR)).text == FOUR
    assert await alarms(pool) == []
    for wrong in (
        SourceError("away"),
        "{",
        listing("awiki", api="https://x.example/"),
        '{"\0": {}}',
        '{"\ud800\n": {}}',
    ):
        stored = await read(pool, wrong)
        assert stored.text == FOUR
        assert stored.fault
        assert await alarms(pool) == [stored.fault]
    grown = listing("awiki", "bwiki", "cwiki", "dwiki", "ewiki")
    assert await read(pool, grown) == StoredWatchList(SOURCE, grown)
    assert await alarms(pool) == []


async def test_a_page_that_drops_more_than_half_waits_for_somebody_to_confirm_it(pool: Pool) -> None:
    await read(pool, FOUR)
    half, one = listing("awiki", "bwiki"), listing("awiki")
    assert (await read(pool, half)).text == half
    refused = await read(pool, listing("xwiki"))
    assert refused.text == half
    assert refused.fault == ("it drops 2 of 2 wikis (awiki, bwiki); confirm it: weboid feed watched --confirm")
    assert (await read(pool, one)).text == one
    assert (await read(pool, listing("xwiki"), is_confirmed=True)).text == listing("xwiki")
    assert await alarms(pool) == []
    assert (await read(pool, "{}", is_confirmed=True)).text == listing("xwiki"), "what is unusable is so for everybody"


async def test_it_is_read_at_a_bounded_interval(pool: Pool) -> None:
    asked = []

    async def fetch() -> str:
        asked.append(1)
        return FOUR

    for _ in range(3):
        assert (await current_watch_list(local_feed_store(pool), SOURCE, fetch, BUILT_IN, 100)).text == FOUR
    assert len(asked) == 1


async def test_an_address_is_read_by_https_only_and_not_beyond_its_limit() -> None:
    async with aiohttp.ClientSession() as client:
        with pytest.raises(SourceError, match="https"):
            await fetch_address(client, "http://127.0.0.1:9/x.json", "test")
        for url in ("https://127.0.0.1:9/x.json", "https://[/x"):
            with pytest.raises(SourceError, match="cannot be read"):
                await fetch_address(client, url, "test")


async def test_an_address_is_read_through_the_guard_without_redirects() -> None:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    bodies = {"/fine": FOUR, "/long": " " * (MOST_BYTES + 1)}

    async def answer(request: web.Request) -> web.Response:
        if request.path not in bodies:
            raise web.HTTPFound("/fine")
        return web.Response(text=bodies[request.path])

    site = web.Application()
    site.router.add_get("/{any}", answer)
    runner = web.AppRunner(site, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    base = f"https://127.0.0.1:{runner.addresses[0][1]}"
    try:
        with authority.cert_pem.tempfile() as file:
            settings = NetConfig(permit=(ip_network("127.0.0.0/8"),), ca=Path(file))
            async with open_client(settings) as client:
                assert await fetch_address(client, f"{base}/fine", "test") == FOUR
                for path, said in (("/long", "bytes"), ("/moved", "HTTP 302")):
                    with pytest.raises(SourceError, match=said):
                        await fetch_address(client, base + path, "test")
            async with open_client(replace(settings, permit=())) as client:
                with pytest.raises(SourceError, match="is in a private network"):
                    await fetch_address(client, f"{base}/fine", "test")
    finally:
        await runner.cleanup()


async def test_the_command_shows_what_is_watched_and_confirms_it(database: str, tmp_path: Path) -> None:
    place = Place(tmp_path, environ={"WEBOID_DATABASE": database, "WEBOID_NET_PERMIT": "127.0.0.0/8"})
    place.environ["WEBOID_FEED_WATCHED"] = SOURCE
    answers = [page_content(TITLE, text) for text in (listing("awiki", "bwiki", "testwiki"), None, listing("cwiki"))]
    async with open_wiki_replay(answers) as replay:
        (tmp_path / "weboid.toml").write_text(f'[wiki.testwiki]\napi = "{replay.url}"\n', encoding="utf-8")
        shown = await place.run("feed", "watched")
        assert (shown.status, shown.out.split()) == (0, ["testwiki@WMF", "awiki@WMF", "bwiki@WMF"])
        assert (await place.run("feed", "watched")).out == shown.out
        gone = await place.run("feed", "watched", "--confirm")
        assert (gone.status, gone.out) == (2, shown.out)
        assert "there is no such page" in gone.err
        confirmed = await place.run("feed", "watched", "--confirm")
        assert (confirmed.status, confirmed.out.split()) == (0, ["testwiki@WMF", "cwiki@WMF"])
        assert len(replay.asked) == 3
