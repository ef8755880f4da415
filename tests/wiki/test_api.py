import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from shared import shared
from wikireplay import Exchange, WikiReplay, exchange, open_wiki_replay, recorded, siteinfo

from weboid.errors import SourceError
from weboid.wiki.action import Patience
from weboid.wiki.api import ApiSource
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.source import PageLinks

FIXTURE = recorded(Path(__file__).parent / "fixtures" / "api.json")
LINKS = {"prop": "extlinks|iwlinks|info", "ellimit": "500", "iwlimit": "500"}
WALK = {"generator": "allpages", "gapfilterredir": "nonredirects", "gaplimit": "50", **LINKS}


@asynccontextmanager
async def opened(*exchanges: Exchange) -> AsyncIterator[tuple[ApiSource, WikiReplay]]:
    patience = Patience(tries=2, first_pause_s=0.001)
    async with open_wiki_replay(exchanges) as replay, aiohttp.ClientSession() as session:
        yield ApiSource(replay.url, session, user_agent="Weboid-test", patience=patience), replay


def page(number: int, **more: Any) -> dict[str, Any]:
    return {"pageid": number, "ns": 0, "title": f"Page {number}", "contentmodel": "wikitext", "lastrevid": 1, **more}


def links(*urls: str) -> list[dict[str, str]]:
    return [{"url": url} for url in urls]


def answer(*pages: object, **more: object) -> dict[str, object]:
    return {"query": {"pages": list(pages)}, **more}


async def walked(source: ApiSource) -> list[PageLinks]:
    return [found async for batch in source.pages(frozenset({0})) for found in batch]


async def test_a_page_whose_links_come_in_three_answers_is_given_once() -> None:
    second = {"elcontinue": "2", "continue": "||iwlinks|info"}
    third = {"elcontinue": "3", "continue": "||iwlinks|info"}
    async with opened(
        exchange(WALK, answer(page(1, extlinks=links("http://a.net/")), page(2), **{"continue": second})),
        exchange(WALK | second, answer(page(1, extlinks=links("http://b.net/")), page(2), **{"continue": third})),
        exchange(
            WALK | third, answer(page(1, extlinks=links("http://c.net/", "http://a.net/")), page(2), batchcomplete=True)
        ),
    ) as (source, replay):
        found = await walked(source)
        assert [(one.page, one.urls) for one in found] == [
            (1, ("http://a.net/", "http://b.net/", "http://c.net/")),
            (2, ()),
        ]
        assert len(replay.asked) == 3


async def test_an_incomplete_batch_is_never_given_out() -> None:
    async with opened(exchange(WALK, answer(page(1, extlinks=links("http://a.net/"))))) as (source, _):
        with pytest.raises(SourceError, match="an end in the middle of a batch"):
            await walked(source)


async def test_a_continuation_that_goes_round_in_a_circle_ends() -> None:
    again = {"elcontinue": "2", "continue": "||"}
    round_about = answer(page(1), **{"continue": again})
    async with opened(exchange(WALK, round_about), exchange(WALK | again, round_about)) as (source, replay):
        with pytest.raises(SourceError, match="a continuation without end"):
            await walked(source)
        assert len(replay.asked) == 2


@pytest.mark.parametrize(
    "shape",
    [
        {"query": {"pages": {"1": page(1)}}},
        {"query": []},
        {"query": {"pages": []}, "continue": "yes"},
    ],
)
async def test_answers_of_another_shape_are_refused(shape: object) -> None:
    async with opened(exchange(WALK, shape)) as (source, _):
        with pytest.raises(SourceError, match=r"is it a MediaWiki's api\.php"):
            await walked(source)


async def test_hostile_entries_are_passed_over_and_hostile_text_is_made_harmless() -> None:
    odd: list[object] = [
        None,
        7,
        {"pageid": "1", "ns": 0, "title": "x"},
        page(-1),
        page(1 << 80),
        page(2, extlinks="no", iwlinks={"a": 1}),
        page(3, title="</script>\u2028\ud800\0", extlinks=[None, {"url": 5}, {"url": "http://a.net/\n\ud800"}, {}]),
        page(4, lastrevid=1 << 90),
        page(5, extlinks=links("//b.net/", "javascript:alert(1)")),
    ]
    async with opened(exchange(WALK, answer(*odd, batchcomplete=True))) as (source, _):
        assert [(one.page, one.title, one.urls) for one in await walked(source)] == [
            (2, "Page 2", ()),
            (3, "</script>\u2028\ufffd\ufffd", ("http://a.net/\ufffd\ufffd",)),
            (5, "Page 5", ("https://b.net/", "javascript:alert(1)")),
        ]


async def test_an_empty_namespace_has_no_pages() -> None:
    async with opened(exchange(WALK, {"batchcomplete": True})) as (source, _):
        assert await walked(source) == []


async def test_ids_find_pages_and_missing_ones_are_left_out() -> None:
    async with opened(*FIXTURE) as (source, replay):
        found = await source.find_pages(ids=[3, 10, 77])
        assert [(one.page, one.namespace, one.title) for one in found] == [
            (3, 0, "O'Hara's mill"),
            (10, 1, "Harbour light"),
        ]
        assert found[1].urls == ("https://words.net/wiki/Talk", "https://www.talk.net/")
        assert not replay.unknown


async def test_titles_follow_redirects_and_impossible_ones_are_left_out() -> None:
    titles = ["Old light", "O'Hara's mill", "<bad>", "Nowhere", "Special:Version", "Tide table", "a|b", "\x1fa", ""]
    async with opened(*FIXTURE) as (source, replay):
        assert [one.title for one in await source.find_pages(titles=titles)] == ["Harbour light", "O'Hara's mill"]
        assert not replay.unknown


async def test_nothing_asked_nothing_sent() -> None:
    async with opened() as (source, replay):
        assert await source.find_pages() == []
        assert replay.asked == []


async def test_more_than_fifty_pages_are_asked_in_turns() -> None:
    first, second = ("|".join(map(str, some)) for some in (range(1, 51), range(51, 61)))
    async with opened(
        exchange({"pageids": first, **LINKS}, answer(*map(page, range(1, 51)), batchcomplete=True)),
        exchange({"pageids": second, **LINKS}, answer(*map(page, range(51, 61)), batchcomplete=True)),
    ) as (source, _):
        assert [one.page for one in await source.find_pages(ids=range(1, 61))] == list(range(1, 61))


async def test_the_interwiki_map_is_fetched_once_and_only_where_it_is_needed() -> None:
    linking = page(1, iwlinks=[{"prefix": "doi", "title": "x"}])
    one, two = ({"pageids": ids, **LINKS} for ids in ("1", "2"))
    async with opened(
        exchange(one, answer(linking, batchcomplete=True)),
        exchange(two, answer(page(2), batchcomplete=True)),
        FIXTURE[0],
    ) as (source, replay):
        for number in (2, 1, 1):
            await source.find_pages(ids=[number])
        assert [question.get("meta") for question in replay.asked] == [None, None, "siteinfo", None]


async def test_a_map_that_is_given_is_not_fetched() -> None:
    linking = page(1, iwlinks=[{"prefix": "doi", "title": "x"}])
    async with (
        open_wiki_replay([exchange({"pageids": "1", **LINKS}, answer(linking, batchcomplete=True))]) as replay,
        aiohttp.ClientSession() as session,
    ):
        source = ApiSource(replay.url, session, user_agent="Weboid-test", interwiki=InterwikiMap(()))
        assert [one.urls for one in await source.find_pages(ids=[1])] == [()]


async def test_siteinfo_names_the_wiki() -> None:
    async with opened(FIXTURE[0]) as (source, _):
        told = await source.fetch_siteinfo()
        assert (told.dbname, told.server, told.sitename, told.lang) == (
            "lightwiki",
            "https://lights.wiki.net",
            "Lights",
            "en",
        )
        assert told.namespaces == {0: "", 1: "Talk"}
        assert told.interwiki.target("word", "A b") == "https://words.net/wiki/A_b"


async def test_siteinfo_of_the_real_wiki() -> None:
    async with opened(siteinfo(shared("api/siteinfo.json"))) as (source, _):
        told = await source.fetch_siteinfo()
        assert (told.dbname, told.lang, told.namespaces[2], len(told.interwiki)) == ("w145", "de", "Benutzer", 49)


async def test_a_server_that_is_no_mediawiki_has_no_siteinfo() -> None:
    async with opened(Exchange({"meta": "siteinfo"}, json.dumps({"hello": 1}).encode())) as (source, _):
        with pytest.raises(SourceError, match="no siteinfo"):
            await source.fetch_siteinfo()
