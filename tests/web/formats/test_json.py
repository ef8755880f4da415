"""JSON as it is sent: ASCII, safe inside scripts, and the same bytes from both writers."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weboid.core.url.classify import UrlClass
from weboid.mechanism.slices import at_once
from weboid.web.formats.json import bytes_of, bytes_steps, exact_bytes, quick_bytes

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=10,
)
_DOCUMENTS = st.dictionaries(st.text(st.characters()), _VALUES, max_size=4)
_QUICK_BUT = "\ud800"
"""Next to it the same document has to be written the other way."""


def test_both_ways_write_the_same() -> None:
    for value, text in [
        ("\x7f", r'"\u007f"'),
        ('\x00\x1f\n\t\b"\\/', r'"\u0000\u001f\n\t\b\"\\/"'),
        ("\x80\x85\x9f\xa0é", r'"\u0080\u0085\u009f\u00a0\u00e9"'),
        ("\u2028\u2029\ufeff\uffff", r'"\u2028\u2029\ufeff\uffff"'),
        ("\U0001f600", r'"\ud83d\ude00"'),
        ("</script>&", r'"\u003c/script\u003e\u0026"'),
        (0.00001, "0.00001"),
        (1e22, "1e+22"),
        (-0.0, "-0.0"),
        (math.nan, "null"),
        (-math.inf, "null"),
        ((1 << 64) - 1, "18446744073709551615"),
        (-(1 << 63), "-9223372036854775808"),
        (True, "true"),
        (UrlClass.OWN_FARM, '"own-farm"'),
        (("a", [], {}), '["a",[],{}]'),
    ]:
        assert bytes_of({"a": value}).decode() == f'{{"a":{text}}}', value
        assert bytes_of({"a": value, "b": _QUICK_BUT}).decode() == rf'{{"a":{text},"b":"\ud800"}}', value


def test_each_character_is_written_the_same_both_ways() -> None:
    for code in [*range(0x100), *range(0x2000, 0x2070), 0xD7FF, 0xE000, 0xFFFD, 0xFFFE, 0x10FFFF]:
        document = {chr(code): f"a{chr(code)}b{chr(code)}{chr(code)}"}
        assert quick_bytes(document) == exact_bytes(document), code


@given(_DOCUMENTS)
@example({"a": "\x7f", "b": [1e-5, 1e16, math.nan]})
def test_whatever_the_quick_way_can_write_the_exact_way_writes_the_same(document: dict[str, object]) -> None:
    assert (quick := quick_bytes(document)) is None or quick == exact_bytes(document)


@given(_DOCUMENTS)
@example({"a": "</script><!--&amp;", "b": "\u2028é\x7f\x00\n"})
@example({"a": "\ud800"})
@example({"a": 1 << 70})
def test_json_says_what_it_was_given_in_safe_ascii(document: dict[str, object]) -> None:
    text = bytes_of(document).decode()
    assert text.isascii()
    assert text.isprintable()
    assert not set("<>&") & set(text)
    assert json.loads(text) == _without_infinity(document)


_PAGE = st.fixed_dictionaries(
    {"id": st.integers(0, 9), "links": st.integers(0, 70), "counts": st.just({}), "x": _VALUES}
)


@given(st.lists(_PAGE, max_size=4), _VALUES)
@example([], {})
@example([{"id": 1, "links": 200, "counts": {}, "x": None}], None)
@example([{"id": 1, "links": 1, "counts": {}, "x": None}] * 500, {"policy": {}})
def test_in_steps_the_same_is_written(pages: list[dict[str, object]], more: object) -> None:
    links = [
        {**page, "links": [{"normal": f"<{number}"} for number in range(int(str(page["links"])))]} for page in pages
    ]
    document = {"version": 2, "none": {}, "pages": links, "more": more, "missing": ["a"] * len(pages)}
    text = bytes_of(document).decode()
    assert at_once(bytes_steps(document)) == text.encode()


def test_many_short_pages_are_written_in_steps_as_one_long_page_is() -> None:
    for pages in ([{"id": 1, "links": [{}] * 1_000}], [{"id": 1, "links": [{}] * 2}] * 500):
        assert sum(1 for _ in bytes_steps({"pages": pages})) >= 50


def test_what_json_has_no_form_for_is_an_error() -> None:
    for document in [{1: 2}, {"a": {None: 1}}, {"a": object()}, {"a": b"", "b": _QUICK_BUT}]:
        with pytest.raises(TypeError):
            bytes_of(document)


def _without_infinity(value: object) -> object:
    """With null for what JSON has no number for."""
    match value:
        case dict():
            return {key: _without_infinity(inner) for key, inner in value.items()}
        case list():
            return [_without_infinity(inner) for inner in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
