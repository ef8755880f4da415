"""Any HTML gives a document, in bounded time and memory (C-13)."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.document.document import MAX_BODY, Document, document_of
from weboid.core.document.markup import collapsed

_CASES = toml_next_to(__file__)

HOSTILE = _CASES["hostile"]
WHOLE = {
    "a tag of 10 MB": "<div " + "a" * 10_000_000 + ">",
    "a million attributes": "<div " + " ".join(f"a{n}" for n in range(1_000_000)) + ">",
    "an attribute again and again": "<div " + "a=1 " * 25_000 + ">",
    "a million references": "&amp;" * 1_000_000,
    "ends in the wrong order": "<b>" * 10_000 + "x" + "</i>" * 10_000,
    "entities in entities": f"<!DOCTYPE x [<!ENTITY a '{'b' * 1_000}'><!ENTITY c '&a;&a;&a;&a;'>]>" + "&c;" * 20_000,
    "deep, and ends of others": "<b>" * 1_000 + "</i>" * 100_000,
    "a million names": "".join(f"<x{n}>" for n in range(100_000)),
}


def test_markup_is_cut_as_browsers_do() -> None:
    for markup, expected in _CASES["markup"]:
        assert document_of(markup.encode()).text == expected, markup


def test_a_document_is_read_as_far_as_its_elements_its_tags_and_its_depth_are_in_bounds() -> None:
    for tag, most in (("<br>", 10_000), ("</i>", 20_000), ("<b>", 1_024)):
        assert document_of((tag * (most - 9) + "end").encode()).text == "end"
        assert document_of((tag * (most + 9) + "end").encode()).text == ""


def test_a_text_is_collapsed() -> None:
    assert collapsed(" a &\n\t b\xa0c ") == "a & b c"


def test_nothing_gives_an_empty_document() -> None:
    for markup in (b"", b"<!-- x -->", b"\xef\xbb\xbf"):
        assert document_of(markup) == Document(is_page=True)


@pytest.mark.parametrize("bit", HOSTILE)
def test_hostile_markup_costs_no_more_than_its_size(bit: str) -> None:
    begun = process_time()
    assert len(document_of((bit * MAX_BODY)[:MAX_BODY].encode()).text) <= MAX_BODY
    assert process_time() - begun < 1, "40 ms at most where this was measured"


@pytest.mark.parametrize("name", WHOLE)
def test_a_hostile_document_costs_no_more_than_the_bytes_that_are_read(name: str) -> None:
    begun = process_time()
    assert len(document_of(WHOLE[name].encode()).text) <= MAX_BODY
    assert process_time() - begun < 1


@given(st.text(max_size=300) | st.lists(st.sampled_from(HOSTILE), max_size=60).map("".join))
def test_nothing_makes_it_raise(markup: str) -> None:
    url = "http://site.test/a/b.html"
    assert document_of(markup.encode(errors="replace"), "text/html", url).url == url
