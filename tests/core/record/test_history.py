"""The five-entry history and its packed form (U-3)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.record.history import LIMIT, Entry, History, extended, packed, unpacked
from weboid.core.record.status import Status

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
