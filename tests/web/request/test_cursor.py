import pytest
from hypothesis import given, strategies

from weboid.web.request.cursor import INT64, PAGES, Cursor, CursorParts
from weboid.web.request.problem import Problem

_HOSTS = "[a-z.]{1,20}"
_SPOT = Cursor(PAGES, range(4_096), INT64)
_BELOW = Cursor(PAGES, INT64, text=_HOSTS)


@given(
    strategies.integers(0, 2**31 - 1),
    strategies.integers(-(2**63), 2**63 - 1),
    strategies.from_regex(_HOSTS, fullmatch=True),
)
def test_what_was_given_comes_back(page: int, key: int, host: str) -> None:
    assert _BELOW.parts_of(_BELOW.text_of(page, key, host)) == CursorParts((page, key), host)
    assert _SPOT.parts_of(_SPOT.text_of(page, page % 4_096, key)) == CursorParts((page, page % 4_096, key))


def test_what_no_answer_gives_is_refused() -> None:
    for text in [
        *("", "1", "1.2", "1.2.3.4", "1.2.", "-1.2.3", "1.-2.3", "1.4096.3", "2147483648.2.3"),
        *("1.2.9223372036854775808", "1.2.-9223372036854775809", "1.2.+3", " 1.2.3", "1.2.3\n", "1.2.\u0663"),
        *("1.2." + "0" * 400 + "3", "1,2,3"),
    ]:
        assert _SPOT.parts_of(text) is None, text
        with pytest.raises(Problem) as raised:
            _SPOT.parts_in({"after": text})
        assert (raised.value.http, raised.value.key) == (404, "weboid-error-after"), text


def test_a_text_may_hold_dots_and_has_to_fit() -> None:
    assert _BELOW.parts_in({}) is None
    assert _BELOW.parts_in({"spamafter": "1.-2.a.b."}, "spamafter") == CursorParts((1, -2), "a.b.")
    with pytest.raises(Problem):
        _BELOW.parts_in({"after": "1.2.a.b."}, fits=lambda text: text.startswith("b."))


def test_a_cursor_may_be_a_text_alone_or_one_number() -> None:
    assert Cursor(text="[!-~]{1,9}").parts_of("page|4A|7") == CursorParts((), "page|4A|7")
    assert Cursor(range(1, 10)).parts_of("0") is None
    assert Cursor(range(1, 10)).parts_of("9") == CursorParts((9,))
