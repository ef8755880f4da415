"""Any HTML is split into pieces in one pass (C-13)."""

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.document.markup import Piece, collapsed, pieces, unescaped

SIZE = 65_536
HOSTILE = (
    "<", "<div>", "<b id=1><p>", "<a ", "<a b=", "<a b='", '<a b="', "<a b=' c=\"", "<!--", "<!--x", "</", "<title><",
    "<title ", "<script>", "<script></scrip", "&#", "&a", "&#9", "<table><b>", '="', "'", " id", "\0", "<a-b ",
    "<meta charset",
)  # fmt: skip


def names(markup: str) -> list[str]:
    """Names of the tags in order, end tags with a slash, texts as ``#text``."""
    return [f"/{piece.name}" if piece.closing else piece.name or f"#{piece.text}" for piece in pieces(markup)]


def test_markup_is_cut_as_browsers_do() -> None:
    for markup, expected in [
        ("<p>a<br/>b</p>", ["p", "#a", "br", "#b", "/p"]), ("<P CLASS=x>a", ["p", "#a"]),
        ('<a title="1 > 0">x</a>', ["a", "#x", "/a"]), ("<a title=don't>x</a>", ["a", "#x", "/a"]),
        ('<a title="never closed>x', ["a", "#x"]), ("a < b and c > d", ["#a < b and c > d"]),
        ("a<!-- <p> -->b", ["#a", "#b"]), ("a<!-->b", ["#a", "#b"]), ("a<!-- to the end <p>", ["#a"]),
        ("<!doctype html>a<?php x ?>b", ["#a", "#b"]), ("a</ p>b", ["#a", "#b"]), ("a<p cut in tw", ["#a"]),
        ("<script>if (a<b) '<p>'</script>x", ["script", "#x"]), ("<SCRIPT>a</Script >x", ["script", "#x"]),
        ("<script>to the end<p>", ["script"]), ("<titles>x", ["titles", "#x"]),
    ]:  # fmt: skip
        assert names(markup) == expected


def test_the_content_of_a_title_is_no_markup() -> None:
    assert next(pieces("<title a=1>x <b>y</b></title>")).text == "x <b>y</b>"


def test_attributes_are_read_in_every_way_of_writing_and_bounded() -> None:
    piece = Piece("a", raw_attributes=""" HREF="/x?a=1&amp;b=2" b='2' c=3 d e = f b=9 /""")
    assert piece.attributes() == {"href": "/x?a=1&b=2", "b": "2", "c": "3", "d": "", "e": "f"}
    assert len(Piece("a", raw_attributes=" ".join(f"a{n}=1" for n in range(500))).attributes()) == 40


def test_an_endless_number_is_a_character_that_nobody_knows() -> None:
    for text in [f"&#{'9' * 10_000};", f"&#x{'f' * 10_000};", "&#1234567890"]:
        assert unescaped(text) == "\ufffd"


def test_a_text_is_collapsed() -> None:
    assert collapsed(" a &amp;\n\t b&nbsp;c ") == "a & b c"


def test_hostile_markup_yields_no_more_pieces_than_it_has_characters() -> None:
    for seed in HOSTILE:
        # That a test of 25 such pages ends at all is the point: a tree of one of them takes 19 s and 4 GB.
        found = list(pieces((seed * SIZE)[:SIZE]))
        assert len(found) <= SIZE, seed
        for piece in found[:50]:
            piece.attributes()


@given(st.text(max_size=300) | st.lists(st.sampled_from(HOSTILE), max_size=60).map("".join))
def test_nothing_makes_it_raise_and_nothing_is_read_twice(markup: str) -> None:
    assert sum(len(piece.text) for piece in pieces(markup)) <= len(markup)
