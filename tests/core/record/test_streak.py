"""Streaks and their evidence: how strikes add up, what does not, and that nothing is lost in the column."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from support.records import WHOLE

from weboid.core.record.policy import DEFAULT, may_prove, proven
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
strikes = st.lists(st.tuples(st.integers(-3, 40), st.booleans(), st.booleans()), max_size=60)


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


BARELY_MISSING = Evidence(missing=1 + DEFAULT.missing_span)
BARELY_SILENT = Evidence(DEFAULT.dead_span)
BARELY_BROKEN = Evidence(DEFAULT.server_span, longer=True)


def with_evidence(evidence: Evidence, strikes: int = 3) -> Streak:
    return Streak(strikes, 100, 200, evidence)


def test_what_only_just_proves_proves_and_without_any_one_part_of_it_there_is_no_proof() -> None:
    assert proven(with_evidence(BARELY_MISSING))
    assert proven(with_evidence(BARELY_SILENT))
    assert proven(with_evidence(BARELY_BROKEN))
    assert not proven(with_evidence(WHOLE, strikes=2))
    assert not proven(NO_STRIKES)
    for lacking in (Evidence(missing=14), Evidence(34), Evidence(41, longer=True), Evidence(69, relapse=True)):
        assert not proven(with_evidence(lacking)), lacking


def test_a_host_that_is_silent_for_a_day_too_little_is_not_proven_by_a_page_that_was_missing_once() -> None:
    assert not proven(with_evidence(Evidence(DEFAULT.dead_span - 1, missing=1)))


@given(
    st.integers(0, 5),
    st.builds(Evidence, st.integers(0, 50), st.integers(0, 20), st.booleans(), st.booleans()),
    st.integers(1, 30),
)
def test_before_the_last_failure_it_is_known_that_it_may_be_it(strikes: int, evidence: Evidence, later: int) -> None:
    streak = Streak(strikes, 100, 120, evidence) if strikes else NO_STRIKES
    after = [streak.struck(120 + later, missing=missing, gap=DEFAULT.gap) for missing in (False, True)]
    turns = not proven(streak) and any(map(proven, after))
    assert may_prove(streak, 120 + later) == turns
