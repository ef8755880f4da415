"""Patterns of URLs as people write them (W-5)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.url.hosts import InvalidUrl, reversed_name
from weboid.core.url.patterns import MOST, Unfit, UnfitPattern, UrlPattern, parse_pattern
from weboid.core.url.urls import parse

_CASES = toml_next_to(__file__)


def matches(like: str, text: str) -> bool:
    """LIKE as PostgreSQL has it, by other means."""
    parts = re.findall(r"\\(.)|(.)", like, re.DOTALL)
    return bool(
        re.fullmatch("".join(re.escape(a) if a else ".*" if b == "%" else re.escape(b) for a, b in parts), text)
    )


def fits(pattern: UrlPattern, text: str) -> bool:
    """Whether the host of a URL and its path fit; a host outside the range would never be found."""
    url = parse(text)
    is_host = any(matches(like, url.host) for like in pattern.hosts)
    assert not is_host or pattern.first <= reversed_name(url.host) < pattern.end
    is_there = url.scheme in pattern.schemes and (
        pattern.ports is None or url.port == pattern.ports[pattern.schemes.index(url.scheme)]
    )
    return is_host and is_there and matches(pattern.path, url.path)


def test_a_pattern_fits_what_it_says_and_nothing_else() -> None:
    for pattern, yes, no in _CASES["patterns"]:
        parsed = parse_pattern(pattern)
        assert parsed.exact is None, pattern
        assert [url for url in [*yes, *no] if fits(parsed, url)] == yes, pattern


def test_with_a_scheme_and_without_a_wildcard_it_is_one_url() -> None:
    assert str(parse_pattern(" HTTPS://Example.org:443/a/../%7Eb#c ").exact) == "https://example.org/~b"


@pytest.mark.parametrize(
    ("pattern", "unfit"),
    [
        ("*", Unfit.OPEN), ("*.*", Unfit.OPEN), ("example.*", Unfit.OPEN), ("*.org", Unfit.OPEN),
        ("*example.org", Unfit.OPEN), ("https://*", Unfit.OPEN), ("*.co.uk", Unfit.WIDE), ("a.*.github.io", Unfit.WIDE),
        ("192.0.2.*", Unfit.ADDRESS), ("*.2.7", Unfit.ADDRESS), ("*.192.0.2.7", Unfit.ADDRESS),
        ("[2001:db8::*]", Unfit.ADDRESS), ("*a*b*c*d*e*f*.example.org", Unfit.WILDCARDS),
        ("example.org/*a*b*c*d*e*f", Unfit.WILDCARDS), ("x" * (MOST + 1), Unfit.LONG), ("", Unfit.UNREADABLE),
        ("example", Unfit.UNREADABLE), ("/path", Unfit.UNREADABLE), ("http://", Unfit.UNREADABLE),
        ("gopher://*.example.org", Unfit.UNREADABLE), ("javascript:alert(1)", Unfit.UNREADABLE),
        ("a..*.example.org", Unfit.UNREADABLE), ("example.org:0", Unfit.UNREADABLE),
        ("example.org:99999", Unfit.UNREADABLE), ("[::1]x", Unfit.UNREADABLE), ("user@*.example.org", Unfit.UNREADABLE),
        ("%*.example.org", Unfit.UNREADABLE), ("\\*.example.org", Unfit.UNREADABLE),
        ("\u202e*.example.org", Unfit.UNREADABLE), ("a'; DROP TABLE url; --", Unfit.UNREADABLE),
        ("\x00.example.org", Unfit.UNREADABLE), ("\ud800.example.org", Unfit.UNREADABLE),
    ],
)  # fmt: skip
def test_what_no_index_can_find_is_refused(pattern: str, unfit: Unfit) -> None:
    with pytest.raises(UnfitPattern) as caught:
        parse_pattern(pattern)
    assert caught.value.unfit is unfit


@given(st.text(alphabet="aß.*/:[]%_\\?#@\x00\u202e\ud800 1é-") | st.text())
def test_whatever_is_written_is_a_pattern_or_refused(text: str) -> None:
    for given_text in (text, f"*.example.org/{text}", f"{text}.example.org", f"http://{text}"):
        try:
            pattern = parse_pattern(given_text)
        except UnfitPattern:
            continue
        assert pattern.first < pattern.end
        assert f"{pattern.first}{pattern.end}{pattern.path}{''.join(pattern.hosts)}".isascii()
        assert "\x00" not in pattern.path


@given(st.text(alphabet="abä%_\\*?=/.-41 ", max_size=12))
def test_a_beginning_of_a_path_fits_what_begins_with_it(begin: str) -> None:
    try:
        url = parse(f"http://example.org/{begin}")
        pattern = parse_pattern(f"example.org/{begin}")
    except (InvalidUrl, UnfitPattern):
        return
    assert fits(pattern, str(url))
    assert fits(pattern, f"{url}{'x' if '*' in begin else ''}")
