import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from support.shared import shared
from support.wikireplay import Exchange, WikiReplay, exchange, open_wiki_replay, recorded, siteinfo

from weboid.core.url.link_kind import InterwikiLink
from weboid.core.wikitext.titles import Namespace
from weboid.errors import SourceError, TooManyLinks
from weboid.wiki import api
from weboid.wiki.action import ApiPatience
from weboid.wiki.api import ApiSource
from weboid.wiki.api_pages import namespaces_of
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.source import Members, PageLinks, PageState, Selection

FIXTURE = recorded(Path(__file__).parent / "fixtures" / "api.json")
LINKS = {"prop": "extlinks|iwlinks|info", "ellimit": "500", "iwlimit": "500"}
READ = {"pageids": "1|2", **LINKS}
WALK = {"generator": "allpages", "gapnamespace": "0", "gaplimit": "500", "prop": "info"}
ALL = Selection({"generator": "allpages", "gapnamespace": "0"}, "select_namespace", {"namespace": 0})
TITLES = Selection({"titles": "Page 1"}, "select_titles", {})


@asynccontextmanager
async def opened(*exchanges: Exchange) -> AsyncIterator[tuple[ApiSource, WikiReplay]]:
    patience = ApiPatience(tries=2, first_pause_s=0.001)
    async with open_wiki_replay(exchanges) as replay, aiohttp.ClientSession() as session:
        yield ApiSource(replay.url, session, user_agent="Weboid-test", patience=patience), replay


def page(number: int, **more: Any) -> dict[str, Any]:
    return {"pageid": number, "ns": 0, "title": f"Page {number}", "contentmodel": "wikitext", "lastrevid": 1, **more}


def links(*urls: str) -> list[dict[str, str]]:
    return [{"url": url} for url in urls]


def answer(*pages: object, **more: object) -> dict[str, object]:
    return {"query": {"pages": list(pages)}, **more}


async def read(source: ApiSource) -> list[PageLinks]:
    return await source.find_pages(ids=[1, 2])


async def walked(source: ApiSource, place: str = "", selection: Selection = ALL) -> list[PageState]:
    return [found async for stretch in source.walk(selection, place) for found in stretch.pages]


def then(title: str) -> dict[str, Any]:
    return {"continue": {"gapcontinue": title, "continue": "gapcontinue||"}}


async def test_a_page_whose_links_come_in_three_answers_is_given_once() -> None:
    second = {"elcontinue": "2", "continue": "||iwlinks|info"}
    third = {"elcontinue": "3", "continue": "||iwlinks|info"}
    last = page(1, extlinks=links("http://c.net/", "http://a.net/"))
    async with opened(
        exchange(READ, answer(page(1, extlinks=links("http://a.net/")), page(2), **{"continue": second})),
        exchange(READ | second, answer(page(1, extlinks=links("http://b.net/")), page(2), **{"continue": third})),
        exchange(READ | third, answer(last, page(2), batchcomplete=True)),
    ) as (source, replay):
        found = [(one.page, one.urls) for one in await read(source)]
        assert found == [(1, ("http://a.net/", "http://b.net/", "http://c.net/")), (2, ())]
        assert len(replay.asked) == 3


async def test_answers_of_another_shape_and_batches_without_an_end_are_refused() -> None:
    unread: list[object] = [{"query": []}, {"query": {"pages": []}, "continue": "yes"}]
    for shape in ({"query": {"pages": {"1": page(1)}}}, *unread):
        async with opened(exchange(READ, shape)) as (source, _):
            with pytest.raises(SourceError, match=r"is it a MediaWiki's api\.php"):
                await read(source)
    async with opened(exchange(READ, answer(page(1), extlinks=links("http://a.net/")))) as (source, _):
        with pytest.raises(SourceError, match="an end in the middle of a batch"):
            await read(source)
    off = {"extlinks": {"warnings": 'The "extlinks" module has been disabled.'}}
    unknown = {"query": {"warnings": "Unrecognized value for parameter 'prop': iwlinks"}}
    for warnings in (off, unknown):
        async with opened(exchange(READ, answer(page(1), batchcomplete=True, warnings=warnings))) as (source, _):
            with pytest.raises(SourceError, match="gives no links of pages"):
                await read(source)
    fewer = {"extlinks": {"warnings": '"ellimit" may not be over 50 (set to 500) for users.'}}
    async with opened(exchange(READ, answer(page(1), batchcomplete=True, warnings=fewer))) as (source, _):
        assert len(await read(source)) == 1
    again = {"elcontinue": "2", "continue": "||"}
    round_about = answer(page(1), **{"continue": again})
    async with opened(exchange(READ, round_about), exchange(READ | again, round_about)) as (source, replay):
        with pytest.raises(SourceError, match="a continuation without end"):
            await read(source)
        assert len(replay.asked) == 2


async def test_hostile_entries_are_passed_over_and_hostile_text_is_made_harmless() -> None:
    odd: list[object] = [
        None,
        7,
        {"pageid": "1", "ns": 0, "title": "x"},
        page(-1),
        page(1 << 80),
        page(6, ns=1 << 31),
        page(7, ns=-1),
        page(2, extlinks="no", iwlinks={"a": 1}),
        page(3, title="</script>\u2028\ud800\0", extlinks=[None, {"url": 5}, {"url": "http://a.net/\n\ud800"}, {}]),
        page(4, lastrevid=1 << 90),
        page(5, extlinks=links("//b.net/", "javascript:alert(1)")),
    ]
    async with opened(exchange(READ, answer(*odd, batchcomplete=True))) as (source, _):
        assert [(one.page, one.title, one.urls) for one in await read(source)] == [
            (2, "Page 2", ()),
            (3, "</script>\u2028\ufffd\ufffd", ("http://a.net/\ufffd\ufffd",)),
            (5, "Page 5", ("https://b.net/", "javascript:alert(1)")),
        ]


async def test_a_walk_goes_on_from_the_place_of_every_stretch() -> None:
    async with opened(
        exchange(WALK, answer(page(2), page(1), batchcomplete=True, **then("C"))),
        exchange(
            WALK | then("C")["continue"], answer(page(5), **{"continue": {"incontinue": "9", **then("C")["continue"]}})
        ),
        exchange(WALK | {"incontinue": "9"} | then("C")["continue"], answer(page(4), batchcomplete=True, **then("E"))),
        exchange(WALK | then("E")["continue"], answer(page(3), batchcomplete=True)),
    ) as (source, replay):
        stretches = [stretch async for stretch in source.walk(ALL)]
        assert [[found.page for found in stretch.pages] for stretch in stretches] == [[1, 2], [4, 5], [3]]
        left = [[found.page for found in await walked(source, stretch.place)] for stretch in stretches]
        assert left == [[4, 5, 3], [3], []]
        assert not replay.unknown


async def test_a_walk_tells_of_pages_what_their_info_says_and_passes_missing_ones_over() -> None:
    listed = [
        page(1, touched="2026-11-21T02:07:03Z", lastrevid=7),
        page(2, ns=14, title="Kategorie:A: b", redirect=True, touched="yesterday"),
        page(3, contentmodel="json", touched=5),
        page(4, redirect="no"),
    ]
    async with opened(exchange(WALK, answer(*listed, batchcomplete=True))) as (source, _):
        assert await walked(source) == [
            PageState(1, 0, "Page 1", 7, 20261121020703),
            PageState(2, 14, "A: b", 1, None, redirect=True),
            PageState(3, 0, "Page 3", 1, None, "json"),
            PageState(4, 0, "Page 4", 1, None),
        ]
    listed = [{"ns": 0, "title": "Nowhere", "missing": True}, {"pageid": 3, "ns": 0, "title": "x"}, page(1)]
    titles = exchange({"titles": "Page 1", "prop": "info"}, answer(*listed, batchcomplete=True))
    async with opened(titles, exchange(WALK, {"batchcomplete": True})) as (source, _):
        assert [found.page for found in await walked(source, selection=TITLES)] == [1]
        assert await walked(source) == []


async def test_a_walk_in_a_wide_circle_or_through_endless_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    circle = [
        exchange(WALK | then(here)["continue"], answer(page(1), batchcomplete=True, **then(there)))
        for here, there in zip("ABCDE", "BCDEA", strict=True)
    ]
    async with opened(exchange(WALK, answer(batchcomplete=True, **then("A"))), *circle) as (source, replay):
        with pytest.raises(SourceError, match="a continuation without end"):
            await walked(source)
        assert len(replay.asked) < 20
    monkeypatch.setattr(api, "_MOST_ANSWERS", 3)
    void = [
        exchange(WALK | then(str(number))["continue"], {"batchcomplete": True, **then(str(number + 1))})
        for number in range(9)
    ]
    async with opened(exchange(WALK, answer(page(1), batchcomplete=True, **then("0"))), *void) as (source, replay):
        with pytest.raises(SourceError, match="a continuation without end"):
            await walked(source)
        assert len(replay.asked) == 1 + 3


async def test_a_place_that_is_another_sources_or_that_the_wiki_refuses_begins_anew_once() -> None:
    async with opened(exchange(WALK, answer(page(1), batchcomplete=True))) as (source, _):
        for place in ("12345", "not JSON", '["namespaces", ""]'):
            assert [found.page for found in await walked(source, place)] == [1]
    refusal = {"error": {"code": "badcontinue", "info": "Invalid continue param."}}
    anew = exchange(WALK, answer(page(1), batchcomplete=True, **then("B")))
    later = exchange(WALK | then("B")["continue"], refusal)
    async with opened(exchange(WALK | then("Z")["continue"], refusal), anew, later) as (source, replay):
        place = json.dumps(then("Z")["continue"])
        with pytest.raises(SourceError, match="badcontinue"):
            await walked(source, place)
        assert [question.get("gapcontinue") for question in replay.asked] == ["Z", None, "B"]
    other = {"error": {"code": "readapidenied", "info": "Log in."}}
    async with opened(exchange(WALK | then("Z")["continue"], other)) as (source, replay):
        with pytest.raises(SourceError, match="readapidenied"):
            await walked(source, place)
        assert len(replay.asked) == 1
        # What no API can tell is refused before it is asked.
        with pytest.raises(SourceError, match="answer select_property; read this wiki from a replica"):
            await walked(source, selection=Selection(None, "select_property", {"aspect": "C.P31"}))
        assert len(replay.asked) == 1


async def test_a_walk_that_is_broken_off_in_the_middle_of_a_batch_gives_whole_batches_only() -> None:
    half = {"continue": {"incontinue": "9", **then("C")["continue"]}}
    async with opened(
        exchange(WALK, answer(page(1), batchcomplete=True, **then("C"))),
        exchange(WALK | then("C")["continue"], answer(page(2), **half)),
        Exchange(WALK | {"incontinue": "9"} | then("C")["continue"], b"<html>Bad Gateway", 502),
    ) as (source, _):
        walk = source.walk(ALL)
        assert [one.page for one in (await anext(walk)).pages] == [1]
        with pytest.raises(SourceError, match="HTTP 502"):
            await anext(walk)


async def test_states_are_found_by_id_but_of_what_is_gone_and_silence_is_not_taken_for_that() -> None:
    listed = answer(page(9, redirect=True), {"pageid": 7, "missing": True}, page(3), batchcomplete=True)
    async with opened(exchange({"pageids": "3|7|9", "prop": "info"}, listed)) as (source, _):
        states = await source.find_states([9, 3, 7, 3])
        assert [(state.page, state.is_watchable) for state in states] == [(3, True), (9, False)]
    for shown in ([page(1)], [page(1), {"pageid": 2, "ns": 0, "title": "Page 2"}], [page(1), page(-2)]):
        asking = exchange({"pageids": "1|2", "prop": "info"}, answer(*shown, batchcomplete=True))
        async with opened(asking) as (source, _):
            with pytest.raises(SourceError, match="nothing about page 2"):
                await source.find_states([1, 2])


async def test_more_than_fifty_pages_are_asked_in_turns_and_for_none_nothing() -> None:
    exchanges = [
        exchange({"pageids": "|".join(map(str, some)), **what}, answer(*map(page, some), batchcomplete=True))
        for some in (range(1, 51), range(51, 61))
        for what in (LINKS, {"prop": "info"})
    ]
    async with opened(*exchanges) as (source, replay):
        assert await source.find_pages() == []
        assert await source.find_states([]) == []
        assert replay.asked == []
        assert [state.page for state in await source.find_states(range(60, 0, -1))] == list(range(1, 61))
        assert [one.page for one in await source.find_pages(ids=range(1, 61))] == list(range(1, 61))
        assert await source.find_lag_s() == 0


async def test_ids_and_titles_find_pages_and_missing_or_impossible_ones_are_left_out() -> None:
    async with opened(*FIXTURE) as (source, replay):
        found = await source.find_pages(ids=[3, 10, 77])
        pages = [(3, 0, "O'Hara's mill"), (10, 1, "Harbour light")]
        assert [(one.page, one.namespace, one.title) for one in found] == pages
        assert found[1].urls == ("https://words.net/wiki/Talk", "https://www.talk.net/")
        titles = ["Old light", "O'Hara's mill", "<bad>", "Nowhere", "Special:Version", "Tide table", "a|b", "\x1fa", ""]
        assert [one.title for one in await source.find_pages(titles=titles)] == ["Harbour light", "O'Hara's mill"]
        assert not replay.unknown


async def test_each_title_comes_with_the_page_to_which_it_leads_and_a_circle_leads_nowhere() -> None:
    titles = ["Old light", "harbour_light", "O'Hara's mill", "<bad>", "Nowhere", "Special:Version", "a|b", ""]
    asked = [title for title in titles if title and "|" not in title]
    listed = answer(page(1), page(3, ns=4, title="Project:Mill"), {"ns": 0, "title": "Nowhere", "missing": True})
    listed["query"] |= {  # type: ignore[operator]
        "normalized": [
            {"fromencoded": False, "from": "harbour_light", "to": "Harbour light"},
            {"fromencoded": True, "from": "O%27Hara%27s%20mill", "to": "Mill"},
            {"from": 1},
        ],
        "redirects": [
            {"from": "Old light", "to": "Harbour light"},
            {"from": "Harbour light", "to": "Page 1"},
            {"from": "Mill", "to": "Project:Mill", "tofragment": "x"},
        ],
    }
    question = {"titles": "|".join(asked), "redirects": "1", **LINKS}
    async with opened(exchange(question, {**listed, "batchcomplete": True})) as (source, replay):
        found = await source.find_titled(titles)
        leads = {title: one.page for title, one in found.items()}
        assert leads == {"Old light": 1, "harbour_light": 1, "O'Hara's mill": 3}
        assert not replay.unknown
    circle = answer(page(1))
    circle["query"] |= {"redirects": [{"from": "A", "to": "B"}, {"from": "B", "to": "A"}]}  # type: ignore[operator]
    question = {"titles": "A", "redirects": "1", **LINKS}
    async with opened(exchange(question, {**circle, "batchcomplete": True})) as (source, _):
        assert await source.find_titled(["A"]) == {}


@pytest.mark.parametrize(
    ("answer", "titles"),
    [
        ({"query": {"prefixsearch": [{"ns": 0, "title": "Berlin", "pageid": 1}, {"title": "B\u0000\ud800"}]}}, 2),
        ({"query": {"prefixsearch": [7, {}, {"title": 1}, {"title": ""}, {"title": "x" * 301}, {"title": "A"}]}}, 1),
        ({"query": {"prefixsearch": [{"title": f"T{place}"} for place in range(50)]}}, 10),
        ({"query": {"prefixsearch": {}}}, 0),
        ({"batchcomplete": True}, 0),
        ({"error": {"code": "badvalue", "info": "Unrecognized value for parameter list"}}, 0),
    ],
)
async def test_titles_are_what_the_wiki_offers_and_one_that_offers_none_is_no_failure(
    answer: dict[str, Any], titles: int
) -> None:
    question = {"list": "prefixsearch", "pssearch": "B", "pslimit": "10"}
    async with opened(exchange(question, answer)) as (source, _):
        found = await source.list_titles("B")
    assert len(found) == titles
    assert all(title.isprintable() or "\ufffd" in title for title in found)


CATEGORY = {"list": "categorymembers", "cmtitle": "Category:A b", "cmtype": "page", "cmprop": "ids"}


async def test_the_pages_of_a_category_come_part_by_part() -> None:
    first = {
        "batchcomplete": True,
        "continue": {"cmcontinue": "page|00|3", "continue": "-||"},
        "query": {"categorymembers": [{"pageid": 5}, {"pageid": 0}, {"pageid": "x"}, 7, {"pageid": 3}]},
    }
    second = {"batchcomplete": True, "query": {"categorymembers": [{"pageid": 9}]}}
    async with opened(
        exchange({**CATEGORY, "cmlimit": "2"}, first),
        exchange({**CATEGORY, "cmlimit": "500", "cmcontinue": "page|00|3"}, second),
    ) as (source, replay):
        assert await source.list_members("A b", limit=2) == Members((5, 3), "page|00|3")
        assert await source.list_members("A b", place="page|00|3") == Members((9,), "")
        assert not replay.unknown
    async with opened(exchange({**CATEGORY, "cmlimit": "500"}, {"batchcomplete": True})) as (source, _):
        with pytest.raises(SourceError, match="no members of a category"):  # it is no empty category
            await source.list_members("A b")


async def test_more_than_memory_may_hold_of_one_batch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_MOST_LINKS", 4)
    whole = answer(page(1, extlinks=links("http://a.net/", "http://b.net/")), page(2), batchcomplete=True)
    more = answer(page(1, extlinks=links(*"abc")), page(2), batchcomplete=True)
    async with opened(exchange(READ, whole), exchange(READ, more)) as (source, _):
        assert len(await read(source)) == 2
        with pytest.raises(SourceError, match="more than 4 pages and links in one batch"):
            await read(source)


async def test_missing_are_only_titles_of_which_the_wiki_says_so() -> None:
    listed = [
        {"ns": 0, "title": "Gone", "missing": True},
        {"ns": 6, "title": "File:Shared.png", "missing": True, "known": True},
        {"ns": 0, "title": "There", "pageid": 4},
        {"ns": 0, "title": "Variant", "pageid": 5},
        {"title": "A[b", "invalid": True, "invalidreason": "…"},
        *({"title": 5, "missing": True}, None, {"title": "Said", "missing": "yes"}),
    ]
    leads = {
        "normalized": [{"fromencoded": False, "from": "gone", "to": "Gone"}],
        "converted": [{"from": "variant", "to": "Variant"}],
        "interwiki": [{"title": "de:X", "iw": "de"}],
    }
    titles = ["gone", "File:Shared.png", "There", "variant", "A[b", "Said", "de:X", "Unheard of", "a|b"]
    asked = {"titles": "|".join(titles[:-1]), "converttitles": "1"}
    response = {"batchcomplete": True, "query": {"pages": listed, **leads}}
    async with opened(exchange(asked, response), exchange(asked, {"query": ["?"]})) as (source, replay):
        assert [await source.find_missing(titles) for _ in range(2)] == [{"gone"}, set()]
        assert await source.find_missing(["|"]) == set()
        assert len(replay.asked) == 2


async def test_siteinfo_has_the_name_namespaces_and_interwiki_map(caplog: pytest.LogCaptureFixture) -> None:
    for name, count in (("lightwiki", 0), ("", 0), ("osmwiki", 1)):
        async with opened(FIXTURE[0]) as (source, _):
            source.dbname = name
            assert [(each.number, each.name) for each in await source.find_namespaces()] == [(0, ""), (1, "Talk")]
            assert source.interwiki
            assert source.interwiki.target("word", "A b") == "https://words.net/wiki/A_b"
            assert caplog.text.count("calls itself 'lightwiki', but is configured as 'osmwiki'") == count
    async with opened(exchange({"meta": "siteinfo"}, {"hello": 1})) as (source, _):
        with pytest.raises(SourceError, match="no siteinfo"):
            await source.fetch_siteinfo()
    async with opened(siteinfo(shared("api/siteinfo.json"))) as (source, _):
        site = await source.fetch_siteinfo()
        assert len(site.interwiki) == 49
        users = [(each.name, each.is_alias) for each in site.namespaces if each.number == 2]
        assert users == [("Benutzer", False), ("Benutzerin", True), ("User", True)]


async def test_a_read_for_a_reader_ends_as_soon_as_there_are_too_many_links() -> None:
    first = answer(page(1, extlinks=links("http://a.demo/", "http://b.demo/")), **{"continue": {"elcontinue": "2"}})
    second = answer(page(2, extlinks=links("http://c.demo/")), batchcomplete=True)
    exchanges = exchange(READ, first), exchange({**READ, "elcontinue": "2"}, second)
    async with opened(*exchanges) as (source, _):
        with pytest.raises(TooManyLinks, match="more than 2 links"):
            await source.find_pages(ids=[1, 2], most_links=2)
        assert len(await source.find_pages(ids=[1, 2], most_links=3)) == 2
    titles = {"titles": "Page 1", "redirects": "1", **LINKS}
    async with opened(exchange(titles, {**first, "continue": {"elcontinue": "2"}})) as (source, replay):
        with pytest.raises(TooManyLinks):
            await source.find_titled(["Page 1"], most_links=1)
        assert len(replay.asked) == 1


def test_the_names_of_namespaces_are_bounded_and_clean() -> None:
    listed = {
        str(number): {"id": number, "name": name, "canonical": canonical, "case": "case-sensitive"}
        for number, name, canonical in [
            (-1, "Spezial", "Special"),
            (0, "", None),
            (1, "Dis\0kus:sion", "Talk"),
            (2, "x" * 201, "User"),
            (4, "A_b  c", "Project"),
            (2**31, "Far", "Far"),
        ]
    } | {"x": None, "y": {"id": "3", "name": "Z"}}
    aliases = [{"id": 4, "alias": "WP"}, {"id": 4, "alias": "a|b"}, {"id": 99, "alias": "Nobody"}, None, {"id": 1}]
    assert namespaces_of(listed, aliases) == (
        Namespace(0, "", is_cased=True),
        Namespace(4, "A b c", is_cased=True),
        Namespace(1, "Talk", is_alias=True, is_cased=True),
        Namespace(2, "User", is_alias=True, is_cased=True),
        Namespace(4, "Project", is_alias=True, is_cased=True),
        Namespace(4, "WP", is_alias=True, is_cased=True),
    )
    many = {str(number): {"id": number, "name": f"N{number}"} for number in range(5_000)}
    assert len(namespaces_of(many, [])) == 1_000
    # JSON's true is no number, and what comes after very many names is not even looked at.
    endless = {"a": {"id": True, "name": "True"}} | {str(number): {} for number in range(5_000)}
    assert namespaces_of(endless | {"z": {"id": 4, "name": "Z"}}, []) == ()
    assert namespaces_of(None, None) == namespaces_of([], {}) == ()


async def test_a_page_may_link_to_a_url_both_ways_and_by_several_prefixes() -> None:
    pairs = [("word", "A"), ("also", "A"), ("word", "C_d"), ("nowhere", "A")]
    linking = page(
        1,
        extlinks=links("https://words.net/wiki/A", "https://words.net/wiki/B"),
        iwlinks=[{"prefix": prefix, "title": title} for prefix, title in pairs],
    )
    words = [Interwiki(prefix, "https://words.net/wiki/$1", local=False) for prefix in ("word", "also")]
    async with (
        open_wiki_replay([exchange({"pageids": "1", **LINKS}, answer(linking, batchcomplete=True))]) as replay,
        aiohttp.ClientSession() as session,
    ):
        source = ApiSource(replay.url, session, user_agent="Weboid-test", interwiki=InterwikiMap(words))
        (found,) = await source.find_pages(ids=[1])
    assert found.urls == tuple(f"https://words.net/wiki/{title}" for title in ("A", "B", "C_d"))
    assert found.interwiki == (
        InterwikiLink("https://words.net/wiki/A", "also", "A", is_external=True),
        InterwikiLink("https://words.net/wiki/C_d", "word", "C d"),
    )
