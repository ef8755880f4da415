"""R-8, R-12: a link's card, looked at once for everybody, and only when somebody opens it."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from support.misbehaving import Act, Asked, head_only, reply, serve
from support.stored import key
from support.webservice import DEAD, MOVED, PAGES, PDF, TODAY, WALLED, Site, open_service

from weboid.checking.looks import open_looks
from weboid.checking.turns import NotAsked
from weboid.config import load_config
from weboid.core.document.card import CardText
from weboid.maintain.expiry import expire, planned
from weboid.store.db.pool import open_pool
from weboid.store.urls.card import KEPT_DAYS, StoredCard, claim_look, find_card, give_back, record_card
from weboid.store.urls.url import find_urls
from weboid.web.answer import cards

_TEXT = CardText("Weboid: safe", "Ann Lee", "A tower.", "de", 3, 20, 4)
_CARD = StoredCard(_TEXT, 200, None, 12, "https://other.demo/new", is_whole=True)


class Looks:
    """Looks that find what they are to find, and how many there were of each URL."""

    def __init__(self, found: StoredCard = _CARD, pause_s: float = 0.0) -> None:
        self.asked: Counter[tuple[str, bool]] = Counter()
        self.found = found
        self.pause_s = pause_s
        self.error: Exception | None = None

    async def __call__(self, url: str, is_file: bool) -> StoredCard:
        self.asked[url, is_file] += 1
        await asyncio.sleep(self.pause_s)
        if self.error:
            raise self.error
        return self.found


async def card(site: Site, url: str = MOVED, more: str = "", expected: int = 200, page: int = 1) -> Any:
    path = f"/api/card?url={quote(url, safe='')}&dbname=testwiki@wmflabs&pageid={page}{more}"
    status, _, response = await site.fetch(path)
    assert status == expected
    return await response.json()


async def test_a_card_has_what_a_look_found_and_what_a_click_does(site_database: str, tmp_path: Path) -> None:
    looks = Looks()
    async with open_service(site_database, tmp_path, look=looks) as site:
        found = await card(site, more="&pagelang=en-GB")
        again = await card(site)
    assert looks.asked == {(MOVED, False): 1}
    assert found["link"]["normal"] == MOVED
    assert found["card"] == {
        "state": "known",
        "looked": found["day"],
        "title": "Weboid: safe",
        "author": "Ann Lee",
        "description": "A tower.",
        "language": "de",
        "mime": None,
        "size_kib": 12,
        "http": 200,
        "holds": {"headings": 3, "links": 20, "pictures": 4, "whole": True},
        "click": {"download": False, "other_site": "other.demo", "other_language": True, "leaves_https": False},
    }
    assert again["card"]["click"]["other_language"] is None


async def test_pages_that_are_shown_ask_for_nothing(site_database: str, tmp_path: Path) -> None:
    looks = Looks()
    async with open_service(site_database, tmp_path, look=looks) as site:
        for path in (*PAGES.values(), "/api/page?dbname=testwiki@wmflabs&pageid=1&all=1"):
            await site.fetch(path)
        async with site.wiki.pool.connection() as conn:
            assert await find_card(conn, MOVED) is None
    assert not looks.asked


async def test_files_are_asked_for_their_header_alone(site_database: str, tmp_path: Path) -> None:
    looks = Looks(StoredCard(http=200, mime="pdf", size_kib=7, is_download=True))
    async with open_service(site_database, tmp_path, look=looks) as site:
        found = (await card(site, PDF))["card"]
    assert looks.asked == {(PDF, True): 1}
    assert (found["mime"], found["size_kib"], found["holds"]) == ("pdf", 7, None)
    assert found["click"]["download"]


@pytest.mark.parametrize(
    ("url", "environ"), [(DEAD, {}), ("http://example.org/", {}), (MOVED, {"WEBOID_WEB_CARDS": "0"})]
)
async def test_what_is_dead_or_never_contacted_and_without_room_for_cards_nothing_is_looked_at(
    url: str, environ: dict[str, str], site_database: str, tmp_path: Path
) -> None:
    looks = Looks()
    async with open_service(site_database, tmp_path, look=looks, environ=environ) as site:
        assert (await card(site, url))["card"]["state"] == "none"
    assert not looks.asked


async def test_what_no_evaluated_page_has_is_not_looked_at(site_database: str, tmp_path: Path) -> None:
    looks = Looks()
    async with open_service(site_database, tmp_path, look=looks) as site:
        site.source.found[3] = replace(site.source.found[3], urls=("http://new.demo/",))
        assert (await card(site, "http://new.demo/", page=3))["card"]["state"] == "none"
        await card(site, "http://new.demo/", page=1, expected=404)
    assert not looks.asked


async def test_a_thousand_cards_opened_at_once_by_two_processes_are_one_look_a_url(
    site_database: str, tmp_path: Path
) -> None:
    looks = Looks(pause_s=0.2)
    urls = [MOVED, WALLED, PDF]
    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(open_service(site_database, tmp_path, look=looks)) for _ in range(2)]

        async def open_one(number: int) -> str:
            site, url = sites[number % 2], urls[number % 3]
            path = f"/api/card?url={quote(url, safe='')}&dbname=testwiki@wmflabs&pageid=1"
            status, _, response = await site.fetch(path)
            return str((await response.json())["card"]["state"]) if status == 200 else str(status)

        states = Counter(await asyncio.gather(*map(open_one, range(1_000))))
        assert [(await card(site, url))["card"]["state"] for site in sites for url in urls] == ["known"] * 6
    assert looks.asked == {(MOVED, False): 1, (WALLED, False): 1, (PDF, True): 1}
    assert states.keys() <= {"known", "503"}
    assert states["known"] > 0


async def test_nobody_waits_long_for_a_slow_server(
    site_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "WAIT_S", 0.1)
    looks = Looks(pause_s=1.0)
    async with open_service(site_database, tmp_path, look=looks) as site:
        assert (await card(site))["card"]["state"] == "pending"
        assert (await card(site))["card"]["state"] == "pending"
        await asyncio.sleep(1.2)
        assert (await card(site))["card"]["state"] == "known"
    assert looks.asked.total() == 1


@pytest.mark.parametrize("error", [NotAsked("the wait is too long"), ValueError("a bug of ours")])
async def test_a_look_that_could_not_be_made_is_given_back(
    error: Exception, site_database: str, tmp_path: Path
) -> None:
    looks = Looks()
    looks.error = error
    async with open_service(site_database, tmp_path, look=looks) as site:
        assert (await card(site))["card"]["state"] == "pending"
        looks.error = None
        assert (await card(site))["card"]["state"] == "known"


async def test_a_look_is_no_check(site_database: str, tmp_path: Path) -> None:
    async with open_service(site_database, tmp_path, look=Looks(StoredCard(http=404))) as site:
        async with site.wiki.pool.connection() as conn:
            before = await find_urls(conn, [key(MOVED)])
        assert (await card(site))["card"]["http"] == 404
        async with site.wiki.pool.connection() as conn:
            assert await find_urls(conn, [key(MOVED)]) == before


async def test_cards_are_bounded_claimed_once_and_expire(site_database: str, tmp_path: Path) -> None:
    async with open_service(site_database, tmp_path) as site:
        pool = site.wiki.pool
        async with pool.connection() as conn:
            assert await claim_look(conn, "http://a.demo/", 100, 1)
            assert not await claim_look(conn, "http://a.demo/", 100, 1)
            assert not await claim_look(conn, "http://b.demo/", 100, 1)
            assert await claim_look(conn, "http://a.demo/", 101, 2)  # its process was killed
            await record_card(conn, "http://a.demo/", _CARD)
            await give_back(conn, "http://a.demo/")  # nothing is open
            assert not await claim_look(conn, "http://a.demo/", 100 + KEPT_DAYS, 2)
            assert await claim_look(conn, "http://a.demo/", 101 + KEPT_DAYS, 2)
            kept = await find_card(conn, "http://a.demo/")
            assert kept == (_CARD, 101 + KEPT_DAYS, True)
            plan = await planned(conn, TODAY)
        await expire(pool, plan, 101 + 2 * KEPT_DAYS)
        async with pool.connection() as conn:
            assert await find_card(conn, "http://a.demo/")
        await expire(pool, plan, 102 + 2 * KEPT_DAYS)
        async with pool.connection() as conn:
            assert await find_card(conn, "http://a.demo/") is None


async def test_a_look_obeys_robots_txt_reads_a_page_and_only_the_header_of_a_file(
    site_database: str, tmp_path: Path
) -> None:
    def script(asked: Asked) -> Act:
        match asked.target:
            case "/robots.txt":
                return reply(200, body=b"User-agent: *\nDisallow: /private", kind="text/plain")
            case "/a.pdf":
                return head_only(
                    asked,
                    reply(200, "Content-Disposition: attachment", body=b"%PDF-" + b" " * 9_000, kind="application/pdf"),
                )
            case "/old":
                return reply(302, "Location: /private/x")
            case "/gone":
                return reply(404, body=b"<title>Gone</title>")
        return reply(200, body=b"<title>The Tower</title><p>" + b"word " * 30_000)

    environ = {"WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_CRAWL_DELAY": "0.01", "WEBOID_CRAWL_STOP": "stopped.demo"}
    config = load_config(None, environ, data=tmp_path)
    async with (
        serve(script) as server,
        open_pool(site_database, size=2, part="test") as pool,
        open_looks(config, pool) as look,
    ):
        page = await look(server.url("/page"), False)
        file = await look(server.url("/a.pdf"), True)
        private, led, gone = [await look(server.url(path), False) for path in ("/private/y", "/old", "/gone")]
        stopped = await look("http://stopped.demo/", False)
    assert (page.text.title, page.http, page.is_whole) == ("The Tower", 200, False)
    assert (file.mime, file.size_kib, file.is_download, file.text) == ("pdf", 9, True, CardText())
    assert (private, stopped) == (StoredCard(), StoredCard())
    assert led.text == gone.text == CardText()
    assert gone.http == 404
    assert server.lines().count("GET /robots.txt") == 1
    assert {"HEAD /a.pdf", "GET /page"} <= set(server.lines())
    assert not {"GET /a.pdf", "HEAD /page", "GET /private/y"} & set(server.lines())
