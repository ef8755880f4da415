from hypothesis import given
from hypothesis import strategies as st

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.hosts import reversed_name
from weboid.core.url.mediawiki import INDEX_BYTES, stored_url
from weboid.core.url.urls import parse


def test_a_row_is_its_url_again() -> None:
    rows: list[tuple[str | bytes, str | bytes | None, str]] = [
        ("https://org.example.www.:8443", "/a", "https://www.example.org:8443/a"),
        ("https://org.example.", "/a?b=c#frag", "https://example.org/a?b=c#frag"),
        ("http://org.example.:80", "/", "http://example.org:80/"),
        ("http://example.müller.", "/%C3%BC", "http://müller.example/%C3%BC"),
        ("http://V4.192.0.2.7.", "/x", "http://192.0.2.7/x"),
        ("http://V4.192.0.2.7.:8080", "/x", "http://192.0.2.7:8080/x"),
        ("http://V6.2001.DB8.0.0.0.0.0.1.", "/y", "http://[2001:DB8:0:0:0:0:0:1]/y"),
        ("mailto:org.example.@a", "", "mailto:a@example.org"),
        ("news:lang.comp.", "", "news:comp.lang"),
        ("//org.example.", "/a", "https://example.org/a"),
        ("https://org.example.", None, "https://example.org/"),
        (b"http://example.m\xc3\xbcller.", b"/a", "http://müller.example/a"),
    ]
    for index, path, url in rows:
        assert stored_url(index, path) == url


def test_a_row_that_cannot_be_read_is_never_watched() -> None:
    rows: list[tuple[str | bytes, str | bytes]] = [
        ("", ""), ("", "https://3sat.de/"), ("de.3sat.", "/"), ("https://", "/x"), ("https://.", "/x"),
        ("https://de.3sat.www", "/x"), ("https://de.3sat.:8o", "/x"), ("https://de.3sat.:", "/x"),
        ("http://V4.192.0.2", "/x"), ("http://V4.192.0.2.999.", "/x"), ("http://V6.2001.DB8.", "/x"),
        ("http://V6.2001.DB8.0.0.0.0.0.1", "/x"), ("https://de.3sat/kika.de.", "/x"), ("https://de#.3sat.", "/x"),
        (b"https://de.3s\xc3.", b"/x"), (b"\xff\xfe", b"\xff"), ("https://" + "de." + "a." * 130, "/x"),
        (("https://de." + "a" * INDEX_BYTES)[:INDEX_BYTES], "/x"),
        (("https://de." + "ü." * INDEX_BYTES).encode()[:INDEX_BYTES], "/x"),
    ]  # fmt: skip
    for index, path in rows:
        assert classify(stored_url(index, path), None).kind in (UrlClass.IGNORED, UrlClass.INVALID)


def test_a_hostile_row_never_names_another_host() -> None:
    for index, path in [
        ("https://de.3sat.", "kika.de/"), ("https://de.3sat.", "@kika.de/"), ("https://de.3sat.", ":99@kika.de/"),
        ("https://de.3sat.", ""), ("https://de.3sat.@kika.de/", "/x"), ("https://de.3sat.@kika.de#", "/x"),
    ]:  # fmt: skip
        found = classify(stored_url(index, path), None)
        assert found.url is None or found.url.host == "3sat.de", index


@given(
    st.from_regex(r"([a-z0-9]{1,8}\.){1,4}[a-z]{2,5}", fullmatch=True) | st.ip_addresses().map(str),
    st.sampled_from(["", ":8443"]),
)
def test_our_reversed_name_is_an_index_of_the_same_host(host: str, port: str) -> None:
    url = parse(stored_url(f"https://{reversed_name(host)}{port}", "/"))
    assert reversed_name(url.host) == reversed_name(host)
    assert url.port == (8443 if port else 0)
