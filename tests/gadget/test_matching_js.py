"""gadget/core.js in a browser: which element stands for which link, by the rule of docs/api.md.

On pages that a real wiki renders: tests/whole/test_matching.py.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Page
from support.browser import needs_browser

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]

_OWN_HOSTS: Final = ["lv.wiki.demo", "lv.m.wiki.demo:8080"]
_FIND: Final = Path(__file__).with_name("find_links.js").read_text(encoding="utf-8")
_STEP: Final = Path(__file__).with_name("step_links.js").read_text(encoding="utf-8")


def _link(*given: str, normal: str | None = None, interwiki: str | None = None) -> dict[str, Any]:
    """Of a link of an answer what the rule goes by."""
    prefix, _, title = (interwiki or "").partition(":")
    return {"given": given, "normal": normal, "interwiki": {"prefix": prefix, "title": title} if interwiki else None}


async def _find(blank: Page, anchors: Sequence[dict[str, str]], links: Sequence[dict[str, Any]]) -> list[int]:
    """Of each element the number of its link, -1 for none."""
    found: list[int] = await blank.evaluate(_FIND, [anchors, links, _OWN_HOSTS])
    return found


async def test_links_without_a_scheme_and_to_the_own_server_lead_nowhere(blank: Page) -> None:
    as_they_are = [
        *("http://3sat.de/", "HTTP://3sat.de", "mailto:a@3sat.de", "http://[", "http:///x"),
        *("http://lv.wiki.demo.3sat.de/", "https://lv.wiki.demo:8443/", "https://lv.m.wiki.demo/"),
        *("http://lv.wiki.demo:443/", "https://3sat.de/?http://lv.wiki.demo/", "ftp://lv.wiki.demo:80/"),
    ]
    nowhere = [
        *("", "#cite_note-1", "/wiki/Foo", "./Foo", "?action=edit", " http://3sat.de/", "__proto__"),
        *("//lv.wiki.demo/wiki/Foo", "https://lv.wiki.demo", "https://LV.Wiki.demo?x"),
        *("https://lv.wiki.demo:443/wiki/Foo", "http://lv.wiki.demo:80#x", "http://lv.m.wiki.demo:8080/wiki/Foo"),
    ]
    expected = {**dict(zip(as_they_are, as_they_are, strict=True)), **dict.fromkeys(nowhere)}
    expected |= {"//3sat.de/a": "https://3sat.de/a", "//": "https://"}
    call = "( [ hrefs, ownHosts ] ) => hrefs.map( ( href ) => require( './core.js' ).foreignUrl( href, ownHosts ) )"
    found = await blank.evaluate(call, [list(expected), _OWN_HOSTS])
    assert dict(zip(expected, found, strict=True)) == expected


async def test_a_link_is_found_by_a_form_that_the_wiki_has_it_in(blank: Page) -> None:
    links = [_link("https://3sat.de/a", "http://3sat.de/%41"), _link("news:comp.lang"), _link("http://docs/about.htm")]
    hrefs = ["//3sat.de/a", "http://3sat.de/%41", "news:comp.lang", "http://docs/about.htm", "http://3sat.de/A"]
    assert await _find(blank, [{"href": href} for href in hrefs], links) == [0, 0, 1, 2, -1]


async def test_a_form_that_the_wiki_has_counts_more_than_a_normal_form(blank: Page) -> None:
    links = [_link("http://fass.de/", normal="http://fass.de/"), _link("http://faß.de/", normal="http://fass.de/")]
    assert await _find(blank, [{"href": "http://faß.de/"}, {"href": "http://fass.de/"}], links) == [1, 0]


async def test_other_links_are_found_by_their_normal_form(blank: Page) -> None:
    links = [
        _link("http://3sat.de/%C3%A4%20b", normal="http://3sat.de/%C3%A4%20b"),
        _link("https://müller.de", normal="https://xn--mller-kva.de/"),
    ]
    hrefs = ["http://3sat.de/ä b#c", "HTTP://3SAT.de:80/%c3%a4%20b", "//m%C3%BCller.de", "http://müller.de"]
    assert await _find(blank, [{"href": href} for href in hrefs], links) == [0, 0, 1, -1]


async def test_an_interwiki_link_is_found_by_its_title(blank: Page) -> None:
    links = [
        _link("https://wikt.demo/wiki/pro_forma", normal="https://wikt.demo/wiki/pro_forma", interwiki="wikt:pro forma")
    ]
    parsoid = "https://wikt.demo/wiki/pro%20forma"
    anchors = [
        {"href": parsoid, "class": "extiw", "title": "wikt:pro forma"},
        {"href": f"{parsoid}#History", "class": "mw-redirect extiw", "title": "wikt:pro forma#History"},
        # Images with link= have no such title, and anyone who writes HTML into a page has no such class.
        {"href": "https://wikt.demo/wiki/pro_forma", "class": "mw-file-description", "title": "caption"},
        {"href": f"{parsoid}?image", "class": "mw-file-description", "title": "wikt:pro forma"},
        {"href": f"{parsoid}?other", "class": "extiw", "title": "wikt:pro"},
        {"href": f"{parsoid}?untitled", "class": "extiw"},
    ]
    assert await _find(blank, anchors, links) == [0, 0, 0, -1, -1, -1]


async def test_all_elements_with_one_address_are_one_entry(blank: Page) -> None:
    same = {"href": "http://3sat.de/%41"}
    assert await _find(blank, [same, same, same], [_link("http://3sat.de/A", normal="http://3sat.de/A")]) == [0, 0, 0]
    assert (await blank.evaluate(_STEP, [["http://3sat.de/"] * 100 + ["//3sat.de/"] * 100, 1_000])) == [2, 1]


async def test_a_step_ends_at_its_deadline_and_computes_at_least_one(blank: Page) -> None:
    hrefs = [f"http://3sat.de/{number}" for number in range(300)]
    assert await blank.evaluate(_STEP, [hrefs, 0]) == [300, 300]
    assert await blank.evaluate(_STEP, [hrefs, 60_000]) == [300, 1]
    assert await blank.evaluate(_STEP, [[], 0]) == [0, 1]


async def test_hostile_addresses_find_their_own_link_or_none(blank: Page) -> None:
    hrefs = [
        *("http://__proto__/", "x:__proto__", "x:constructor", "http://[", "http://[::", "http://%"),
        *("http://\ud800.de/", "http://exa\nmple.de/", "http://3sat.de/" + "a" * 8_001, "https:" * 5_000),
        "javascript:alert(1)//http://3sat.de/",
    ]
    anchors = [{"href": href} for href in hrefs]
    others = [
        _link("http://3sat.de/a", normal="http://3sat.de/a"),
        _link("x:null"),
        _link("x:undefined", interwiki="a:b"),
    ]
    assert await _find(blank, anchors, others) == [-1] * len(hrefs)
    assert await _find(blank, anchors, [_link(href) for href in hrefs]) == list(range(len(hrefs)))


async def test_a_newline_or_half_a_character_in_a_path_is_encoded(blank: Page) -> None:
    links = [_link("http://3sat.de/%0A%EF%BF%BD", normal="http://3sat.de/%0A%EF%BF%BD")]
    assert await _find(blank, [{"href": "http://3sat.de/\n\ud800"}], links) == [0]


async def test_no_link_of_another_page_is_found_without_links(blank: Page) -> None:
    assert await _find(blank, [{"href": "http://3sat.de/"}, {"href": "mailto:a@b.de"}], []) == [-1, -1]
