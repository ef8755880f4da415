"""Made-up URLs: unlike the URL that they are made from in all that may be an id or a slug (C-11)."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.url.made_up import MadeUp, Probes, near_place, probes_of
from weboid.core.url.urls import Url, parse

_CASES = toml_next_to(__file__)


def probes(path: str, site: str = "http://site.test") -> Probes:
    found = probes_of(parse(f"{site}{path}"))
    assert found is not None
    return found


def test_what_may_be_an_id_or_a_slug_is_made_up_and_the_rest_is_kept() -> None:
    for path, near in _CASES["near"]:
        assert re.fullmatch(near, probes(path).near.url.path)


def test_of_a_program_all_values_are_made_up_and_it_is_asked_without_any() -> None:
    for path, near, bare in [
        ("/view.php?id=123", r"/view\.php\?id=9\d{6}", "/view.php"),
        ("/a/b.asp?id=123&title=a-slug", r"/a/b\.asp\?id=9\d{6}&title=[a-z]{5}-[a-z]{5}", "/a/b.asp"),
        ("/watch?v=dQw4w9WgXcQ12", r"/watch\?v=[a-z]{11}9\d{6}", "/watch"),
        ("/?p=77", r"/\?p=9\d{6}", "/"),
        ("/forum/?t=77;x=", r"/forum/\?t=9\d{6}", "/forum/"),
    ]:
        found = probes(path)
        assert re.fullmatch(near, found.near.url.path), path
        assert found.bare is not None, path
        assert found.bare.url.path == bare, path


def test_of_front_pages_and_other_protocols_nothing_is_made_up() -> None:
    for url in ["http://site.test/", "http://site.test/?lang=en", "http://site.test/index.php", "ftp://site.test/a/b"]:
        assert probes_of(parse(url)) is None
        assert near_place(parse(url)) is None


def test_a_far_url_is_asked_for_only_where_a_directory_or_a_program_was_kept_and_is_the_same_for_the_whole_site() -> (
    None
):
    assert probes("/a-page.html").far is None
    one, other = probes("/a/page.html").far, probes("/b/c/2").far
    assert one == other == probes("/view.php?id=12").far
    assert one is not None
    assert probes("/a/page.html", "http://other.test").far != one


def test_places_tell_directories_extensions_programs_and_ports_apart_and_nothing_else() -> None:
    assert probes("/a/1").near.place == probes("/a/b/c/2").near.place
    apart = ["/a/1", "/b/1", "/a/1.html", "/1", "/a.php?id=12", "/b.php?id=12", "/a.php?page=12"]
    assert len({probes(path).near.place for path in apart}) == len(apart)
    assert probes("/a/1", "http://site.test:8080").near.place != probes("/a/1").near.place
    assert probes("/1/a").near.place == probes("/2/b").near.place


def test_the_words_of_a_url_are_those_that_name_the_document_and_those_that_do_not() -> None:
    found = probes("/story/123/the-slug.html")
    assert set(found.named) == {"the", "slug"}
    assert set(found.shared) == {"story", "html"}
    assert found.near.invented.isdisjoint({"story", "html"})
    assert found.root.invented == frozenset()


PATHS = st.from_regex(r"(/[a-zA-Z0-9.~_%-]{0,12}){1,7}(\?[a-z]{1,5}=[a-z0-9-]{0,12}){0,1}", fullmatch=True)


@given(PATHS)
@example("/0.A0")
def test_made_up_urls_are_urls_of_the_same_site_and_share_no_id_and_no_slug(path: str) -> None:
    url = parse(f"http://site.test{path}")
    found = probes_of(url)
    assert near_place(url) == (None if found is None else found.near.place)
    if found is None:
        return
    assert found == probes_of(url)
    for asked in (found.near, found.far, found.bare, found.root):
        if asked is not None:
            assert parse(str(asked.url)) == asked.url
            assert (asked.url.scheme, asked.url.host, asked.url.port) == (url.scheme, url.host, url.port)
    assert found.near.url != url
    assert numbers(found.near).isdisjoint(re.findall(r"[0-9]+", without_extension(url.path)))
    assert ids(found.near.url).isdisjoint(ids(url))


def numbers(made_up: MadeUp) -> set[str]:
    path = made_up.url.path
    return set(re.findall(r"[0-9]+", without_extension(path))) if "?" not in path else set()


def without_extension(path: str) -> str:
    """The path without what is the site's: .mp3, .php5."""
    return re.sub(r"\.[A-Za-z][A-Za-z0-9]{0,4}(?=/?(?:\?|$))", "", path)


def ids(url: Url) -> set[str]:
    """What certainly names a document: segments and values with digits."""
    path, _, query = url.path.partition("?")
    found = {field.partition("=")[2] for field in query.split("&")} if query else set(path.split("/"))
    return {text for text in found if re.search("[0-9]", text) and not re.search(r"\.[A-Za-z][A-Za-z0-9]{0,4}$", text)}
