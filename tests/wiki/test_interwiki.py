import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.wiki.interwiki import Interwiki, InterwikiMap

MAP = InterwikiMap(
    [
        Interwiki("wikt", "//en.wiktionary.org/wiki/$1", local=False),
        Interwiki("doi", "https://dx.doi.org/$1", local=False),
        Interwiki("home", "https://home.example/", local=False),
        Interwiki("w", "https://en.wikipedia.org/wiki/$1", local=True),
    ]
)


@pytest.mark.parametrize(
    ("prefix", "title", "url"),
    [
        ("wikt", "pro_forma", "https://en.wiktionary.org/wiki/pro_forma"),
        ("WIKT", "pro forma", "https://en.wiktionary.org/wiki/pro_forma"),
        ("wikt", "آذر", "https://en.wiktionary.org/wiki/%D8%A2%D8%B0%D8%B1"),
        ("wikt", ";@$!*(),/~:-_.", "https://en.wiktionary.org/wiki/;@$!*(),/~:-_."),
        ("wikt", "a?b&c=d+e#f'\"%", "https://en.wiktionary.org/wiki/a%3Fb%26c%3Dd%2Be%23f%27%22%25"),
        ("wikt", "$1", "https://en.wiktionary.org/wiki/$1"),
        ("doi", "10.1126/science.162.3860.1387", "https://dx.doi.org/10.1126/science.162.3860.1387"),
        ("home", "ignored", "https://home.example/"),
        ("w", "local", None),
        ("unknown", "x", None),
    ],
)
def test_targets_are_those_of_mediawiki(prefix: str, title: str, url: str | None) -> None:
    assert MAP.target(prefix, title) == url


@given(st.text(st.characters()))
def test_no_title_breaks_out_of_the_path(title: str) -> None:
    target = MAP.target("doi", title)
    assert target is not None
    assert target.startswith("https://dx.doi.org/")
    assert target.isascii()
    assert not set(target) & set("?#\"'<>\\ \n")


@pytest.mark.parametrize(
    ("listed", "prefixes"),
    [
        ([{"prefix": "a", "url": "//a.net/$1"}, {"prefix": "b", "url": "//b.net/$1", "local": True}], {"a"}),
        ([{"prefix": "a", "url": "//a.net/$1", "local": ""}, {"prefix": "b", "url": "x", "local": False}], {"b"}),
        ([None, 5, {}, {"prefix": 1, "url": "x"}, {"prefix": "a"}], set()),
        ({"a": 1}, set()),
        (None, set()),
    ],
)
def test_siteinfo_of_either_format_version_is_read(listed: object, prefixes: set[str]) -> None:
    interwiki = InterwikiMap.from_siteinfo(listed)
    assert {prefix for prefix in "ab" if interwiki.target(prefix, "x")} == prefixes


def test_a_target_without_scheme_is_https_by_whichever_scheme_the_api_is_asked() -> None:
    for scheme, is_relative, url in (("http", True, "https"), ("https", True, "https"), ("http", False, "http")):
        listed = [{"prefix": "a", "url": f"{scheme}://a.net/$1", "protorel": is_relative}]
        assert InterwikiMap.from_siteinfo(listed).target("a", "x") == f"{url}://a.net/x"
