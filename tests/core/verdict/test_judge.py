"""The judgement over simulated days: what is dead, what is not yet, and what never is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.observe.ftp_replies import fault_observation
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, HostRecord, Streak, UrlRecord
from weboid.core.record.status import Status
from weboid.core.verdict.judge import Judgement, judge, judge_host
from weboid.core.verdict.verdict import Verdict, finding_of

FINE = Observation(Status.FINE, Reason.OK)
LOST = Observation(Status.NOT_FOUND, Reason.NOT_FOUND)
WALL = Observation(Status.NO_ACCESS, Reason.FORBIDDEN)
BUSY = Observation(Status.TOO_MANY_REQUESTS, Reason.RATE_LIMIT)
SILENT = Observation(Status.NETWORK, Reason.TIMEOUT)
SILENT_BY_HEARSAY = Observation(Status.NETWORK, Reason.TIMEOUT, inferred=True)

observations = st.sampled_from([FINE, LOST, WALL, BUSY, SILENT, SILENT_BY_HEARSAY])
lives = st.lists(st.tuples(st.integers(1, 40), observations), max_size=30)


def lived(*checks: tuple[int, Observation], record: UrlRecord = UNTRIED) -> UrlRecord:
    for day, seen in checks:
        record = judge(record, seen, day).record
    return record


def verdict(record: UrlRecord, host: HostRecord = UNKNOWN_HOST) -> Verdict:
    return finding_of(record, host).verdict


def test_a_url_never_asked_is_unknown() -> None:
    assert verdict(UNTRIED) is Verdict.UNKNOWN


def test_three_failures_in_one_week_are_not_dead_yet() -> None:
    assert verdict(lived((100, LOST), (103, LOST), (106, LOST))) is Verdict.DOUBTFUL


def test_two_failures_a_month_apart_are_not_dead_yet() -> None:
    assert verdict(lived((100, LOST), (130, LOST))) is Verdict.DOUBTFUL


def test_three_failures_over_fourteen_days_are_dead_since_the_first() -> None:
    finding = finding_of(lived((90, FINE), (100, LOST), (107, SILENT), (114, LOST)))
    assert (finding.verdict, finding.reason, finding.since) == (Verdict.DEAD, Reason.NOT_FOUND, 100)


def test_thirteen_days_are_not_enough() -> None:
    assert verdict(lived((100, LOST), (107, LOST), (113, LOST))) is Verdict.DOUBTFUL


def test_three_checks_on_one_day_are_one_strike() -> None:
    assert lived((100, LOST), (100, LOST), (100, SILENT)).streak.strikes == 1


def test_one_success_resets_everything() -> None:
    record = lived((100, LOST), (107, LOST), (110, FINE), (114, LOST), (117, LOST))
    assert (verdict(record), record.streak.since) == (Verdict.DOUBTFUL, 114)


def test_a_revival_is_told_at_the_next_check() -> None:
    dead = lived((100, LOST), (107, LOST), (114, LOST))
    assert verdict(dead) is Verdict.DEAD
    assert verdict(lived((121, FINE), record=dead)) is Verdict.WORKING


def test_a_wall_is_never_dead_however_long_it_stands() -> None:
    assert verdict(lived(*((day, WALL) for day in range(100, 500, 7)))) is Verdict.DOUBTFUL


def test_a_wall_ends_the_streak_so_that_two_failures_around_years_of_it_prove_nothing() -> None:
    walled = lived((100, LOST), (107, LOST), *((day, WALL) for day in range(114, 844, 7)))
    assert (walled.streak.strikes, verdict(walled)) == (0, Verdict.DOUBTFUL)
    again = lived((844, LOST), record=walled)
    assert (again.streak.strikes, again.streak.since, verdict(again)) == (1, 844, Verdict.DOUBTFUL)


def test_a_wall_before_a_dead_page_makes_it_doubtful_until_it_is_proven_anew() -> None:
    dead = lived((100, LOST), (107, LOST), (114, LOST))
    walled = lived((121, WALL), record=dead)
    assert verdict(walled) is Verdict.DOUBTFUL
    assert verdict(lived((128, LOST), (135, LOST), record=walled)) is Verdict.DOUBTFUL
    assert verdict(lived((128, LOST), (135, LOST), (142, LOST), record=walled)) is Verdict.DEAD


def test_too_many_requests_neither_add_to_a_streak_nor_end_it() -> None:
    record = lived((100, LOST), (107, BUSY), (110, LOST), (112, BUSY))
    assert (record.streak.strikes, record.streak.since, verdict(record)) == (2, 100, Verdict.DOUBTFUL)
    assert verdict(lived((114, LOST), record=record)) is Verdict.DEAD


def test_hearsay_moves_the_history_but_never_strikes() -> None:
    record = lived((100, SILENT), *((day, SILENT_BY_HEARSAY) for day in range(103, 200, 3)))
    assert (record.streak.strikes, record.checked, verdict(record)) == (1, 199, Verdict.DOUBTFUL)


def test_hearsay_does_not_stretch_a_row_of_strikes_to_fourteen_days() -> None:
    record = lived((100, SILENT), (103, SILENT), (106, SILENT), (120, SILENT_BY_HEARSAY))
    assert verdict(record) is Verdict.DOUBTFUL


def test_a_dead_host_makes_its_silent_urls_dead_as_one_fact() -> None:
    host = UNKNOWN_HOST
    for day in (100, 107, 114):
        host = judge_host(host, SILENT, day)
    finding = finding_of(lived((107, SILENT_BY_HEARSAY)), host)
    assert (finding.verdict, finding.reason, finding.since) == (Verdict.DEAD, Reason.HOST_DOWN, 100)
    assert verdict(lived((107, LOST)), host) is Verdict.DOUBTFUL
    assert verdict(lived((107, FINE)), host) is Verdict.WORKING


def test_any_http_answer_ends_the_row_of_its_host() -> None:
    host = judge_host(judge_host(UNKNOWN_HOST, SILENT, 100), LOST, 103)
    assert host == UNKNOWN_HOST


def test_a_failure_of_another_host_behind_a_redirect_does_not_strike_this_one() -> None:
    on_other_host = Observation(Status.NETWORK, Reason.TIMEOUT, on_other_host=True)
    assert judge_host(judge_host(UNKNOWN_HOST, SILENT, 100), on_other_host, 103) == UNKNOWN_HOST
    assert judge(UNTRIED, on_other_host, 103).record.streak.strikes == 1


def test_a_silent_ftp_service_speaks_neither_for_its_host_nor_against_it() -> None:
    shut = fault_observation(Reason.CONNECTION_REFUSED, "files.test")
    failing = judge_host(UNKNOWN_HOST, SILENT, 100)
    assert judge_host(failing, shut, 103) == failing
    assert judge_host(UNKNOWN_HOST, shut, 103) == UNKNOWN_HOST
    assert judge(UNTRIED, shut, 103).record.streak.strikes == 1


def test_hearsay_says_nothing_about_the_host() -> None:
    assert judge_host(UNKNOWN_HOST, SILENT_BY_HEARSAY, 100) == UNKNOWN_HOST


def test_intervals_follow_the_state() -> None:
    def due_after(record: UrlRecord, seen: Observation, day: int) -> Judgement:
        return judge(record, seen, day)

    assert due_after(UNTRIED, FINE, 100).due == 107
    assert due_after(UNTRIED, WALL, 100).due == 107
    assert due_after(UNTRIED, LOST, 100).due == 103
    record = lived((100, LOST), (107, LOST))
    steps = []
    day = 114
    for _ in range(4):
        record, due = judge(record, LOST, day)
        steps.append(due - day)
        day = due
    assert steps == [7, 14, 28, 28]


@pytest.mark.parametrize("period", [2, 3, 4, 5])
def test_what_is_up_one_day_in_five_or_more_is_never_called_dead(period: int) -> None:
    for phase in range(period):
        record, day = UNTRIED, 100
        while day < 300:
            record, day = judge(record, FINE if day % period == phase else LOST, day)
            assert verdict(record) is not Verdict.DEAD, (phase, day)


def test_urls_of_a_dead_host_are_written_less_and_less_often_though_they_never_struck() -> None:
    dead = HostRecord(Streak(3, 100, 120), Reason.TIMEOUT)
    record, steps, day = UNTRIED, [], 123
    for _ in range(5):
        record, due = judge(record, SILENT_BY_HEARSAY, day, DEFAULT, dead)
        steps.append(due - day)
        day = due
    assert steps == [7, 14, 28, 28, 28]
    assert judge(UNTRIED, SILENT_BY_HEARSAY, 123).due == 126


def test_a_clock_set_back_counts_as_the_newest_day() -> None:
    record = lived((100, LOST), (90, LOST))
    assert (record.checked, record.streak.strikes) == (100, 1)


def test_a_policy_laxer_than_nine_days_is_refused() -> None:
    for strikes, span in ((2, 14), (3, 8)):
        try:
            Policy(dead_strikes=strikes, dead_span=span)
        except ValueError:
            continue
        raise AssertionError((strikes, span))


@given(lives)
def test_dead_always_has_three_own_failing_days_over_a_fortnight_without_an_arrival_or_a_wall(
    life: list[tuple[int, Observation]],
) -> None:
    record, day, failing_days = UNTRIED, 100, set[int]()
    for gap, seen in life:
        day += gap
        record, due = judge(record, seen, day)
        assert day < due <= day + 28
        if seen in (FINE, WALL):
            failing_days.clear()
        elif seen.outcome is Outcome.FAILING and not seen.inferred:
            failing_days.add(day)
        proof = len(failing_days) >= 3 and max(failing_days) - min(failing_days) >= 14
        assert (verdict(record) is Verdict.DEAD) == (proof and seen.outcome is Outcome.FAILING)
        assert 1 <= len(record.history) <= 5
        assert record.streak.strikes == len(failing_days)


def test_the_default_policy_is_the_rule_of_the_german_wikipedia() -> None:
    assert (DEFAULT.dead_strikes, DEFAULT.dead_span) == (3, 14)
