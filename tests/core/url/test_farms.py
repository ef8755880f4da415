"""Farms and wiki names (P-1, P-11)."""

import gzip
import json

import pytest
from support.shared import shared

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import BUILT_IN, WMF, WMFLABS, Farm, WikiName, api_url, farm_named, owns, parse_wiki_name
from weboid.errors import ConfigError

_PROJECTS = (
    "mediawiki wikibooks wikidata wikifunctions wikimedia wikinews wikipedia wikiquote wikisource wikispecies "
    "wikiversity wikivoyage wiktionary"
)
_OSM = Farm(2, "OSM", "https://wiki.openstreetmap.org/w/api.php", frozenset({"openstreetmap.org"}))


def test_wmf_owns_each_project_and_what_is_below_it_and_nothing_that_only_looks_like_it() -> None:
    for project in _PROJECTS.split():
        assert owns(WMF, f"{project}.org")
        assert owns(WMF, f"de.{project}.org")
        assert owns(WMF, f"de.m.{project}.org")
    for project in _PROJECTS.split():
        for host in (
            f"not{project}.org", f"{project}.org.de", f"{project}.com", f"x-{project}.org", f"{project}", "org",
        ):  # fmt: skip
            assert not owns(WMF, host), project


def test_the_test_farm_is_a_farm_of_its_own() -> None:
    assert owns(WMFLABS, "de.wikipedia.beta.wmflabs.org")
    assert owns(WMFLABS, "en.wikipedia.beta.wmcloud.org")
    assert not owns(WMFLABS, "tools.wmflabs.org")
    assert not owns(WMFLABS, "de.wikipedia.org")
    assert not owns(WMF, "de.wikipedia.beta.wmflabs.org")
    assert not owns(WMF, "192.0.2.7")
    assert not owns(WMF, "2001:db8::1")


def test_a_link_is_own_only_on_a_page_of_that_farm_and_an_example_never() -> None:
    assert classify("https://wiki.openstreetmap.org/", _OSM).kind is UrlClass.OWN_FARM
    assert classify("https://wiki.openstreetmap.org/", WMF).kind is UrlClass.WATCHED
    assert classify("https://de.wikipedia.org/", _OSM).kind is UrlClass.WATCHED
    assert classify("https://de.wikipedia.org/", None).kind is UrlClass.WATCHED
    farm = Farm(7, "Example", "https://www.example.org/api.php", frozenset({"example.org"}))
    assert classify("https://www.example.org/", farm).kind is UrlClass.EXAMPLE


def test_a_wiki_is_named_by_database_and_farm() -> None:
    for text, name in [
        ("dewiki", WikiName("dewiki", "WMF")),
        ("dewiki@WMF", WikiName("dewiki", "WMF")),
        ("be_x_oldwiki@wmflabs", WikiName("be_x_oldwiki", "wmflabs")),
        ("osm-wiki@OSM", WikiName("osm-wiki", "OSM")),
    ]:
        assert parse_wiki_name(text) == name
        assert parse_wiki_name(str(name)) == name, text


@pytest.mark.parametrize("text", ["", "@", "@WMF", "DeWiki", "de wiki", "dewiki\n", "de;drop", "a" * 65, "dewikí"])
def test_what_names_no_wiki_is_reported_so(text: str) -> None:
    with pytest.raises(ConfigError, match="does not name a wiki"):
        parse_wiki_name(text)


@pytest.mark.parametrize("text", ["dewiki@", "dewiki@W@F", "dewiki@ W", "dewiki@1"])
def test_what_names_no_farm_is_reported_so(text: str) -> None:
    with pytest.raises(ConfigError, match="after the @ comes"):
        parse_wiki_name(text)


def test_farms_are_found_by_name() -> None:
    assert farm_named("WMF", BUILT_IN) is WMF
    assert [farm.code for farm in BUILT_IN] == [0, 1]
    with pytest.raises(ConfigError, match="known are WMF, wmflabs"):
        farm_named("OSM", BUILT_IN)


@pytest.mark.parametrize(
    ("code", "name", "api", "domain"),
    [
        (-1, "OSM", "https://a.de/api.php", "a.de"), (40_000, "OSM", "https://a.de/api.php", "a.de"),
        (2, "O S M", "https://a.de/api.php", "a.de"), (2, "OSM", "a.de/api.php", "a.de"),
        (2, "OSM", "https://{server}/api.php", "a.de"), (2, "OSM", "https://a.de/api.php", "*.a.de"),
        (2, "OSM", "https://a.de/api.php", "A.de"), (2, "OSM", "https://a.de/api.php", "de"),
    ],
)  # fmt: skip
def test_a_farm_that_cannot_work_is_refused(code: int, name: str, api: str, domain: str) -> None:
    with pytest.raises(ConfigError, match=r"^farm "):
        Farm(code, name, api, frozenset({domain}))


def test_the_address_of_a_wikis_api() -> None:
    for farm, dbname, url in [
        (WMF, "dewiki", "https://de.wikipedia.org/w/api.php"),
        (WMF, "zh_min_nanwiktionary", "https://zh-min-nan.wiktionary.org/w/api.php"),
        (WMF, "commonswiki", "https://commons.wikimedia.org/w/api.php"),
        (WMF, "wikidatawiki", "https://www.wikidata.org/w/api.php"),
        (WMFLABS, "dewiki", "https://de.wikipedia.beta.wmcloud.org/w/api.php"),
        (_OSM, "osm", "https://wiki.openstreetmap.org/w/api.php"),
    ]:
        assert api_url(farm, dbname) == url


def test_every_wmf_wiki_of_the_shared_list_has_its_host() -> None:
    path = shared("wikis/wmf_raw_mediawiki_project_namespace_map.json.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        hosts = {row["dbname"]: row["hostname"] for row in map(json.loads, lines)}
    assert len(hosts) == 841
    for dbname, host in hosts.items():
        assert api_url(WMF, dbname) == f"https://{host}/w/api.php"
        assert owns(WMF, host)
