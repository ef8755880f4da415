"""The proof: which evidence is enough to call something dead, and which is not quite."""

from hypothesis import given
from hypothesis import strategies as st
from support.records import WHOLE

from weboid.core.record.policy import DEFAULT, may_prove, proven
from weboid.core.record.streak import NO_STRIKES, Evidence, Streak

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
