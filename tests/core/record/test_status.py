"""The status byte in both directions (U-4), and the five-entry history with its packed form (U-3)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.record.history import LIMIT, Entry, History, extended, packed, unpacked
from weboid.core.record.reasons import BY_NUMBER, BY_WORD, Outcome, Reason, status_outcome
from weboid.core.record.status import REDIRECTS, Status, http_code, status_of

# The table of U-4, written down a second time on purpose: a slip in the program must not go unseen.
TABLE = {
    1: (200, 304), 2: (*range(201, 300), 300),
    8: (301,), 9: (302,), 10: (303,), 11: (305,), 12: (306,), 13: (307, 308),
    16: (400, 414, 422, 431, 500), 17: (401, 402, 403, 407, 451), 18: (404,), 19: (406,),
    20: (409, 411, 412, 417, 418, 420, 424, 425, 428, 430, 444, 449, 499, 506, 508),
    21: (410,), 22: (415,), 23: (416,), 24: (423,), 25: (510,), 26: (0, 99, 100, 309, 511, 599, 600, 999),
    32: (405,), 33: (408,), 34: (413,), 35: (426,), 36: (429,), 38: (501,), 39: (502, 504), 40: (503,), 41: (505,),
    42: (507,), 43: (509,),
}  # fmt: skip


def test_every_code_has_the_byte_of_the_table_which_leads_back_to_it() -> None:
    listed = {code: byte for byte, codes in TABLE.items() for code in codes}
    for code in range(1_000):
        assert status_of(code) == listed.get(code, 20 if 400 <= code < 500 else 26)
    for status in Status:
        leading = http_code(status)
        if leading is None:
            assert status.codes == ()
        elif status is Status.HEADERS_TOO_LARGE:
            assert leading == 431, status
        else:
            assert status_of(leading) is status
            assert status.codes[0] == leading


def test_words_and_numbers_of_reasons_are_unique_and_lead_back() -> None:
    assert len(BY_NUMBER) == len(BY_WORD) == len(Reason)
    assert BY_WORD["not-found"] is Reason.NOT_FOUND
    assert Reason.NOT_FOUND.word == "not-found"


def test_redirects_are_those_that_are_followed() -> None:
    assert {int(status) for status in REDIRECTS} == {8, 9, 10, 13}


def test_a_history_shows_each_status_by_its_outcome() -> None:
    for status, outcome in [
        (Status.FINE, Outcome.WORKING), (Status.MOVED_PERMANENTLY, Outcome.WORKING),
        (Status.CORRECTED, Outcome.WORKING), (Status.SCHEME_SWITCHED, Outcome.WORKING),
        (Status.NO_ACCESS, Outcome.DOUBTFUL), (Status.METHOD, Outcome.DOUBTFUL), (Status.NOT_FOUND, Outcome.FAILING),
        (Status.DNS_GONE, Outcome.FAILING), (Status.USE_PROXY, Outcome.FAILING),
        (Status.SWITCH_PROXY, Outcome.FAILING),
    ]:  # fmt: skip
        assert status_outcome(status) is outcome
    assert Outcome.REFUSED not in map(status_outcome, Status)


days = st.integers(0, 65_535)
entries = st.builds(Entry, st.sampled_from(Status), days, days)


def test_the_same_status_only_moves_the_last_day_and_a_new_one_starts_an_entry_of_five_at_most() -> None:
    assert extended(extended((), Status.FINE, 10), Status.FINE, 17) == (Entry(Status.FINE, 10, 17),)
    history: History = ()
    for day in range(7):
        history = extended(history, Status.FINE if day % 2 else Status.NOT_FOUND, day)
    assert [entry.first for entry in history] == [6, 5, 4, 3, 2]


@given(st.lists(entries, max_size=LIMIT))
def test_unpacking_undoes_packing(history: list[Entry]) -> None:
    data = packed(history)
    assert len(data) == 5 * len(history)
    assert unpacked(data) == tuple(history)


@pytest.mark.parametrize("data", [b"\x01", b"\x01" * 30, b"\x05\x00\x01\x00\x02"])
def test_bytes_that_are_no_history_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        unpacked(data)


@given(st.lists(st.tuples(st.sampled_from([Status.FINE, Status.NOT_FOUND]), st.integers(-3, 9)), max_size=30))
def test_entries_never_overlap_and_are_newest_first(steps: list[tuple[Status, int]]) -> None:
    history: History = ()
    day = 100
    for status, gap in steps:
        day += gap
        history = extended(history, status, day)
    assert all(entry.first <= entry.last for entry in history)
    assert all(newer.first >= older.last for newer, older in itertools.pairwise(history))
    assert all(newer.status is not older.status for newer, older in itertools.pairwise(history))
