"""Skimming: of a long document its beginning and its text, whatever lies between them, within bounds (C-11, C-13)."""

import re
from time import process_time

from hypothesis import given
from hypothesis import strategies as st
from support.pages import prose

from weboid.core.document.document import MAX_BODY, MAX_SKIMMED, Document, document_from, document_of
from weboid.core.document.skim import ENOUGH_WORDS, Skim

WHOLE, MOST = 65_536, 524_288
HTML = "text/html"
SCRIPT = b"<script>" + b"if (a < b && c > d) { e = '<p>no text</p>'; }\n" * 3_000 + b"</script>"
HEAD = b"<!doctype html><html lang=en><head><title>A page</title>"


def skimmed(
    body: bytes, *sizes: int, whole: int = WHOLE, most: int = MOST, kind: str = "text/html"
) -> tuple[bytes, int]:
    """The kept bytes of a body that comes in pieces of these sizes, in turn; and the number of bytes taken."""
    skim, taken = skimmed_by(body, *sizes, whole=whole, most=most, kind=kind)
    return skim.kept(), taken


def skimmed_by(
    body: bytes, *sizes: int, whole: int = WHOLE, most: int = MOST, kind: str = "text/html"
) -> tuple[Skim, int]:
    skim, at, turn = Skim(whole, most, kind), 0, 0
    while at < len(body):
        size = sizes[turn % len(sizes)] if sizes else 16_384
        at, turn = at + size, turn + 1
        if skim.take(body[at - size : at]):
            break
    return skim, min(at, len(body))


def read(body: bytes, *sizes: int, url: str = "") -> Document:
    skim, _ = skimmed_by(body, *sizes)
    assert len(skim.kept()) <= WHOLE + MAX_SKIMMED
    assert skim.reading
    return document_from(skim.reading, url)


def test_a_short_document_and_one_with_text_in_its_beginning_are_kept_as_they_are() -> None:
    for body in (HEAD + b"<p>few words", (HEAD + f"<p>{prose(400)}</p>".encode() + SCRIPT)[: WHOLE + 5_000]):
        kept, taken = skimmed(body)
        assert kept == body[:WHOLE]
        assert taken <= WHOLE + 16_384


def test_a_text_behind_long_scripts_and_styles_is_found() -> None:
    text, style = prose(200), b"<style>p > a {}</style>" * 2_000
    seen = read(HEAD + SCRIPT + style + f"</head><body><h1>It</h1><p>{text}</p>".encode() + SCRIPT)
    assert (seen.title, seen.headings, seen.language) == ("A page", ("It",), "en")
    assert seen.text == f"It {text}"


def test_it_ends_when_there_is_enough_text() -> None:
    body = HEAD + SCRIPT + f"<p>{prose(ENOUGH_WORDS + 5)}</p>".encode() + b"<div class=x></div>" * 30_000
    _, taken = skimmed(body)
    assert taken < len(HEAD + SCRIPT) + 40_000


def test_what_is_not_shown_is_left_out_wherever_the_beginning_ends() -> None:
    """The end of the beginning lies anywhere in it, within characters and within tags."""
    for noise in [
        b"<!-- " + b"a comment <p>with text</p> " * 5_000 + b"-->",
        b"<svg><path d='" + b"M 1 2 L 3 4 " * 9_000 + b"'/><text>drawn</text></svg>",
        b'<img src="data:image/png;base64,' + b"iVBORw0KGgo" * 9_000 + b'" alt="no text">',
        b'<div data-state=\'{"html": "<p>no text</p>", ' + b'"key": "value", ' * 8_000 + b"}'></div>",
        b"<ul style='display:none'>" + (b"<li>" + b"hidden words " * 20 + b"</li>") * 500 + b"</ul>",
        b"<select>" + b"<option>Afghanistan</option>" * 4_000 + b"</select>",
        (b"<template><p>" + b"not shown " * 30 + b"</p></template>") * 400,
        "<script>'日本語の文字列'</script>".encode() * 3_000,
        b"<iframe src=/x>" + b"no text " * 9_000 + b"</iframe>",
        b"<textarea>" + b"<p>no text</p> " * 9_000 + b"</textarea>",
        b"<nav hidden><div><ul>" + (b"<li><p>" + b"not shown " * 30 + b"</p></li>") * 400 + b"</ul></div></nav>",
    ]:
        text = prose(60)
        for shift in range(12):
            seen = read(HEAD + b" " * shift + noise + f"<p>é {text}</p>".encode(), 5_000, 17)
            assert seen.text == f"é {text}", noise


def test_of_what_follows_everything_is_kept_that_a_document_tells() -> None:
    more = (
        "<link rel=canonical href=/here><meta name=author content='A. Writer'><base href='http://a.demo/'>"
        "<iframe src='/frame'>x</iframe><script src=/lander.js></script><noscript>No <b>scripts</b></noscript>"
        "<h1 class='a b c'>A <i class=x>heading</i></h1><form><input type=password></form>"
        "<p>one <a class=y href='/two'>two</a> <b>th</b>ree</p><div hidden>four<div>five</div></div><p>six"
    )
    plain, behind = document_of((HEAD + more.encode()), "text/html", "http://a.demo/"), HEAD + SCRIPT + more.encode()
    assert read(behind, url="http://a.demo/") == plain
    kept, _ = skimmed(behind)
    for mark in (b'src="/lander.js"', b"scripts", b"heading", b"<input type=", b"ree six"):
        assert mark in kept[WHOLE:], "signs look for it in the bytes"


def test_before_a_tag_without_end_everything_is_kept() -> None:
    for tag in ["<img src='data:", "<div hidden data-x='", "<p "]:
        text = prose(40)
        start = HEAD + f"<p>{text}</p>{tag}".encode()
        seen = read(start + b"x=1 y " * 20_000)
        assert seen.text == text, tag
        seen = read(start + b"x=1 y " * 20_000 + b"'>inside</div><p>after")
        assert seen.text in (f"{text} inside after", f"{text} after"), tag


def test_an_application_that_scripts_fill_in_is_still_known() -> None:
    assert read(HEAD + SCRIPT + b"<div class=app id=root></div>").is_shell


def test_of_other_files_the_beginning_is_enough() -> None:
    for kind in ["application/pdf", "text/plain", "image/png"]:
        assert skimmed(HEAD + SCRIPT * 2, kind=kind) == ((HEAD + SCRIPT)[:WHOLE], WHOLE)


def test_a_document_in_utf_16_is_cut_as_it_was() -> None:
    body = "\ufeff<html><p>Text</p>".encode("utf-16-le") * 5_000
    assert skimmed(body, 8_192) == (body[:WHOLE], WHOLE)


_BITS = st.sampled_from(
    re.split(
        "[|]",
        "<p>|</p>|<h1>|</h1>|<a href='x>y'>|</a>|<title>|</title>|<div hidden>|</div>|<svg>|</svg>|<!--|-->|--|<!|</|<"
        '|>|<script>|</script >|<style>|</style>|\'|"|=|<div data-x="<p>">|<img alt=\'|text |é|日本|<select>|</select>'
        "|<x",
    )
)


@given(
    st.lists(_BITS, max_size=80).map("".join), st.integers(1, 60), st.lists(st.integers(1, 40), min_size=1, max_size=5)
)
def test_how_a_document_is_cut_makes_no_difference(markup: str, whole: int, sizes: list[int]) -> None:
    body = markup.encode()
    kept, _ = skimmed(body, whole=whole, most=400)
    assert skimmed(body, *sizes, whole=whole, most=400)[0] == kept
    assert len(kept) <= whole + MAX_SKIMMED


def test_what_a_text_shows_of_markup_is_no_markup() -> None:
    shown = b"&lt;script src=/cdn-cgi/challenge-platform/x>&lt;/script> &amp;lt;b&amp;gt; "
    for tail in (b"<p>" + shown, b"<noscript>" + shown + b"</noscript>", b"<meta name=x content='a\"" + shown + b"'>"):
        kept, _ = skimmed(HEAD + SCRIPT + tail)
        following = kept[WHOLE:]
        assert b"challenge-platform" in following, tail
        assert b"<script" not in following, tail
        assert b"<b" not in following.replace(b"<body", b""), tail


HOSTILE = [
    "<script>", "<!--", "<svg>", "<p>", '<a x="', "='", "<b c='>' ", "<", "</", "<!", "<title>", "</script", "<a b=c ",
]  # fmt: skip


def test_a_hostile_document_costs_no_more_than_its_size() -> None:
    """The last of many pieces takes no longer than the first: nothing is read over and over."""
    for bit in HOSTILE:
        skim, begun = Skim(WHOLE, MOST, "text/html"), process_time()
        body = bit.encode() * 2_000
        taken = 0
        while not skim.take(body):
            taken += len(body)
        assert taken <= MOST, bit
        assert len(skim.kept()) <= MAX_BODY, bit
        assert process_time() - begun < 2, bit
