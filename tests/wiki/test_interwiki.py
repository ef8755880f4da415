import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.url.urls import parse
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
        ("WIKT", "pro forma", "https://en.wiktionary.org/wiki/pro_forma"),
        ("wikt", "آذر", "https://en.wiktionary.org/wiki/%D8%A2%D8%B0%D8%B1"),
        ("wikt", ";@$!*(),/~:-_.", "https://en.wiktionary.org/wiki/;@$!*(),/~:-_."),
        ("wikt", "a?b&c=d+e#f'\"%", "https://en.wiktionary.org/wiki/a%3Fb%26c%3Dd%2Be%23f%27%22%25"),
        ("wikt", "$1", "https://en.wiktionary.org/wiki/$1"),
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


_LOCAL = InterwikiMap(
    [
        Interwiki("w", "//en.wikipedia.org/wiki/$1", local=True),
        Interwiki("u", "//en.wikipedia.org/wiki/User:$1", local=True),
        Interwiki("q", "http://pages.demo:8080/w/index.php?title=$1", local=True),
        Interwiki("tail", "https://tail.demo/$1/x", local=True),
        Interwiki("odd", "http://[", local=True, api="http://["),
        Interwiki("d", "https://foreign.demo/wiki/$1", local=False),
    ]
)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://en.wikipedia.org/wiki/A_b%3Fc", ("https://en.wikipedia.org", "A b?c")),
        ("http://EN.wikipedia.org:80/wiki/100%25#part", ("https://en.wikipedia.org", "100%")),
        ("https://en.wikipedia.org/wiki/User:X", ("https://en.wikipedia.org", "User:X")),
        ("http://pages.demo:8080/w/index.php?title=A+b%2Bc", ("http://pages.demo:8080", "A b+c")),
        ("https://en.wikipedia.org/wiki/A?oldid=3", None),
        ("http://pages.demo:8080/w/index.php?title=A&action=edit", None),
        ("http://pages.demo/w/index.php?title=A", None),
        ("https://en.wikipedia.org/wiki/", None),
        ("https://tail.demo/A/x", None),
        ("https://foreign.demo/wiki/A", None),
    ],
)
def test_urls_of_wikis_that_the_map_calls_local_lead_to_pages(url: str, page: tuple[str, str] | None) -> None:
    found = _LOCAL.page_at(parse(url))
    assert (found and (found[0].origin, found[1])) == page


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_a_local_link_leads_to_the_page_of_its_title(title: str) -> None:
    for prefix in "wq":
        link = _LOCAL.local_link(prefix, title)
        assert link
        found = _LOCAL.page_at(parse(link.url))
        assert found is None or found[1] == link.title


def test_a_target_without_scheme_is_https_by_whichever_scheme_the_api_is_asked() -> None:
    for scheme, is_relative, url in (("http", True, "https"), ("https", True, "https"), ("http", False, "http")):
        listed = [{"prefix": "a", "url": f"{scheme}://a.net/$1", "protorel": is_relative}]
        assert InterwikiMap.from_siteinfo(listed).target("a", "x") == f"{url}://a.net/x"
