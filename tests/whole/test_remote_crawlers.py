"""Weboid's commands on a machine without a database (O-1): what happens on their way is in ``tests/remote``."""

from pathlib import Path

from support.commands import Place, open_place
from support.eventmaker import links_added
from support.remote import CRAWLERS, FEED_TOKEN, FEEDERS, TOKEN
from support.sseserver import open_event_server

from weboid.demo.world import Host, Page, Spell, World

WORLD = World({"site.demo": Host(paths={path: (Spell(0, Page()),) for path in ("/a", "/b")})})


async def test_a_wiki_is_fed_and_its_links_are_checked_by_machines_without_a_database(
    database: str, tmp_path: Path
) -> None:
    (tmp_path / "near").mkdir()
    (tmp_path / "far").mkdir()
    async with open_place(tmp_path / "near", WORLD, {"All": ["http://site.demo/a"]}) as near:
        assert near.web
        assert near.wiki
        far = Place(tmp_path / "far", environ={**near.environ, "WEBOID_CRAWL_TOKEN": TOKEN})
        far.environ["WEBOID_FEED_TOKEN"] = FEED_TOKEN
        far.watch("demowiki@wmflabs", near.wiki.api_url)
        near.environ |= {"WEBOID_WEB_CRAWLERS": CRAWLERS, "WEBOID_WEB_FEEDERS": FEEDERS, "WEBOID_DATABASE": database}
        _, core = await near.serve("--day", "100")
        added = near.web.located("http://site.demo/b")
        async with open_event_server([links_added(1, [added], 1, wiki="demowiki")]) as events:
            following = ("feed", "events", "--once", "--farm", "wmflabs", "--url", events.url)
            for call in (("feed", "pass"), following, ("crawl", "--once")):
                ran = await far.run(*call, "--day", "100", "--core", core)
                assert ran.status == 0, ran.err
        for url in (near.web.located("http://site.demo/a"), added):
            [line] = (await near.run("show", "--json", url)).lines()
            assert (line["verdict"], line["checked"]) == ("working", "2017-04-11")


async def test_a_remote_crawler_without_a_token_or_a_server_says_what_to_do(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ran = await place.run("crawl", "--once", "--core", "https://core.demo")
    assert (ran.status, "WEBOID_CRAWL_TOKEN" in ran.err) == (2, True)
    place.environ["WEBOID_CRAWL_TOKEN"] = "hush"
    ran = await place.run("crawl", "--once", "--core", "http://127.0.0.1:1")
    assert (ran.status, "the server cannot be reached" in ran.err) == (2, True)
    assert "hush" not in ran.err + ran.out
