"""The one contract of all sources: the same wiki, read through its API or its dumps, is the same (L-2)."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from support.mariadb import MariaServer
from support.realsources import api_source, body_of, dump_source, open_real_api, open_replica, real_wiki, recorded_walk
from support.shared import shared
from support.wikireplay import info_read, info_walk, live_read, open_wiki_replay, recorded, siteinfo

from weboid.core.url.link_kind import InterwikiLink
from weboid.wiki.criteria import build
from weboid.wiki.criteria.named import pages_in
from weboid.wiki.dump import DumpSource
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.source import PageLinks, WikiSource

FIXTURES = Path(__file__).parent / "fixtures"

LIGHT = PageLinks(
    1,
    0,
    "Harbour light",
    101,
    None,
    (
        "http://192.0.2.7/x",
        "http://www.lamps.net:8080/a?b=c#d",
        "https://doi.resolver.net/10.5555/12(3)",
        "mailto:keeper@lamps.net",
    ),
    (InterwikiLink("https://doi.resolver.net/10.5555/12(3)", "doi", "10.5555/12(3)"),),
)
MILL = PageLinks(3, 0, "O'Hara's mill", 103, None, ())
LION = PageLinks(
    4,
    0,
    'Café "Zum Löwen"',
    104,
    None,
    ("https://löwe.net/Karte_(1),(2,'x'),", "https://words.net/wiki/L%C3%B6we/a_b%3F"),
    (InterwikiLink("https://words.net/wiki/L%C3%B6we/a_b%3F", "word", "Löwe/a b?"),),
)
TALK = PageLinks(
    10,
    1,
    "Harbour light",
    110,
    None,
    ("https://words.net/wiki/Talk", "https://www.talk.net/"),
    (InterwikiLink("https://words.net/wiki/Talk", "word", "Talk"),),
)


Source = DumpSource | WikiSource


@pytest.fixture(params=["api", "dump", "replica"])
async def source(request: pytest.FixtureRequest) -> AsyncIterator[Source]:
    if request.param == "dump":
        yield dump_source(FIXTURES, ".sql")
        return
    if request.param == "replica":
        async with open_replica(request.getfixturevalue("mariadb_server"), FIXTURES, ".sql") as replica:
            yield replica
        return
    recordings = recorded(FIXTURES / "api.json")
    walks = [one for namespace in (0, 1, 2) for one in info_walk(recordings, namespace, at_once=2)]
    reads = [live_read(recordings, 1, 3, 4), live_read(recordings, 1, 3, 4, 10)]
    async with open_wiki_replay([*recordings, *walks, *reads]) as replay, aiohttp.ClientSession() as session:
        yield api_source(replay, session)
        assert not replay.unknown


async def test_every_wikitext_page_of_the_namespaces_comes_with_all_its_links_or_none(source: Source) -> None:
    assert await _list_pages(source, {0}) == [LIGHT, MILL, LION]
    assert await _list_pages(source, {0, 1}) == [LIGHT, MILL, LION, TALK]
    assert await _list_pages(source, {2}) == [], "scripts are no wikitext"
    assert await _list_pages(source, set()) == []


async def test_the_real_wiki_is_the_same_through_its_api_and_its_dump() -> None:
    dumped = await _list_pages(dump_source(real_wiki()), {0})
    async with open_real_api() as source:
        asked = await _list_pages(source, {0})
    assert len(asked) == 178
    assert sum(len(page.urls) for page in asked) == 7377
    assert sum(len(page.interwiki) for page in asked) == 43
    # One link of 7,377 differs. [news:comp.lang] on page 29 stands in the table as ('news:lang.comp.', ''): turned back
    # that is what the page says, but the API's answer has lost the name and is left with the bare scheme.
    assert _links(asked) - _links(dumped) == {(29, "news:")}
    assert _links(dumped) - _links(asked) == {(29, "news:comp.lang")}
    assert [replace(page, urls=()) for page in asked] == [replace(page, urls=()) for page in dumped]


@pytest.mark.parametrize(
    ("folder", "namespaces", "size"), [("wiki", {0}, (178, 7377)), ("ltgwiki", {0, 10}, (1206, 941))]
)
async def test_a_real_wiki_is_the_same_through_its_replica_and_its_dump(
    mariadb_server: MariaServer, folder: str, namespaces: set[int], size: tuple[int, int]
) -> None:
    async with open_replica(mariadb_server, real_wiki(folder)) as replica:
        asked = await _read_live(replica, namespaces)
    dump = dump_source(real_wiki(folder))
    dumped = [page async for batch in dump.pages(frozenset(namespaces)) for page in batch]
    assert sorted(asked, key=lambda page: page.page) == dumped
    assert (len(asked), sum(len(page.urls) for page in asked)) == size
    assert any(page.interwiki for page in asked)


async def test_the_states_of_the_real_wikis_pages_are_found_as_they_are_walked() -> None:
    recordings = recorded_walk()
    walk = info_walk(recordings, at_once=100)
    exchanges = [*walk, info_read(recordings, *range(100, 150)), info_read(recordings, 5_000)]
    async with open_wiki_replay(exchanges) as replay, aiohttp.ClientSession() as session:
        source = api_source(replay, session)
        stretches = [stretch async for stretch in source.walk(pages_in(0))]
        walked = {page.page: page for stretch in stretches for page in stretch.pages}
        assert [len(stretch.pages) for stretch in stretches] == [100, 78]
        assert [page for page in walked.values() if page.mark is None or page.latest == 0] == []
        found = await source.find_states(range(100, 150))
        assert found == [walked[page] for page in range(100, 150) if page in walked]
        assert len(found) > 20
        assert await source.find_states([5_000]) == []
        assert not replay.unknown


async def test_the_targets_that_we_fill_are_those_that_mediawiki_tells() -> None:
    recorded_siteinfo = siteinfo(shared("api/siteinfo.json"))
    interwiki = InterwikiMap.from_siteinfo(body_of(recorded_siteinfo)["query"]["interwikimap"])
    links = [
        link
        for one in recorded(shared("api/allpages-links.json.gz"))
        for page in body_of(one)["query"]["pages"]
        for link in page.get("iwlinks", ())
    ]
    assert len(links) == 43
    assert [interwiki.target(link["prefix"], link["title"]) for link in links] == [link["url"] for link in links]


def _links(pages: Sequence[PageLinks]) -> set[tuple[int, str]]:
    return {(page.page, url) for page in pages for url in page.urls}


async def _list_pages(source: Source, namespaces: set[int]) -> list[PageLinks]:
    """All pages by id: a sweep's as they come, a live source's met by a criterion and then read.

    Without their marks, the one thing in which sources may differ.
    """
    if isinstance(source, DumpSource):
        found = [page async for batch in source.pages(frozenset(namespaces)) for page in batch]
    else:
        found = await _read_live(source, namespaces)
    assert all(list(page.urls) == sorted(set(page.urls)) for page in found)
    return sorted((replace(page, mark=None) for page in found), key=lambda page: page.page)


async def _read_live(source: WikiSource, namespaces: set[int]) -> list[PageLinks]:
    walks = [criterion.walk(source) for criterion in build({"namespaces": namespaces})]
    met = [page for walk in walks async for stretch in walk for page in stretch.pages if page.is_watchable]
    found = await source.find_pages(ids=sorted(page.page for page in met))
    facts = {(page.page, page.namespace, page.title, page.latest, page.mark) for page in found}
    assert facts == {(page.page, page.namespace, page.title, page.latest, page.mark) for page in met}
    return found
