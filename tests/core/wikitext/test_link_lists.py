"""The lists of links in a wiki's settings: which links an entry fits, which entries are none, and how long it takes."""

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import asset, toml_next_to
from weboid.core.url.urls import parse
from weboid.core.wikitext.link_lists import LinkLists
from weboid.core.wikitext.settings import SettingsError, flags_of, parse_settings

_CASES = toml_next_to(__file__)

_SHIPPED = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))


def settings_page(links: object) -> str:
    return json.dumps(_SHIPPED | {"links": links})


def flags(url: str, **lists: list[str]) -> set[str]:
    return set(flags_of(parse(url), parse_settings(settings_page(links=lists))))


def test_a_host_means_all_that_is_on_it_and_below_it_and_no_other_that_looks_like_it() -> None:
    for url in [
        "https://example.org/", "http://EXAMPLE.org./a?b", "https://www.shop.example.org/",
        "https://user@example.org:8443/", "//example.org/", "ftp://example.org/x",
    ]:  # fmt: skip
        for entry in ("example.org", "EXAMPLE.ORG", "example.org."):
            assert flags(url, permadead=[entry]) == {"permadead"}
    for url in ["https://badexample.org/", "https://org.example/", "https://example.org.test/"]:
        assert flags(url, permadead=["example.org"]) == set()


def test_hosts_have_one_form() -> None:
    for entry, url in [
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("xn--bcher-kva.example", "https://www.BÜCHER.example/"),
        ("https://Bücher.example/ü", "https://xn--bcher-kva.example/%C3%BCber"),
        ("192.0.2.7", "http://192.0.2.7:81/"),
        ("[2001:db8::1]", "http://[2001:DB8:0::1]/"),
    ]:
        assert flags(url, subscription=[entry]) == {"subscription"}


def test_the_beginning_of_a_url_is_compared_with_normal_forms() -> None:
    for entry, url, fits in _CASES["beginnings"]:
        assert flags(url, permalive=[entry]) == ({"permalive"} if fits else set())


def test_a_link_has_the_flags_of_all_entries_that_fit_it_and_without_lists_none() -> None:
    lists = {
        "permalive": ["www.example.org"],
        "permadead": ["https://www.example.org/old/", "https://www.example.org/old/very/"],
        "subscription": ["example.org", "https://www.example.org/o"],
    }
    assert flags("https://www.example.org/old/very/a", **lists) == {"permalive", "permadead", "subscription"}
    assert flags("https://example.org/old/", **lists) == {"subscription"}
    assert flags("https://example.com/old/", **lists) == set()
    assert flags_of(parse("https://example.org/"), None) == set()
    assert flags("https://example.org/") == set()


@pytest.mark.parametrize(
    "entry",
    ["", "example", "*.example.org", "example.org/shop", "example.org:8443", "//example.org", "mailto:a@example.org",
     "https://", "https://example", "gopher://example.org/", "https://a b.example/", "192.0.2.999", "300.1", "a..b",
     "https://example.org/a b", "https://example.org/#top", "\u202eexample.org", "-.example", ".org", "[::1",
     "exa\u200bmple.org", "a" * 501, 7, None, ["example.org"], "https://example.org:99999/", "2001:db8::1"],
)  # fmt: skip
def test_an_entry_that_is_neither_makes_the_page_unusable(entry: object) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(settings_page(links={"permadead": ["example.org", entry]}))
    (fault,) = caught.value.faults
    assert fault.startswith("links.permadead[1]: ")
    assert len(fault) < 250


def test_the_fault_says_what_an_entry_is_and_that_it_cannot_be_dead_and_alive() -> None:
    with pytest.raises(SettingsError, match=r"'\*\.example\.org': must be a host, such as 'example\.org' \(with all"):
        parse_settings(settings_page(links={"permadead": ["*.example.org"]}))
    with pytest.raises(SettingsError) as caught:
        parse_settings(settings_page(links={"permalive": ["Example.org"], "permadead": ["a.example", "example.org."]}))
    assert caught.value.faults == ("links.permadead[1]: 'example.org.' is in permalive, too",)


@given(st.lists(st.text(max_size=30), max_size=3))
def test_no_entry_raises_anything_else(entries: list[str]) -> None:
    try:
        settings = parse_settings(settings_page(links={"permalive": entries}))
    except SettingsError:
        return
    assert flags_of(parse("https://example.org/"), settings) <= {"permalive"}


def test_a_link_among_thousands_of_entries_takes_no_longer_than_among_a_few() -> None:
    urls = [parse(f"https://www.example.org/{place}/page") for place in range(200)]

    def seconds(lists: LinkLists) -> float:
        lists.flags_of(urls[0])  # the tables are made once
        times = []
        for _ in range(5):
            begin = process_time()
            assert sum(bool(lists.flags_of(url)) for url in urls)
            times.append(process_time() - begin)
        return min(times)

    few = LinkLists(permadead=("example.com",), subscription=("https://www.example.org/1",))
    many = LinkLists(
        permadead=tuple(f"host{place}.example" for place in range(900)),
        subscription=tuple(f"https://www.example.org/{place}" for place in range(900)),
    )
    assert seconds(many) < 20 * seconds(few)  # a loop over the entries would take some hundred times as long
