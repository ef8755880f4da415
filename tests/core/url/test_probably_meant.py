"""The URL that was probably meant by a link with a typical error (L-9)."""

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.probably_meant import TypicalError, probably_meant
from weboid.core.url.urls import parse

EXAMPLES = [
    ("http://http://mill.demo/a", "http://mill.demo/a", "doubled-scheme"),
    ("https://https//mill.demo/a", "https://mill.demo/a", "doubled-scheme"),
    ("http:http://mill.demo/a", "http://mill.demo/a", "doubled-scheme"),
    ("http://www.www.mill.demo/a", "http://www.mill.demo/a", "doubled-www"),
    ("http://wwww.mill.demo/a", "http://www.mill.demo/a", "doubled-www"),
    ("http://mill.demo/?a=1&amp;b=2", "http://mill.demo/?a=1&b=2", "escaped-twice"),
    ("http://mill.demo/old%2520wheel", "http://mill.demo/old%20wheel", "escaped-twice"),
    ("http://mill.demo/whe%0Ael.html", "http://mill.demo/wheel.html", "line-break"),
    ("http://mill.demo/a%7Caccess-date=2010-01-02", "http://mill.demo/a", "markup"),
    ("http://mill.demo/a%7CThe%20mill%5D%5D", "http://mill.demo/a", "markup"),
    ("http://mill.demo/a%3C/ref%3E", "http://mill.demo/a", "markup"),
    ("http://mill.demo/a''", "http://mill.demo/a", "markup"),
    ("http://mill.demo/a.html%20Retrieved%202010", "http://mill.demo/a.html", "words"),
    ("http://mill.demo/a/%20The%20mill", "http://mill.demo/a/", "words"),
    ("http://mill.demo/a,", "http://mill.demo/a", "tail"),
    ("http://mill.demo/,", "http://mill.demo/", "tail"),
    ("http://mill.demo/a).", "http://mill.demo/a", "tail"),
    ("http://mill.demo/a_(b)).", "http://mill.demo/a_(b)", "tail"),
    ("http://mill.demo/a%22", "http://mill.demo/a", "tail"),
    ("http://mill.demo/a%E2%80%9D", "http://mill.demo/a", "tail"),
]
FINE = [
    "http://mill.demo/a_(b)",
    "http://mill.demo/%E2%80%9Ca%E2%80%9D",
    "http://mill.demo/%22a%22",
    "http://mill.demo/?next=http%253A%252F%252Fmill.demo",
    "http://mill.demo/%20a/b",
    "http://mill.demo/a%20b/c",
    "http://mill.demo",
    "http://www.mill.demo/www.www",
    "http://mill.demo/C%2B%2B",
    "http://archive.demo/2010/http://mill.demo/",
    "http://mill.demo/?a=%7Cb",
    "no URL",
    "http://a b/c,",
    "http://mill.demo/" + "," * 3_000,
]


def test_each_typical_error_is_corrected_by_rule() -> None:
    assert {error for _, _, error in EXAMPLES} == set(TypicalError)
    for written, meant, error in EXAMPLES:
        found = probably_meant(written)
        assert found, written
        assert (str(found.url), error in found.errors) == (meant, True), written


def test_the_stored_form_of_a_url_leads_to_the_same_correction() -> None:
    for written, meant, _ in EXAMPLES:
        try:
            stored = str(parse(written))
        except InvalidUrl:
            continue
        found = probably_meant(stored)
        assert found, written
        assert str(found.url) == meant, written


def test_what_may_be_meant_as_it_is_stays_alone() -> None:
    for url in FINE:
        assert probably_meant(url) is None, url


@given(st.text(max_size=60).map("http://mill.demo/".__add__))
def test_a_correction_is_a_url_that_needs_none(written: str) -> None:
    found = probably_meant(written)
    if found:
        again = probably_meant(str(found.url))
        assert again is None or len(str(again.url)) < len(str(found.url))


def test_hostile_texts_cost_no_time() -> None:
    begun = process_time()
    for piece in ("|", "%7C%5D", "<ref", "]", "''", "%20", "(", "%25", "www.", "http://", "%0A", "["):
        probably_meant("http://mill.demo/" + piece * (1_950 // len(piece)))
    assert process_time() - begun < 1
