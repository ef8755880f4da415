"""The made-up sibling of a document, and whether both are the same (C-11)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from weboid.core.document.document import Document, document_of
from weboid.core.document.likeness import is_same_page, sibling_of
from weboid.core.url.urls import parse

ONE = "http://site.test/news/old-story.html"
OTHER = "http://site.test/news/qwfpgjluyarstdhn.html"


def read(title: str, text: str, url: str = ONE, head: str = "", more: str = "") -> Document:
    """A page as it was read at a URL."""
    return document_of(page(title, body=f"<p>{text}</p>{more}", head=head), "text/html", url)


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://site.test/news/old-story.html", r"/news/[a-z]{16}\.html"),
        ("http://site.test/news/2020/", r"/news/[a-z]{16}/"),
        ("http://site.test/news", r"/[a-z]{16}"),
        ("https://site.test:8443/a/b.PHP?id=7", r"/a/[a-z]{16}\.PHP"),
        ("http://site.test/v1.2", r"/[a-z]{16}"),
        ("http://site.test/a/.hidden-long-name", r"/a/[a-z]{16}"),
    ],
)
def test_a_sibling_has_the_same_directory_and_extension(url: str, form: str) -> None:
    start = parse(url)
    sibling = sibling_of(start, salt=1)
    assert sibling is not None
    assert (sibling.scheme, sibling.host, sibling.port) == (start.scheme, start.host, start.port)

    assert re.fullmatch(form, sibling.path)
    assert parse(str(sibling)) == sibling


@pytest.mark.parametrize(
    "url",
    [
        "http://site.test/",
        "http://site.test/?p=7",
        "http://site.test/index.php",
        "ftp://site.test/a/b",
        "http://site.test/Default.aspx?x=1",
    ],
)
def test_a_start_page_has_no_sibling(url: str) -> None:
    assert sibling_of(parse(url), salt=1) is None


def test_siblings_differ_by_salt_and_stay_the_same_otherwise() -> None:
    url = parse(ONE)
    assert sibling_of(url, 1) == sibling_of(url, 1)
    assert sibling_of(url, 1) != sibling_of(url, 2)


@given(st.from_regex(r"/[a-z0-9/.?=%-]{0,60}", fullmatch=True), st.integers())
def test_a_sibling_is_a_url_of_its_own(path: str, salt: int) -> None:
    url = parse(f"http://site.test{path}")
    sibling = sibling_of(url, salt)
    assert sibling is None or (sibling != url and parse(str(sibling)) == sibling)


def test_a_page_for_everything_is_the_same_page() -> None:
    text = prose(80)
    assert is_same_page(read("Site", text), read("Site", text, OTHER))


def test_the_address_itself_does_not_make_a_difference() -> None:
    one = read("Site: old story", f"{prose(40)} nothing at old story here")
    other = read("Site: qwfpgjluyarstdhn", f"{prose(40)} nothing at qwfpgjluyarstdhn here", OTHER)
    assert is_same_page(one, other)


def test_both_on_one_url_are_the_same_page() -> None:
    assert is_same_page(Document(url="http://site.test/start"), Document(url="http://site.test/start"))
    assert not is_same_page(Document(), Document())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (read("A story", prose(80)), read("Site", prose(80), OTHER)),
        (read("Site", prose(80)), read("Site", prose(80, start=500), OTHER)),
        (read("Site", prose(20)), read("Site", prose(19) + " else", OTHER)),
        (read("Site", "one two three"), read("Site", "one two three", OTHER)),
        (read("Site", ""), read("Site", "", OTHER)),
        (
            read("Site", prose(80), more="<div id=root></div>"),
            read("Site", prose(80), OTHER, more="<div id=root></div>"),
        ),
        (
            read("Site", prose(80), head='<meta property="article:published_time" content="2026">'),
            read("Site", prose(80), OTHER),
        ),
    ],
    ids=["title", "text", "short", "tiny", "empty", "filled in by scripts", "article"],
)
def test_what_could_be_two_pages_is_not_the_same(one: Document, other: Document) -> None:
    assert not is_same_page(one, other)
