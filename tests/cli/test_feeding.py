"""`weboid feed` as people call it: spam lists, replicas, criteria, and what it says when it cannot."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.commands import Place, open_place
from support.mariadb import PASSWORD, USER, MariaServer, mariadb_server
from support.realsources import TABLES

from weboid.demo.wikipages import WikiPage
from weboid.demo.world import World

__all__ = ["mariadb_server"]

FIXTURES = Path(__file__).parents[1] / "wiki" / "fixtures"
PAGES = {"One": ["http://good.demo/", "http://pills.demo/"], "Two": ["http://pills.demo/", "http://other.demo/"]}


@pytest.fixture
async def place(database: str, tmp_path: Path) -> AsyncIterator[Place]:
    """A folder with a configuration, a little wiki, and no web behind its links."""
    async with open_place(tmp_path, World({}), PAGES) as place:
        place.environ["WEBOID_DATABASE"] = database
        yield place


async def test_a_line_of_the_spam_list_takes_links_out_of_watching_until_it_goes(place: Place) -> None:
    assert place.wiki
    await place.run("feed", "pass", "--day", "100")
    pages = place.wiki.pages
    pages["MediaWiki:Spam-blacklist"] = WikiPage(90, "MediaWiki:Spam-blacklist", text="pills\\.demo\n", namespace=8)
    listed = await place.run("feed", "pass", "--day", "101")
    assert "1 lines in force, 0 cannot be run; 2 links became spam" in listed.err
    shown = (await place.run("show", "--json", "demowiki@wmflabs:Two")).lines()
    assert [(line["normal"], line["verdict"]) for line in shown] == [
        ("http://other.demo/", "unknown"),
        ("http://pills.demo/", "spam"),
    ]
    del pages["MediaWiki:Spam-blacklist"]
    again = await place.run("feed", "pass", "--day", "102")
    assert "2 are none any more" in again.err
    shown = (await place.run("show", "--json", "demowiki@wmflabs:Two")).lines()
    assert [line["verdict"] for line in shown] == ["unknown", "unknown"]


async def test_the_first_pass_of_all_takes_the_list_that_a_farm_shares(place: Place) -> None:
    assert place.wiki
    pages = place.wiki.pages
    pages["Spam blacklist"] = WikiPage(90, "Spam blacklist", text="pills\\.demo\n")
    api = f'api = "{place.wiki.api_url}"\n'
    (place.folder / "weboid.toml").write_text(
        f'[wiki."dewiki@WMF"]\n{api}[wiki."metawiki@WMF"]\n{api}pages = ["Nothing"]\n', encoding="utf-8"
    )
    fed = await place.run("feed", "pass", "--day", "100")
    assert fed.status == 0, fed.err
    assert "spam list of metawiki@WMF: 1 lines in force" in fed.err
    shown = (await place.run("show", "--json", "dewiki@WMF:Two")).lines()
    assert [line["verdict"] for line in shown] == ["unknown", "spam"]


async def test_a_wiki_is_fed_from_its_replica(place: Place, mariadb_server: MariaServer) -> None:
    file = place.folder / "weboid.toml"
    replica = f'source = "replica"\n[replica]\nhosts = "{mariadb_server.socket}"\n'
    file.write_text(f"{file.read_text(encoding='utf-8')}{replica}", encoding="utf-8")
    place.environ |= {"TOOL_REPLICA_USER": USER, "TOOL_REPLICA_PASSWORD": PASSWORD}
    mariadb_server.replicate("demowiki", *(FIXTURES / f"{table}.sql" for table in TABLES))
    fed = await place.run("feed", "pass", "--day", "100")
    assert (fed.status, "3 pages match; 3 new" in fed.err) == (0, True), fed.err
    again = await place.run("feed", "pass", "--day", "107")
    assert "3 pages match; nothing has changed" in again.err
    shown = (await place.run("show", "--json", "demowiki@wmflabs:Harbour light")).lines()
    assert "http://www.lamps.net:8080/a?b=c" in {line["normal"] for line in shown}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('colour = "red"', "unknown key 'colour'"),
        ('namespaces = "all"', "namespaces"),
        ('source = "carrier pigeon"', "carrier pigeon"),
        ('source = "replica"', "TOOL_REPLICA_USER"),
        ("without = 3", "without"),
        ('[wiki."demowiki@wmflabs".without]\ncategories = [3]', "categories"),
    ],
)
async def test_what_cannot_be_configured_is_told(place: Place, lines: str, said: str) -> None:
    file = place.folder / "weboid.toml"
    file.write_text(f"{file.read_text(encoding='utf-8')}{lines}\n", encoding="utf-8")
    ran = await place.run("feed", "pass", "--day", "100")
    assert (ran.status, said in ran.err, "Traceback" in ran.err) == (2, True, False), ran.err
