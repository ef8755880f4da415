"""The ways in which people name a wiki and its pages."""

from urllib.parse import quote

import pytest
from support.webservice import Site

from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.pasted import pasted_address, same_wiki
from weboid.store.pages.wiki import record_wiki

_WIKI = "testwiki@wmflabs"


@pytest.mark.parametrize(
    "query",
    [
        f"dbname={_WIKI}&title=Page_1",
        "dbname=testwiki&title=Page 1",
        "dbname=TESTWIKI@wmflabs&pageid=1",
        "dbname=wiki.demo&title=Page 1",
        "dbname=http://wiki.demo/&pageid=1",
        "title=http://wiki.demo/wiki/Page_1",
        "title=wiki.demo/wiki/Page_1%23History",
        "title=" + quote("http://wiki.demo/w/index.php?title=Page_1&action=edit"),
        "title=" + quote("https://m.wiki.demo/w/index.php/Page_1"),
        "title=" + quote("http://wiki.demo/?curid=1"),
        "dbname=http://wiki.demo/wiki/Page_1",
        "dbname=http://wiki.demo/wiki/Page_1&pageid=",
    ],
)
async def test_a_page_is_found_however_it_is_named(site: Site, query: str) -> None:
    for path in ("/externalLinkInfo", "/api/page"):
        status, body, _ = await site.fetch(f"{path}?{query}")
        assert (status, "http://dead.demo/" in body) == (200, True), body[:600]


async def test_a_page_has_an_address_to_share(site: Site) -> None:
    for wiki in (_WIKI, "testwiki", "TestWiki_p", "wiki.demo"):
        status, body, response = await site.fetch(f"/page/{wiki}/Page_1")
        assert (status, response.content_type, "http://dead.demo/" in body) == (200, "text/html", True)
    status, body, _ = await site.fetch("/page/wiki.demo/AC/DC?lang=de")
    assert (status, "AC/DC" in body) == (404, True)


async def test_of_two_wikis_at_one_host_the_one_is_meant_that_is_named_with_the_address(site: Site) -> None:
    await site.wiki.do(record_wiki, WMFLABS, WikiName("twinwiki", "wmflabs"), api="http://wiki.demo/w/api.php")
    for place, is_its in [
        ("wiki/Page_1", True),
        ("w/index.php?title=Page_1", True),
        ("two/index.php?title=Page_1", False),
    ]:
        for wiki in (_WIKI, "TESTWIKI"):
            _, body, _ = await site.fetch(f"/externalLinkInfo?dbname={wiki}&title={quote(f'http://wiki.demo/{place}')}")
            assert ("http://dead.demo/" in body) == is_its, place


async def test_all_wikis_are_listed_and_the_only_one_is_filled_in(site: Site) -> None:
    page = await site.text("/wikis")
    assert _WIKI in page
    assert "wiki.demo" in page
    assert f'value="{_WIKI}"' in await site.text("/")


def test_a_text_that_is_no_address_names_nothing() -> None:
    texts = ("", "Page 1", "AC/DC", "dewiki", "//", "javascript://a.example/wiki/X", "ftp://a.example/", "//[/")
    assert [text for text in (*texts, "x" * 3_000) if pasted_address(text)] == []


def named(path: str, api: str) -> str | None:
    given = pasted_address(f"wiki.corp.example{path}")
    return given.title_at(None, f"https://wiki.corp.example{api}") if given else None


def test_an_address_names_a_title_by_the_wikis_own_paths() -> None:
    given = pasted_address("https://DE.wikipedia.org./wiki/S%C3%A3o_Paulo/A?x=1#y")
    assert given is not None
    assert (given.host, given.title_at("https://de.wikipedia.org/wiki/")) == ("de.wikipedia.org", "São_Paulo/A")
    assert given.title_at("https://de.wikipedia.org/page/") == ""
    assert named("/mediawiki/index.php/A/B", "/mediawiki/api.php") == "A/B"
    assert named("/wiki/index.php/A", "/wiki/api.php") == named("/wiki/A", "/wiki/api.php") == "A"
    assert named("/index.php/A", "/api.php") == named("/w/index.php/A", "/x/api.php") == "A"
    assert named("/wiki/index.php/A", "/w/api.php") == "index.php/A"
    assert named("/m/index.php/A", "/w/api.php") == named("/m/api.php/A", "/m/api.php") == ""
    assert same_wiki("de.m.wikipedia.org") == same_wiki("de.wikipedia.org")
    assert same_wiki("m.mediawiki.org") == same_wiki("www.mediawiki.org")
