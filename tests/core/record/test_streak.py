"""Streaks and their evidence: how strikes add up, what does not, and that nothing is lost in the column."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.record.streak import (
    HOURS_APART,
    MOST_MISSING,
    NO_EVIDENCE,
    NO_STRIKES,
    WHOLE,
    WIDEST,
    WIDEST_MISSING,
    Earlier,
    Evidence,
    Streak,
    packed_evidence,
    unpacked_evidence,
)

GAP = 5

evidences = st.builds(
    Evidence, width=st.integers(0, WIDEST), missing=st.integers(0, MOST_MISSING),
    missing_width=st.integers(0, WIDEST_MISSING), hours=st.booleans(), weekdays=st.booleans(),
    first_hour=st.integers(0, 23), earlier=st.sampled_from(Earlier), server=st.booleans(),
)  # fmt: skip
strikes = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 23), st.booleans()), max_size=60)


def struck(*hits: tuple[int, int, bool]) -> Streak:
    """The streak after strikes, each with its day, hour and whether the page is missing."""
    streak = NO_STRIKES
    for day, hour, missing in hits:
        streak = streak.struck(day, hour, missing=missing, gap=GAP)
    return streak


@given(evidences)
def test_evidence_comes_out_of_its_column_as_it_was_put_in(evidence: Evidence) -> None:
    packed = packed_evidence(evidence)
    assert 0 <= packed < 1 << 27
    assert unpacked_evidence(packed) == evidence


@given(st.integers(0, (3 << 24) - 1))
def test_a_column_comes_out_of_its_evidence_as_it_was_put_in(number: int) -> None:
    assert packed_evidence(unpacked_evidence(number)) == number


def test_the_least_and_the_most_evidence_are_the_numbers_that_the_migration_writes() -> None:
    assert packed_evidence(NO_EVIDENCE) == 0
    assert packed_evidence(WHOLE) == 16_777_091


@given(strikes)
def test_however_many_strikes_there_are_their_evidence_fits_its_column(hits: list[tuple[int, int, bool]]) -> None:
    streak, day = NO_STRIKES, 0
    for days, hour, missing in hits:
        day += days
        streak = streak.struck(day, hour, missing=missing, gap=GAP)
        assert unpacked_evidence(packed_evidence(streak.evidence)) == streak.evidence


@given(strikes)
def test_evidence_is_never_more_than_its_strikes_are(hits: list[tuple[int, int, bool]]) -> None:
    days: list[int] = []
    missing_days: list[int] = []
    hours: list[int] = []
    streak, day = NO_STRIKES, 0
    for later, hour, missing in hits:
        day += later
        if not days or day > days[-1]:
            days.append(day)
            hours.append(hour)
            missing_days += [day] if missing else []
        streak = streak.struck(day, hour, missing=missing, gap=GAP)
    if not days:
        assert streak == NO_STRIKES
        return
    known = streak.evidence
    assert (streak.strikes, streak.since, streak.until) == (len(days), days[0], days[-1])
    assert known.width == min(_width(days), WIDEST)
    assert known.missing == min(len(missing_days), MOST_MISSING)
    assert known.missing_width <= _width(missing_days)
    if missing_days == days:
        assert known.missing_width == min(_width(days), WIDEST_MISSING)
    assert known.weekdays == (len({day % 7 for day in days}) > 1)
    assert known.hours == any(_apart(hour, hours[0]) >= HOURS_APART for hour in hours)


def _width(days: list[int]) -> int:
    return sum(min(after - before, GAP) for before, after in pairwise(days))


def _apart(one: int, other: int) -> int:
    """Hours between two hours of the day, the shorter way round."""
    return min((one - other) % 24, (other - one) % 24)


def test_a_second_strike_on_a_day_adds_nothing_and_twenty_days_without_a_check_count_as_five() -> None:
    once = struck((100, 3, True))
    assert once.struck(100, 15, missing=True, gap=GAP) == once
    assert once.struck(99, 15, missing=True, gap=GAP) == once
    assert struck((100, 0, True), (120, 0, True)).evidence.width == GAP
    assert struck((100, 0, True), (120, 0, True)).evidence.missing_width == GAP


def test_hours_are_apart_on_the_clock_and_weeks_of_one_weekday_are_one_weekday() -> None:
    assert not struck((100, 23, True), (101, 2, True)).evidence.hours
    assert struck((100, 23, True), (101, 3, True)).evidence.hours
    assert not struck((100, 0, True), (101, 3, True), (102, 21, True)).evidence.hours
    weekly = [(100 + 7 * week, week % 24, True) for week in range(20)]
    assert not struck(*weekly).evidence.weekdays
    assert struck(*weekly, (241, 0, True)).evidence.weekdays
