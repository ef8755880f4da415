"""Web archives by their URLs (A-2): the service, the original and the moment, for each form of each service."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.url.archives import ARCHIVES, BY_NUMBER, Standing, snapshot_of
from weboid.core.url.urls import MAX_URL, normal, parse

CASES = toml_next_to(__file__)
PAGE = "http://www.mill.demo/wheel?a=1&b=2"

FULL = "20110203040506"


STAMPED = CASES["stamped"]

OTHERS = CASES["others"]


def test_a_snapshot_tells_its_service_its_original_and_its_moment() -> None:
    for name, url in ((name, url) for name, urls in STAMPED.items() for url in urls):
        found = snapshot_of(url)
        assert found, url
        assert (found.archive.name, str(found.original)) == (name, normal(PAGE)), url
        assert found.taken == datetime(2011, 2, 3, 4, 5, 6, tzinfo=UTC), url


def test_other_forms_tell_what_they_tell() -> None:
    for url, name, original, taken in OTHERS:
        found = snapshot_of(url)
        assert found, url
        assert (found.archive.name, found.original and str(found.original)) == (
            name,
            normal(original) if original else None,
        ), url
        assert (f"{found.taken:%Y-%m-%d %H:%M:%S}" if found.taken else "") == taken, url


def test_every_service_has_a_vector_and_a_number_of_its_own() -> None:
    assert {archive.name for archive in ARCHIVES} == STAMPED.keys() | {name for _, name, _, _ in OTHERS}
    assert len(BY_NUMBER) == len(ARCHIVES) == len({archive.name for archive in ARCHIVES}) >= 20
    assert min(BY_NUMBER) > 0
    hosts = [host for archive in ARCHIVES for host in archive.hosts]
    assert len(hosts) == len(set(hosts))
    assert all(parse(f"http://{host}/").host == host and not host.startswith("www.") for host in hosts)


def test_numbers_stand_in_the_store_and_never_change() -> None:
    found = {archive.number: archive.name for archive in ARCHIVES}
    assert [found[number] for number in (1, 2, 3, 4, 9, 21, 28, 33, 35, 36, 40)] == [
        "wayback", "archive.today", "webcite", "archive-it", "nationalarchives", "nla", "perma", "ghostarchive",
        "google-cache", "nlnz", "megalodon",
    ]  # fmt: skip


def test_nobody_is_sent_to_what_is_dead_or_has_attacked_others() -> None:
    standing = {archive.name: archive.standing for archive in ARCHIVES}
    assert standing["archive.today"] is Standing.BARRED
    assert standing["webcite"] is Standing.DEAD
    assert standing["google-cache"] is Standing.NO_ARCHIVE
    assert standing["wayback"] is Standing.OFFERED
    assert not any(archive.is_offered for archive in ARCHIVES if archive.standing is not Standing.OFFERED)
    assert sum(archive.is_offered for archive in ARCHIVES) >= 20


def test_no_address_of_archive_today_passes_for_an_ordinary_page() -> None:
    for host in ["archive.is", "www.archive.fo", "archive.li", "archive.vn", "ARCHIVE.PH", "archive.md"]:
        for path in ("", "/", "/AbCdE", "/o/AbCdE/http://mill.demo/", "/?run=1&url=http://mill.demo/", "/faq"):
            found = snapshot_of(f"https://{host}{path}")
            assert found, host
            assert found.archive.standing is Standing.BARRED, host


def test_what_is_no_snapshot_is_none() -> None:
    for url in [
        "https://archive.org/details/mills", "https://archive.org/2011/mill.html", "https://web.archive.org/",
        "https://www.webarchive.org.uk/wayback/english/archive/2011/http://mill.demo/",
        "https://megalodon.jp/mill.demo", "https://arquivo.pt/page/search", "https://digital.library.yorku.ca/mills",
        "http://www.collectionscanada.gc.ca/mills/", "https://wayback.archive-it.org/all/",
        f"https://web.archive.org.evil.demo/web/{FULL}/{PAGE}",
        f"https://evil.demo/https://web.archive.org/web/{FULL}/{PAGE}",
        f"https://web.archive.org:2222/web/{FULL}/{PAGE}", f"ftp://web.archive.org/web/{FULL}/{PAGE}",
        f"javascript:https://web.archive.org/web/{FULL}/{PAGE}", f"web.archive.org/web/{FULL}/{PAGE}", "//", "", "\x00",
        "http://[", "https://web.archive.org/web/" + "9" * MAX_URL,
    ]:  # fmt: skip
        assert snapshot_of(url) is None


@given(
    st.sampled_from([url for urls in STAMPED.values() for url in urls] + [url for url, *_ in OTHERS]),
    st.integers(0, 90),
    st.text(max_size=12),
)
def test_whatever_stands_in_a_url_of_an_archive_nothing_raises(url: str, place: int, text: str) -> None:
    found = snapshot_of(url[:place] + text + url[place:])
    if found and found.original:
        assert parse(str(found.original)) == found.original


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    assert snapshot_of(text) is None or "." in text
    for host in ("https://web.archive.org/web/2011/", "https://archive.is/", "https://perma.cc/warc/"):
        found = snapshot_of(host + text)
        assert found is None or found.original is None or parse(str(found.original)) == found.original
