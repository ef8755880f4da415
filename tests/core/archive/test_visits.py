"""What a visit makes of a copy, and when a whole service is at fault (A-3, U-8)."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.archive.replay import Replayed, ReplayResult
from weboid.core.archive.visits import (
    HANDFUL,
    MOST_WAIT_DAYS,
    QUARTER_DAYS,
    SPREAD_DAYS,
    STRIKE_DAYS,
    STRIKES,
    VisitOutcome,
    cited_observation,
    is_down,
    is_within,
    most_drops,
    visit_judgement,
    withdrawn_note,
    withdrawn_stamp,
)
from weboid.core.record.reasons import Outcome, Reason

results = st.sampled_from(ReplayResult)
ABSENT = [ReplayResult.ABSENT, ReplayResult.MOVED_FAR]


def test_what_plays_is_visited_again_within_a_quarter_and_forgets_its_strikes() -> None:
    for result in [ReplayResult.PLAYS, ReplayResult.MOVED]:
        dues = {visit_judgement(result, 100, strikes=2, asked=93, spread=number).due for number in range(500)}
        assert dues == set(range(100 + QUARTER_DAYS - SPREAD_DAYS + 1, 100 + QUARTER_DAYS + 1)), result
        judgement = visit_judgement(result, 100, strikes=2, asked=93)
        assert (judgement.outcome, judgement.strikes) == (VisitOutcome.KEPT, 0), result


def test_three_strikes_a_week_apart_drop_it() -> None:
    for result in ABSENT:
        day, strikes, outcomes = 100, 0, []
        for _ in range(STRIKES):
            judgement = visit_judgement(result, day, strikes=strikes, asked=day - STRIKE_DAYS)
            outcomes.append(judgement.outcome)
            assert judgement.due == day + STRIKE_DAYS, result
            day, strikes = judgement.due, judgement.strikes
        assert outcomes == [VisitOutcome.STRUCK, VisitOutcome.STRUCK, VisitOutcome.DROPPED], result


def test_what_is_withdrawn_is_dropped_at_once() -> None:
    assert visit_judgement(ReplayResult.WITHDRAWN, 100, strikes=0, asked=9).outcome is VisitOutcome.DROPPED


@given(st.lists(results), st.integers(0, 2))
def test_what_proves_nothing_changes_no_outcome(found: list[ReplayResult], strikes: int) -> None:
    def lived(story: list[ReplayResult]) -> list[tuple[VisitOutcome, int]]:
        now, outcomes = strikes, []
        for result in story:
            judgement = visit_judgement(result, 500, strikes=now, asked=400)
            now = judgement.strikes
            outcomes += [(judgement.outcome, now)] * (judgement.outcome is not VisitOutcome.WAITING)
        return outcomes

    assert lived(found) == lived([result for result in found if result is not ReplayResult.NOTHING])


def test_what_proves_nothing_is_repeated_soon_then_less_often() -> None:
    day, asked, pauses = 191, 100, []
    for _ in range(8):
        judgement = visit_judgement(ReplayResult.NOTHING, day, strikes=0, asked=asked)
        pauses.append(judgement.due - day)
        day = judgement.due
    assert pauses == [1, 1, 2, 4, 8, MOST_WAIT_DAYS, MOST_WAIT_DAYS, MOST_WAIT_DAYS]
    assert visit_judgement(ReplayResult.NOTHING, 107, strikes=1, asked=100).due == 108
    assert visit_judgement(ReplayResult.NOTHING, 100, strikes=0, asked=None).due == 101


def test_a_service_is_at_fault_where_more_than_a_fifth_or_nothing_plays() -> None:
    assert is_down(20, 0)
    assert is_down(5, 15)
    assert not is_down(4, 16)
    assert is_down(3, 3)
    assert not is_down(1, 0)
    assert not is_down(2, 1)
    assert is_down(2, 0)
    assert not is_down(0, 0)
    assert is_down(0, 0, unproven=3)
    assert not is_down(0, 0, unproven=2)
    assert not is_down(0, 1, unproven=50)


def test_one_in_a_hundred_may_be_dropped_and_of_few_a_handful() -> None:
    assert [most_drops(kept) for kept in (1, 100, 1_000, 5_000_000)] == [HANDFUL, HANDFUL, 10, 50_000]


def test_a_look_up_tells_which_snapshot_was_dropped() -> None:
    assert withdrawn_stamp(withdrawn_note(20170101000000)) == 20170101000000
    for other in (None, "", "status", "withdrawn", "withdrawn 2017", "other-page 20170101000000"):
        assert withdrawn_stamp(other) is None


def test_a_cited_copy_is_judged_by_what_the_archive_shows() -> None:
    for result, code, target, reason in [
        (ReplayResult.PLAYS, 200, None, Reason.OK),
        (ReplayResult.PLAYS, 404, None, Reason.OK),
        (ReplayResult.MOVED, 302, "https://web.archive.org/web/20170102000000/http://a.demo/", Reason.MOVED),
        (ReplayResult.MOVED_FAR, 302, "https://web.archive.org/web/20190102000000/http://a.demo/", Reason.MOVED),
        (ReplayResult.MOVED_FAR, 302, None, Reason.NOT_FOUND),
        (ReplayResult.WITHDRAWN, 200, None, Reason.GONE),
        (ReplayResult.WITHDRAWN, 451, None, Reason.GONE),
        (ReplayResult.ABSENT, 200, None, Reason.NOT_FOUND),
    ]:
        seen = cited_observation(Replayed(result), code, target)
        assert seen, result
        assert (seen.reason, seen.target, seen.http) == (reason, target, code), result


@given(results, st.none() | st.integers(100, 599))
def test_only_the_archive_s_own_no_is_a_failure_of_a_cited_copy(result: ReplayResult, code: int | None) -> None:
    seen = cited_observation(Replayed(result), code, "https://web.archive.org/web/2017/http://a.demo/")
    assert (seen is None) == (result is ReplayResult.NOTHING)
    is_failing = seen is not None and seen.outcome is Outcome.FAILING
    assert is_failing == (result in (ReplayResult.ABSENT, ReplayResult.WITHDRAWN))


def test_a_shortened_stamp_stands_for_its_period() -> None:
    taken = datetime(2009, 5, 6, 7, 8, 9, tzinfo=UTC)
    address = "https://web.archive.org/web/{}/http://a.demo/2009/"
    for digits in ("2009", "200905", "20090506", "20090506070", "200905if_"):
        assert is_within(taken, address.format(digits)), digits
    for digits in ("2008", "200904", "20090506070809", "20090506070809id_", "200", "*"):
        assert not is_within(taken, address.format(digits)), digits
    assert not is_within(None, address.format("2009"))
