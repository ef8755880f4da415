"""Where archive services are asked, where readers are sent, and which services are asked for which URL."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.archive.addresses import (
    index_request,
    is_in_other_archive,
    reader_address,
    replay_address,
    save_request,
    save_status_request,
    second_request,
    stamp_of,
    taken_of,
)
from weboid.core.archive.configured import configured
from weboid.core.archive.services import MOST_OF_A_COUNTRY, SERVICES, Dialect, playing, services_for
from weboid.core.url.archives import snapshot_of
from weboid.core.url.urls import parse

URL = parse("https://www.mill.demo/wheel?a=1&b=%C3%A9")
WANTED = datetime(2011, 2, 3, 4, 5, 6, tzinfo=UTC)
STAMP = 20110203040506


def test_an_index_is_asked_with_the_url_escaped_once() -> None:
    for name in ["wayback", "arquivo"]:
        asked = parse_qs(urlsplit(index_request(SERVICES[name], URL, WANTED)).query)
        assert asked["url"] == [str(URL)], name
        assert (asked["sort"], asked["closest"], asked["output"]) == (["closest"], [str(STAMP)], ["json"]), name
        assert not asked.keys() & {"filter", "collapse", "matchType"}, name
        starred = parse_qs(urlsplit(index_request(SERVICES[name], parse("https://mill.demo/a*"), WANTED)).query)
        assert starred["matchType"] == ["exact"], "without it a star asks for all that begins so: wayback#80"
        assert "closest" not in parse_qs(urlsplit(index_request(SERVICES[name], URL, None)).query)


def test_each_service_is_asked_in_its_dialect() -> None:
    archive_it, escaped = "https://wayback.archive-it.org/all", "www.mill.demo%2Fwheel%3Fa%3D1%26b%3D%25C3%25A9"
    for name, index, second in [
        ("wayback", "https://web.archive.org/cdx/search/cdx?", f"https://archive.org/wayback/available?url={escaped}"),
        ("arquivo", "https://arquivo.pt/wayback/cdx?", f"https://arquivo.pt/wayback/timemap/link/{URL}"),
        ("archive-it", f"{archive_it}/timemap/link/{URL}", f"{archive_it}/{URL}"),
        ("perma", f"https://perma.cc/timemap/link/{URL}", f"https://perma.cc/timegate/{URL}"),
        ("wikiwix", "https://archive.wikiwix.com/cache/index2.php?apiresponse=1&url=https%3A%2F%2Fwww", None),
    ]:
        assert index_request(SERVICES[name], URL, WANTED).startswith(index)
        assert second_request(SERVICES[name], URL) == second


def test_a_stand_in_is_asked_for_everything() -> None:
    wayback = replace(SERVICES["wayback"], base="http://127.0.0.1:8000")
    addresses = [
        index_request(wayback, URL, WANTED), second_request(wayback, URL), replay_address(wayback, STAMP, URL),
        save_request(wayback), save_status_request(wayback, "a/../b"),
    ]  # fmt: skip
    assert all(address and address.startswith("http://127.0.0.1:8000/") for address in addresses)
    assert addresses[-1] == "http://127.0.0.1:8000/save/status/a%2F..%2Fb"
    assert reader_address(wayback, STAMP, URL) == f"https://web.archive.org/web/{STAMP}/{URL}"


def test_readers_are_sent_to_an_address_that_is_recognised() -> None:
    for name in SERVICES:
        service = SERVICES[name]
        own = "https://perma.cc/AB12-CD34" if service.dialect is Dialect.PERMA else None
        address = reader_address(service, STAMP, URL, own)
        snapshot = snapshot_of(address)
        assert snapshot, name
        assert (snapshot.archive, snapshot.archive.is_offered) == (service.archive, True), name
        assert address.startswith("https://"), name
        assert "id_" not in address, name
        if not own:
            assert (snapshot.taken, snapshot.original) == (WANTED, URL), name
            assert ("id_/" in replay_address(service, STAMP, URL)) == service.is_raw, name
        assert replay_address(service, STAMP, URL, own).startswith(service.base), name
        assert not is_in_other_archive(service, address), name
        assert is_in_other_archive(service, f"https://archive.today/{STAMP}/{URL}"), name


def test_a_service_s_own_spelling_and_own_address_are_asked_at_its_base() -> None:
    address = replay_address(SERVICES["wayback"], STAMP, "http://MILL.demo:80/a%2Fb c?é#top")
    assert address == f"https://web.archive.org/web/{STAMP}id_/http://MILL.demo:80/a%2Fb%20c?%C3%A9"
    perma = replace(SERVICES["perma"], base="http://127.0.0.1:8000")
    assert replay_address(perma, STAMP, URL, "https://evil.demo/AB12-CD34?x") == "http://127.0.0.1:8000/AB12-CD34"


@given(st.datetimes(datetime(1990, 1, 1), datetime(9999, 12, 31)))
def test_a_stamp_is_a_moment(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC, microsecond=0)
    assert taken_of(stamp_of(aware)) == aware


def test_a_stamp_is_in_utc_and_must_be_a_moment() -> None:
    assert stamp_of(datetime(2011, 2, 3, 6, 5, 6, 999, tzinfo=timezone(timedelta(hours=2)))) == STAMP
    for stamp in (0, -1, 20000012112233, 19891231235959, 2011, 10**15):
        with pytest.raises(ValueError, match="no moment"):
            taken_of(stamp)


def test_services_are_asked_for_what_they_may_have() -> None:
    for url, languages, names in [
        ("http://mill.demo/", (), ["wayback"]), ("http://www.mill.pt/", (), ["wayback", "arquivo"]),
        ("http://mill.gov.uk/", (), ["wayback", "nationalarchives", "ukwa"]),
        ("http://mill.co.uk/", (), ["wayback", "ukwa"]), ("http://mill.scot/", (), ["wayback", "nrscotland", "ukwa"]),
        ("http://moulin.fr/", (), ["wayback", "wikiwix"]), ("http://mill.demo/", ("de", "fr"), ["wayback", "wikiwix"]),
        ("http://127.0.0.1/", (), ["wayback"]),
    ]:  # fmt: skip
        asked = services_for(parse(url), configured((), {}), languages=languages)
        assert [service.name for service in asked] == names, url


def test_services_stay_in_the_given_order_and_below_their_limits() -> None:
    perma, wayback = SERVICES["perma"], SERVICES["wayback"]
    assert services_for(URL, [perma, wayback]) == [perma, wayback]
    national = [replace(SERVICES["ukwa"], base=f"https://a.demo/{number}") for number in range(5)]
    assert len(services_for(parse("http://mill.uk/"), national)) == MOST_OF_A_COUNTRY
    assert (wayback.per_minute, wayback.replay_per_minute) == (24, 480)
    assert all(service.archive.is_offered and service.name == name for name, service in SERVICES.items())
    assert SERVICES.keys().isdisjoint({"loc", "archive.today", "mementoweb"})


def test_small_archives_are_asked_only_where_somebody_names_them_but_play_what_pages_cite() -> None:
    assert not {"archive-it", "perma"} & {service.name for service in configured((), {})}
    named = configured((), {"perma": {"per_minute": 6}})
    assert [service.name for service in named if not service.countries] == ["wayback", "perma"]
    assert [service.name for service in configured(["archive-it", "wayback"], {})] == ["archive-it", "wayback"]
    assert playing(configured((), {}))[SERVICES["archive-it"].archive.number] == SERVICES["archive-it"]
    here = configured(["wayback"], {"wayback": {"base": "http://127.0.0.1"}})
    assert playing(here)[1] == here[0]


def test_readers_are_sent_to_the_archive_itself_wherever_and_however_it_is_asked() -> None:
    for name, service in SERVICES.items():
        (here,) = configured([name], {name: {"base": "http://127.0.0.1:8000/web/"}})
        assert (here.base, here.public) == ("http://127.0.0.1:8000/web", service.public)
    (named,) = configured(["wayback"], {"wayback": {"base": "http://127.0.0.1/", "public": "https://mirror.demo"}})
    assert named.public == "https://mirror.demo"
    (own,) = configured(["haw"], {"haw": {"base": "https://haw.nsk.hr/wayback"}})
    assert own.public == own.base
    (here,) = configured(["wayback"], {"wayback": {"base": "http://127.0.0.1/web", "dialect": "pywb"}})
    assert replay_address(here, STAMP, "http://mill.demo/") == f"http://127.0.0.1/web/{STAMP}id_/http://mill.demo/"
    assert reader_address(here, STAMP, "http://mill.demo/") == f"https://web.archive.org/web/{STAMP}/http://mill.demo/"


def test_a_service_of_a_country_is_asked_for_every_url_where_somebody_says_where_to_ask_it() -> None:
    asked = configured((), {"arquivo": {"base": "http://127.0.0.1"}, "ukwa": {"per_minute": 5}})
    assert [service.name for service in services_for(URL, asked)] == ["wayback", "arquivo"]
    (kept,) = configured(["arquivo"], {"arquivo": {"base": "http://127.0.0.1", "countries": "pt"}})
    assert kept.countries == ("pt",)
