"""Spellings of archived URLs: which of them are one page, and which are certainly another one (A-1, A-3)."""

import re
from collections.abc import Callable
from html import escape
from time import process_time
from unicodedata import normalize
from urllib.parse import quote, unquote

from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.url.spellings import archived, as_meant, is_other_page, is_same_page, merged
from weboid.core.url.urls import MAX_URL, parse

_CASES = toml_next_to(__file__)

PAGE = "http://www.mill.demo/history/wheel?id=1&lang=en"


def test_what_differs_in_spelling_only_is_the_same_page() -> None:
    for one, other, same in _CASES["same-pages"]:
        assert is_same_page(parse(one), parse(other)) is is_same_page(parse(other), parse(one)) is same
        assert not same or not is_other_page(other, parse(one))


def test_no_spelling_is_certainly_another_page() -> None:
    for original in _CASES["no-other-page"]:
        assert not is_other_page(original, parse(PAGE))


def test_no_spelling_of_rarer_signs_is_certainly_another_page() -> None:
    latin_1 = ["http://mill.demo/M%C3%BChle", "http://mill.demo/M\udcfchle"]  # in a header
    for asked, original in [latin_1, *_CASES["rarer-signs"]]:
        assert not is_other_page(original, parse(asked))


def test_another_path_host_or_query_is_another_page_and_a_plus_a_character_of_its_own() -> None:
    for original in _CASES["other-pages"]:
        for written in (original, original.replace("&", "&amp;"), original.replace("demo", "DEMO")):
            assert is_other_page(written, parse(PAGE)), original
    assert is_other_page("http://wiki.demo/wiki/C%2B%2B", parse("http://wiki.demo/wiki/C"))
    assert not is_other_page("http://wiki.demo/wiki/C%2B%2B", parse("http://wiki.demo/wiki/C++"))


def test_what_a_service_has_escaped_is_undone_and_no_more() -> None:
    for written, asked, meant in _CASES["escaped"]:
        assert as_meant(written, asked) == meant


def test_hostile_spellings_take_no_time() -> None:
    begun = process_time()
    for part in ("%25", "&amp;", "amp;", "&#38;", "%", "&", "+", "/", "%C3", "\u0308", "&lt;", "[", "\udc80"):
        text = "http://mill.demo/?" + part * ((MAX_URL - 20) // len(part))
        is_other_page(text, parse(PAGE))
        as_meant(text, PAGE)
        if form := archived(text):
            is_same_page(form, parse(PAGE))
    assert process_time() - begun < 1


# What holds for any URL.

WORDS = st.text("abcdefghijklmnopqrstuvwxyzAEIOU0123456789\u00e4\u00e9\u044f\u4e2d'-_~()", min_size=1, max_size=6)
LABELS = st.text("abcdefghij", min_size=1, max_size=6).map(lambda text: f"{text}x")


@st.composite
def urls(draw: st.DrawFn) -> tuple[str, list[str], list[tuple[str, str]]]:
    host = f"{draw(st.sampled_from(['', 'www.']))}{draw(LABELS)}.demo"
    fields = draw(st.lists(st.tuples(WORDS, WORDS), max_size=4))
    return host, draw(st.lists(WORDS, max_size=4)), fields


def written(host: str, words: list[str], fields: list[tuple[str, str]]) -> str:
    query = "&".join(f"{quote(name)}={quote(value)}" for name, value in fields)
    return f"http://{host}/{'/'.join(map(quote, words))}{'?' if query else ''}{query}"


def _tail(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of what follows the host."""
    return lambda url: re.sub(r"(//[^/:]+)(.*)", lambda found: found[1] + change(found[2]), url, count=1)


EXACT: dict[str, Callable[[str], str]] = {
    "escaped for HTML": lambda url: escape(url, quote=False),
    "escaped twice": lambda url: escape(escape(url, quote=False), quote=False),
    "escapes in lower case": lambda url: re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), url),
    "letters escaped": _tail(lambda tail: re.sub("(?<!%)(?<!%.)[a-dA-D]", lambda found: f"%{ord(found[0]):02X}", tail)),
    "characters in place of escapes": _tail(lambda tail: re.sub("(?:%[89A-Fa-f].)+", lambda m: unquote(m[0]), tail)),
    "decomposed": _tail(lambda tail: quote(normalize("NFD", unquote(tail)), safe="/?&=;:+'-_~()#%")),
    "without www": lambda url: re.sub("^(https?)://www[.]", r"\1://", url, flags=re.IGNORECASE),
    "with www": lambda url: re.sub("^(https?)://(?!www[.])", r"\1://www.", url, flags=re.IGNORECASE),
    "by https": lambda url: re.sub("^http://([^/:]+)(:80(?=/))?", r"https://\1", url),
    "with a port": lambda url: re.sub(r"^http://([^/:]+)(?=/)", r"http://\1:80", url),
    "with a slash": lambda url: url if "?" in url else f"{url}/",
    "with a fragment": lambda url: f"{url}#top",
    "host in capitals": lambda url: re.sub(r"//[^/:]+", lambda found: found[0].upper(), url, count=1),
}
GENEROUS: dict[str, Callable[[str], str]] = {
    "in capitals": _tail(lambda tail: quote(unquote(tail).upper(), safe="/?&=;:+'-_~()#%")),
    "another order": lambda url: "?".join(["&".join(reversed(part.split("&"))) for part in url.split("?")]),
    "numeric references": lambda url: url.replace("&", "&#38;"),
    "all escaped": _tail(lambda tail: quote(tail.partition("#")[0], safe="/?:")),
    "another port": lambda url: re.sub(r"//([^/:]+)(:80)?/", r"//\1:8080/", url, count=1),
    "two slashes": _tail(lambda tail: tail.replace("/", "//", 1)),
}


@given(urls(), st.lists(st.sampled_from(sorted(EXACT)), max_size=6))
def test_any_respelling_is_the_same_page(parts: tuple[str, list[str], list[tuple[str, str]]], ways: list[str]) -> None:
    url = respelled = written(*parts)
    for way in ways:
        respelled = EXACT[way](respelled)
    form = archived(as_meant(respelled, url))
    assert form
    assert is_same_page(form, parse(url)), (url, respelled)
    assert not is_other_page(respelled, parse(url))
    assert not is_other_page(url, form)


@given(urls(), st.lists(st.sampled_from(sorted(GENEROUS | EXACT)), max_size=6, unique=True))
def test_no_respelling_is_surely_another(parts: tuple[str, list[str], list[tuple[str, str]]], ways: list[str]) -> None:
    url = respelled = written(*parts)
    # Fields are put in another order before anything is hung on them, and one of HTML's escapes comes last.
    last = {"escaped for HTML", "escaped twice", "numeric references"}
    for way in sorted(ways, key=lambda way: (way in last, way != "another order")):
        respelled = (GENEROUS | EXACT)[way](respelled)
        if way in last:
            break
    assert not is_other_page(respelled, parse(url)), (url, respelled)


@given(urls(), WORDS, st.data())
def test_other_content_is_another_page_however_it_is_spelled(
    parts: tuple[str, list[str], list[tuple[str, str]]], word: str, data: st.DataObject
) -> None:
    host, words, fields = parts
    others = [
        (f"x{host.removeprefix('www.')}", words, fields),
        (host, [*words, word], fields),
        (host, words, [*fields, (word, "1")]),
        *((host, [*words[:at], f"{words[at]}q", *words[at + 1 :]], fields) for at in range(len(words))),
        *((host, [*words[:at], *words[at + 1 :]], fields) for at in range(len(words))),
        *((host, words, [*fields[:at], (fields[at][0], f"{fields[at][1]}q")]) for at in range(len(fields))),
    ]
    other = written(*data.draw(st.sampled_from(others)))
    for way in data.draw(st.lists(st.sampled_from(sorted(EXACT)), max_size=3)):
        other = EXACT[way](other)
    url = parse(written(*parts))
    assert is_other_page(other, url), (str(url), other)
    form = archived(as_meant(other, str(url)))
    assert form is None or not is_same_page(form, url)


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_raises(one: str, other: str) -> None:
    for text in (one, f"http://mill.demo/{one}", f"http://{one}.demo/{other}"):
        is_other_page(text, parse(PAGE))
        as_meant(text, other)
        assert not is_other_page(text, parse(PAGE)) or archived(as_meant(text, PAGE))
        if form := archived(text):
            assert merged(form) == merged(form)
            assert is_same_page(form, form)
