"""The URL that was probably meant by a link with a typical error (L-9)."""

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.probably_meant import TypicalError, probably_meant
from weboid.core.url.urls import parse

_CASES = toml_next_to(__file__)
EXAMPLES: list[list[str]] = _CASES["examples"]
FINE: list[str] = _CASES["fine"]


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
    for url in (*FINE, "http://mill.demo/" + "," * 3_000):
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
