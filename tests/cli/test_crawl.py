"""``weboid crawl``: suggestions are checked beside the rounds, and hold nobody up (A-4)."""

import asyncio
from dataclasses import replace
from io import StringIO
from ipaddress import ip_network
from pathlib import Path

import pytest
from rich.console import Console
from support.commands import LIMIT_S, Place
from support.misbehaving import Act, Asked, Silence, head_only, reply, serve
from support.stored import WikiInStore, key, open_wiki

from weboid.cli.crawl import crawl
from weboid.config import Config, CrawlConfig, load_config
from weboid.store.people.replacement import find_replacements, record_replacement

URLS = [f"http://dead.demo/{number}" for number in range(3)]


def config_of() -> Config:
    config = load_config(None, {})
    net = replace(config.net, permit=(ip_network("127.0.0.0/8"),), connections=20, connect_s=1.0, answer_s=1.0)
    return replace(config, contact="tests@weboid.demo", net=net, crawl=CrawlConfig(delay=0.0))


async def suggest(wiki: WikiInStore, url: str, target: str) -> None:
    async with wiki.pool.connection() as conn:
        await record_replacement(conn, key(url), archive=0, target=target, day=100, subject="7", name="Ann")


async def asked(wiki: WikiInStore, url: str) -> tuple[int | None, bool]:
    async with wiki.pool.connection() as conn:
        [found] = await find_replacements(conn, key(url))
    return found.asked, found.works


async def test_one_call_checks_the_links_that_are_due_and_the_suggestions(database: str) -> None:
    def script(request: Asked) -> Act:
        return head_only(request, reply(200 if request.target in ("/link", "/new") else 404, body=b"<p>A mill."))

    async with serve(script) as site, open_wiki(database, {1: [site.url("/link")]}) as wiki:
        await wiki.take_in({2: URLS}, 1_000)
        await suggest(wiki, URLS[0], site.url("/new"))
        await suggest(wiki, URLS[1], site.url("/gone"))
        await crawl(config_of(), wiki.pool, lambda: 100, once=True, console=Console(file=StringIO()))
        assert await asked(wiki, URLS[0]) == (100, True)
        assert await asked(wiki, URLS[1]) == (100, False)
        assert (await wiki.known(site.url("/link"))).record.checked == 100


@pytest.mark.long
async def test_a_crawler_that_is_told_to_stop_does_not_wait_for_a_suggestion_for_long(
    database: str, tmp_path: Path
) -> None:
    arrived = asyncio.Event()

    def script(request: Asked) -> Act:
        arrived.set()
        return Silence()

    place = Place(
        tmp_path,
        environ={
            "WEBOID_DATABASE": database,
            "WEBOID_NET_PERMIT": "127.0.0.0/8",
            "WEBOID_NET_ANSWER_S": "300",
            "WEBOID_CRAWL_DELAY": "0",
        },
    )
    async with serve(script) as site, open_wiki(database, {1: URLS}, day=1_000) as wiki:
        await suggest(wiki, URLS[0], site.url("/new"))
        try:
            process = await place.start("crawl", "--day", "100")
            async with asyncio.timeout(LIMIT_S):
                await arrived.wait()
                process.terminate()
                assert await process.wait() == 0
        finally:
            await place.end()
        assert await asked(wiki, URLS[0]) == (None, False)
