"""Any HTML gives a document, in bounded time and memory (C-13)."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.document.document import MAX_BODY, Document, document_of
from weboid.core.document.markup import collapsed

HOSTILE = (
    "<", "<div>", "<b id=1><p>", "<b>", "<a href=x>", "<a ", "<a b=", "<a b='", '<a b="', "<a b=' c=\"", "<!--",
    "<!--x", "<!--x-->", "</", "<title><", "<title ", "<title></title>", "<script>", "<script></scrip", "&#", "&a",
    "&#9", "&amp;", "<table><b>", "<table>x<tr>y", '="', "'", " id", "\0", "<p\0>", "<a-b ", "<meta charset", "<br>",
    "<p>", "<li>", "<td>", "<h1>x</h1>", "<svg>", "<svg><g>", "<math><mi>", "<svg><![CDATA[x]]>", "<template>",
    "<plaintext>", "<select>", "<option>", "<form>", "<noscript>", "<iframe src=x>", "<frameset>", "<base href=//[>",
    "<a><div><b></a><p></b>", "</b>", "</p>", "<?", "<!DOCTYPE html>", "é", "\U0001f600", "<a:b xmlns:a=x>",
    "<div hidden>", "<p style='display:none", "<div id=root>", "<meta http-equiv=refresh content='0;url=",
)  # fmt: skip
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
    for markup, expected in [
        ("<p>a<br/>b</p>", "a b"), ("<P CLASS=x>a", "a"), ('<a title="1 > 0">x</a>', "x"),
        ("<a title=don't>x</a>", "x"), ("a < b and c > d", "a < b and c > d"), ("a<!-- <p> -->b", "ab"),
        ("a<!-->b", "ab"), ("a<!-- to the end <p>", "a"),
        ("<!doctype html>a<?php x ?>b", "ab"), ("a</ p>b", "ab"), ("a<p cut in tw", "a"), ("<titles>x", "x"),
        ("<script>if (a<b) '<p>'</script>x", "x"), ("<SCRIPT>a</Script >x", "x"), ("<script>to the end<p>", ""),
        ("<p>a<b>b</p>c", "ab c"), ("<p>a</body></html>b<p>c", "a b c"),
        ("caf&eacute; &#8364;&#x110000; &copy", "café €\ufffd ©"), ("a\0b", "a b"),
    ]:  # fmt: skip
        assert document_of(markup.encode()).text == expected, markup


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
    document_of(markup.encode(errors="replace"))
