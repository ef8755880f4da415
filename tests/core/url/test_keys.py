"""Keys are stored: the values here never change without a rekey (O-10)."""

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.url.keys import BUCKETS, UrlKey, bucket, host_key, key_of, url_key
from weboid.core.url.urls import parse

_KNOWN = {
    "http://3sat.de/": UrlKey(3399, 1655846222123142471, 1679876168048134968),
    "https://www.3sat.de:8443/a?b=c": UrlKey(3399, 1480763315986924401, -5670329237086481133),
    "http://xn--mller-kva.de/%C3%A4": UrlKey(3904, -5741449861370462400, -7750110540041377361),
    "https://www.bbc.co.uk/": UrlKey(884, 743604465948954341, 6728599306548503695),
    "http://192.0.2.7/": UrlKey(3879, 5443048589395558183, -9123600754227783222),
    "http://[2001:db8::1]/": UrlKey(2574, 6330727024099850766, 4112377288137217530),
}


def test_a_key_is_the_one_in_the_store_of_bucket_host_and_whole_url() -> None:
    assert {url: key_of(parse(url)) for url in _KNOWN} == _KNOWN
    url = parse("http://www.3sat.de:80/a")
    assert key_of(url) == (bucket("www.3sat.de"), host_key("www.3sat.de"), url_key("http://www.3sat.de/a"))
    assert bucket("a.3sat.de") == bucket("b.c.3sat.de") == bucket("3sat.de")
    assert bucket("one.github.io") != bucket("two.github.io")


@given(st.from_regex(r"[a-z0-9]{1,20}\.[a-z]{2,6}", fullmatch=True))
def test_keys_fit_the_columns(host: str) -> None:
    assert 0 <= bucket(host) < BUCKETS
    assert -(2**63) <= host_key(host) < 2**63


def test_buckets_are_evenly_filled() -> None:
    filled = [0] * BUCKETS
    for number in range(BUCKETS * 8):
        filled[bucket(f"site{number}.de")] += 1
    assert max(filled) < 8 * 4
    assert filled.count(0) < BUCKETS // 100
