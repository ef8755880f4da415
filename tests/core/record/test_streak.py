"""Streaks and their evidence: how strikes add up, what does not, and that nothing is lost in the column."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.record.streak import (
    NO_EVIDENCE,
    NO_STRIKES,
    WIDEST,
    WIDEST_MISSING,
    Evidence,
    Streak,
    packed_evidence,
    unpacked_evidence,
)

GAP = 5

evidences = st.builds(
    Evidence, st.integers(0, WIDEST), st.integers(0, WIDEST_MISSING + 1), st.booleans(), st.booleans(), st.booleans()
)
strikes = st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), max_size=60)


def struck(*hits: tuple[int, bool]) -> Streak:
    """The streak after strikes, each with its day and whether the page is missing."""
    streak = NO_STRIKES
    for day, missing in hits:
        streak = streak.struck(day, missing=missing, gap=GAP)
    return streak


@given(evidences)
def test_evidence_comes_out_of_its_column_as_it_was_put_in(evidence: Evidence) -> None:
    packed = packed_evidence(evidence)
    assert 0 <= packed < 1 << 17
    assert unpacked_evidence(packed) == evidence
    assert packed_evidence(NO_EVIDENCE) == 0


@given(strikes)
def test_evidence_is_never_more_than_its_strikes_are_and_fits_its_column(hits: list[tuple[int, bool, bool]]) -> None:
    days: list[int] = []
    missing_days: list[int] = []
    any_longer = False
    streak, day = NO_STRIKES, 0
    for later, missing, longer in hits:
        day += later
        if not days or day > days[-1]:
            days.append(day)
            missing_days += [day] if missing else []
            any_longer |= longer
        streak = streak.struck(day, missing=missing, longer=longer, gap=GAP)
        assert unpacked_evidence(packed_evidence(streak.evidence)) == streak.evidence
    if not days:
        assert streak == NO_STRIKES
        return
    known = streak.evidence
    assert (streak.strikes, streak.since, streak.until) == (len(days), days[0], days[-1])
    assert known.width == min(_width(days), WIDEST)
    assert (known.missing > 0) == bool(missing_days)
    assert known.missing_width <= _width(missing_days)
    if missing_days == days:
        assert known.missing_width == min(_width(days), WIDEST_MISSING)
    if known.missing_width < WIDEST_MISSING:
        assert known.is_all_missing == (missing_days == days)
    assert known.longer == any_longer


def _width(days: list[int]) -> int:
    return sum(min(after - before, GAP) for before, after in pairwise(days))


def test_a_second_strike_on_a_day_adds_nothing_and_twenty_days_without_a_check_count_as_five() -> None:
    once = struck((100, True))
    assert once.struck(100, missing=True, gap=GAP) == once
    assert once.struck(99, missing=True, gap=GAP) == once
    assert struck((100, True), (120, True)).evidence.width == GAP
    assert struck((100, True), (120, True)).evidence.missing_width == GAP
