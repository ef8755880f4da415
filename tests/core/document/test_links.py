"""Every link of a whole document is found, with its place, as a browser reads the markup (R-6)."""

import tracemalloc
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.document.links import DocumentLink, links_of

_CASES = toml_next_to(__file__)
KINDS: dict[str, str] = _CASES["kinds"]
URLS: dict[str, str] = _CASES["urls"]
NOTHING: list[str] = _CASES["nothing"]
LONG = {f"<a href='&#{'9' * 5_000};'>": "\ufffd", f"<a href='&#{'0' * 5_000}97;'>": "a"}
HOSTILE = {
    "a tag of 10 MB": "<a " + "a" * 10_000_000,
    "a quote that stays open": "<a href='" * 500_000,
    "a million ends of comments": "<!--" * 1_000_000,
    "ends of scripts": "<script><!--<script>" * 200_000,
    "a million links": "<a href=x>" * 300_000,
    "commas": f"<img srcset='{',' * 1_000_000}x'>",
    "raw texts": "<title>" * 300_000,
    "cdata": "<svg>" + "<![CDATA[" * 300_000,
    "elements of svg": "<svg><desc></p></g>" * 200_000,
}


@pytest.mark.parametrize(("markup", "kind"), KINDS.items())
def test_every_kind_of_link_is_found(markup: str, kind: str) -> None:
    assert [(link.kind, link.url) for link in links_of(markup)] == [(kind, "x")]


@pytest.mark.parametrize(("markup", "url"), [*URLS.items(), *LONG.items(), *((markup, None) for markup in NOTHING)])
def test_markup_is_cut_as_a_browser_cuts_it(markup: str, url: str | None) -> None:
    assert [link.url for link in links_of(markup)] == ([] if url is None else [url])


def test_a_link_has_its_place_its_text_and_its_rel() -> None:
    markup = (
        "<p>é\r\n\r <a href=x rel='nofollow me'>one <b>&amp;\ntwo</b><img src=y alt=three></a><area href=z alt=four>"
    )
    assert list(links_of(markup)) == [
        DocumentLink("img", "y", 4, 8, "three"),
        DocumentLink("a", "x", 3, 2, "one & two three", "nofollow me"),
        DocumentLink("area", "z", 4, 33, "four"),
    ]


def test_a_set_of_images_has_several_links() -> None:
    srcset = ", a,b 1x, data:image/png;base64,c 2x,, d(e,f) , g 3x (h, i), j,"
    found = [link.url for link in links_of(f"<img srcset='{srcset}'>")]
    assert found == ["a,b", "data:image/png;base64,c", "d(e,f)", "g", "j"]


@pytest.mark.parametrize("markup", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markup_takes_linear_time(markup: str) -> None:
    began = process_time()
    assert sum(1 for _ in links_of(markup)) <= 300_000
    assert process_time() - began < 8


def test_very_many_attributes_take_no_memory() -> None:
    markup = "<a " + " ".join(f"a{n}=1" for n in range(100_000)) + " href=x>y</a>"
    tracemalloc.start()
    assert [link.url for link in links_of(markup)] == ["x"]
    assert tracemalloc.get_traced_memory()[1] < 2 * len(markup)
    tracemalloc.stop()


@given(st.lists(st.sampled_from([*KINDS, *URLS, "<", ">", "'", '"', "=", "-->", "</a>", "</script>", "\r", "&"])))
def test_every_link_begins_at_a_tag(pieces: list[str]) -> None:
    markup = "".join(pieces)
    lines = markup.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert all(lines[link.line - 1][link.column - 1] == "<" for link in links_of(markup))
