from hypothesis import given
from hypothesis import strategies as st

from weboid.store.backup.aftermath import LONGEST_DAYS, DueSpan, due_spans

DAY = 1_000


def test_what_fits_into_a_day_stays_as_it_is() -> None:
    assert due_spans({990: 60, 1_000: 40}, DAY, a_day=100) == []


def test_what_has_been_due_for_longest_comes_first() -> None:
    spans = due_spans({990: 100, 991: 250, 995: 50}, DAY, a_day=100)
    assert spans == [DueSpan(991, 1_001, 3), DueSpan(995, 1_003, 1)]


def test_a_pace_that_would_take_months_is_not_waited_for() -> None:
    (span,) = due_spans({900: 28_000}, DAY, a_day=1)
    assert span == DueSpan(900, DAY, LONGEST_DAYS)


@given(st.dictionaries(st.integers(900, DAY), st.integers(1, 10_000), max_size=20), st.integers(1, 20_000))
def test_no_day_has_much_more_than_a_usual_one_and_none_is_earlier(overdue: dict[int, int], a_day: int) -> None:
    spans = due_spans(overdue, DAY, a_day=a_day)
    assert all(span.first >= DAY >= span.due and span.days >= 1 for span in spans)
    assert all(span.first + span.days <= DAY + LONGEST_DAYS for span in spans)
    later = sum(overdue[span.due] * (span.first + span.days - DAY - 1) for span in spans)
    assert sum(overdue.values()) <= a_day or later > 0
