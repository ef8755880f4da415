"""The judgement over simulated days: what is dead, what is not yet, and what never is."""

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.observations import BROKEN, FINE, HELD, LIMITED, LOST, SILENT, SILENT_BY_HEARSAY, UNAVAILABLE, WALL
from support.records import WHOLE

from weboid.core.observe.ftp_replies import fault_observation
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT, LOOSEST, Policy, proven
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, HostRecord, UrlRecord
from weboid.core.record.status import Status
from weboid.core.record.streak import BELIEVED_DAYS, Evidence, Streak
from weboid.core.verdict.judge import judge, judge_host
from weboid.core.verdict.partial_loss import HOLD_DAYS
from weboid.core.verdict.verdict import Finding, Verdict, finding_of

FORTNIGHT = ((100, LOST), (104, LOST), (109, LOST), (114, LOST))
"""Fourteen days without too long a gap."""


def lived(*checks: tuple[int, Observation], record: UrlRecord = UNTRIED) -> UrlRecord:
    for day, seen in checks:
        record = judge(record, seen, day).record
    return record


def verdict(record: UrlRecord, host: HostRecord = UNKNOWN_HOST) -> Verdict:
    return finding_of(record, host).verdict


METHOD = Observation(Status.METHOD, Reason.METHOD)
LIVES: dict[str, tuple[list[tuple[int, Observation]], Verdict]] = {
    "never asked": ([], Verdict.UNKNOWN),
    "three failures in one week": ([(100, LOST), (103, LOST), (106, LOST)], Verdict.DOUBTFUL),
    "two failures a month apart": ([(100, LOST), (130, LOST)], Verdict.DOUBTFUL),
    "thirteen days": ([(100, LOST), (105, LOST), (110, LOST), (113, LOST)], Verdict.DOUBTFUL),
    "a revival after a fortnight": ([*FORTNIGHT, (121, FINE)], Verdict.WORKING),
    "a wall, however long it stands": ([(day, WALL) for day in range(100, 500, 7)], Verdict.DOUBTFUL),
    "a method that is refused": ([(day, METHOD) for day in range(100, 500, 3)], Verdict.DOUBTFUL),
}


def test_what_is_not_a_fortnight_of_failures_is_not_dead() -> None:
    for name, (checks, expected) in LIVES.items():
        assert verdict(lived(*checks)) is expected, name
    assert verdict(lived(*FORTNIGHT)) is Verdict.DEAD


def test_a_page_missing_for_fourteen_days_is_dead_since_the_first_and_all_else_after_its_own_span() -> None:
    finding = finding_of(lived((90, FINE), *FORTNIGHT))
    assert (finding.verdict, finding.reason, finding.since) == (Verdict.DEAD, Reason.NOT_FOUND, 100)
    for seen, last in ((SILENT, 100 + DEFAULT.dead_span), (BROKEN, 100 + DEFAULT.server_span)):
        row = [(day, seen) for day in range(100, last, 3)]
        assert verdict(lived(*row, (last - 1, seen))) is Verdict.DOUBTFUL
        finding = finding_of(lived(*row, (last, seen)))
        assert (finding.verdict, finding.reason, finding.since) == (Verdict.DEAD, seen.reason, 100)


def test_a_row_takes_the_longest_span_among_its_reasons_and_a_bare_503_is_none_of_them() -> None:
    for first, later in ((BROKEN, SILENT), (SILENT, BROKEN)):
        row = lived((100, first), *((day, later) for day in range(103, 134, 3)))
        for newest in (SILENT, BROKEN):
            day = 100 + DEFAULT.dead_span
            mixed = lived((day, newest), record=row)
            assert verdict(mixed) is Verdict.DOUBTFUL, "one timeout does not kill a row of 5xx"
            assert verdict(lived((day + 3, newest), (day + 7, newest), record=mixed)) is Verdict.DEAD
    bare = [(100, SILENT), (103, UNAVAILABLE), *((day, SILENT) for day in range(105, 136, 5))]
    assert verdict(lived(*bare)) is Verdict.DEAD


PARKED = Observation(Status.FINE, Reason.PARKED)
MOVED = Observation(Status.MOVED_PERMANENTLY, Reason.MOVED)
STATES: dict[str, tuple[list[tuple[int, Observation]], int]] = {
    "parked on a day though its server answers 200 all along": (
        [(0, FINE), (896, FINE), (903, PARKED), (910, PARKED)],
        903,
    ),
    "parked, by a redirect as well": ([(0, FINE), (903, PARKED), (910, replace(PARKED, status=Status.FOUND))], 903),
    "for sale, after it was parked": ([(903, PARKED), (910, replace(PARKED, reason=Reason.FOR_SALE))], 910),
    "restored": ([(0, FINE), (903, PARKED), (910, FINE), (917, FINE)], 910),
    "working, moved in the meantime": ([(0, LOST), (7, FINE), (14, MOVED), (21, FINE)], 7),
    "refused, as a doubt before": ([(0, PARKED), (7, WALL), (14, WALL)], 7),
    "unavailable, though it adds no strike": ([(0, FINE), (7, UNAVAILABLE), (10, UNAVAILABLE)], 7),
}


def test_a_state_has_a_day_of_its_own() -> None:
    for name, (checks, since) in STATES.items():
        assert finding_of(lived(*checks)).since == since, name


def held_row(*, held: int, days: int) -> UrlRecord:
    """The record of a URL that fails from day 100 for so many days, of which the first failures are held."""
    return lived((90, FINE), *((day, HELD if day < 100 + held else SILENT) for day in range(100, 101 + days)))


def test_held_failures_are_kept_and_prove_nothing_until_time_says_that_they_were_not_ours() -> None:
    span = DEFAULT.dead_span
    assert verdict(held_row(held=90, days=89)) is Verdict.DOUBTFUL
    assert not any(proven(held_row(held=90, days=89).streak, policy) for policy in (DEFAULT, LOOSEST))
    for held in (BELIEVED_DAYS, HOLD_DAYS):
        assert verdict(held_row(held=held, days=span - 1)) is Verdict.DOUBTFUL
        assert finding_of(held_row(held=held, days=span)) == Finding(Verdict.DEAD, Reason.TIMEOUT, 100)
    # What is over sooner was ours: what still fails then begins anew, and an answer is no relapse.
    short = BELIEVED_DAYS - 1
    assert held_row(held=short, days=short).streak.since == 100 + short
    assert verdict(held_row(held=short, days=short + span - 1)) is Verdict.DOUBTFUL
    assert finding_of(held_row(held=short, days=short + span)).since == 100 + short
    for days, relapses in ((BELIEVED_DAYS - 1, False), (BELIEVED_DAYS, True)):
        assert lived((130, FINE), record=held_row(held=30, days=days)).streak.evidence.relapse is relapses


def test_a_hold_takes_no_proof_away_from_url_or_host_and_a_host_keeps_its_strikes_in_one_too() -> None:
    dead = held_row(held=0, days=DEFAULT.dead_span)
    assert lived((200, HELD), record=dead).streak == dead.streak
    missing = lived(*FORTNIGHT[:3])
    assert lived((112, HELD), (114, LOST), record=missing).streak == lived(*FORTNIGHT).streak
    host = HostRecord(Streak(2, 90, 97), Reason.TIMEOUT)
    kept = judge_host(host, HELD, 100)
    assert (kept.streak.strikes, kept.streak.evidence.held) == (3, True)
    assert judge_host(kept, SILENT, 103) == HostRecord(Streak(1, 103, 103), Reason.TIMEOUT)
    proof = HostRecord(Streak(15, 90, 130, WHOLE), Reason.TIMEOUT)
    assert judge_host(proof, HELD, 133) == proof


def test_what_adds_no_strike_and_what_ends_a_row() -> None:
    for name, checks, strikes in (
        ("three checks on one day", [(100, LOST), (100, LOST), (100, SILENT)], 1),
        ("a method that is refused", [(100, LOST), (107, METHOD)], 0),
        ("too many requests after silence", [(100, SILENT), (103, LIMITED)], 0),
        ("too many requests after hearsay", [(100, LOST), (103, SILENT_BY_HEARSAY), (106, LIMITED)], 0),
        ("a clock set back", [(100, LOST), (90, LOST)], 1),
    ):
        assert lived(*checks).streak.strikes == strikes, name
    assert lived((100, LOST), (90, LOST)).checked == 100


def test_one_success_resets_everything_and_a_wall_ends_the_streak_though_years_lie_between() -> None:
    record = lived((100, LOST), (107, LOST), (110, FINE), (114, LOST), (117, LOST))
    assert (verdict(record), record.streak.since) == (Verdict.DOUBTFUL, 114)
    walled = lived((100, LOST), (107, LOST), *((day, WALL) for day in range(114, 844, 7)))
    assert (walled.streak.strikes, verdict(walled)) == (0, Verdict.DOUBTFUL)
    again = lived((844, LOST), record=walled)
    assert (again.streak.strikes, again.streak.since, verdict(again)) == (1, 844, Verdict.DOUBTFUL)


def test_what_failed_and_came_back_within_sixty_days_takes_twice_the_days() -> None:
    for came_back, needed in ((160, 28), (161, 14)):
        record = lived((100, LOST), (103, FINE), *((day, LOST) for day in range(came_back, came_back + needed, 4)))
        assert verdict(record) is Verdict.DOUBTFUL
        assert verdict(lived((came_back + needed, LOST), record=record)) is Verdict.DEAD
    for before, needed in (
        ([(100, SILENT)], 35), ([(99, SILENT), (100, SILENT)], 70), ([(60, SILENT), (80, FINE), (100, SILENT)], 35),
        ([(60, SILENT), (80, FINE), (170, SILENT)], 35),
    ):  # fmt: skip
        start = before[-1][0] + 10
        days = range(start, start + needed, 4)
        silent = lived(*before, (start - 5, FINE), *((day, SILENT) for day in days))
        assert verdict(silent) is Verdict.DOUBTFUL
        assert verdict(lived((start + needed, SILENT), record=silent)) is Verdict.DEAD


def test_a_site_under_repair_neither_strikes_nor_ends_a_streak() -> None:
    repair = Observation(Status.FINE, Reason.MAINTENANCE)
    record = lived((100, LOST), (104, LOST), (107, repair), (109, LOST))
    assert (record.streak.strikes, record.streak.since) == (3, 100)
    assert verdict(record) is Verdict.DOUBTFUL


def test_a_site_under_repair_is_unknown_for_four_weeks_and_then_a_doubt_since_its_first_day() -> None:
    repair = Observation(Status.FINE, Reason.MAINTENANCE)
    for before in ((93, FINE), (93, LOST)):
        early = lived(before, *((day, repair) for day in range(100, 128, 3)))
        assert finding_of(early) == Finding(Verdict.UNKNOWN, Reason.MAINTENANCE, 100)
        late = lived((128, repair), record=early)
        assert finding_of(late) == Finding(Verdict.DOUBTFUL, Reason.MAINTENANCE, 100)
        assert verdict(lived((129, FINE), record=late)) is Verdict.WORKING


def test_hearsay_moves_the_history_but_never_strikes_nor_stretches_a_row_to_the_proof() -> None:
    record = lived((100, SILENT), *((day, SILENT_BY_HEARSAY) for day in range(103, 200, 3)))
    assert (record.streak.strikes, record.checked, verdict(record)) == (1, 199, Verdict.DOUBTFUL)
    strikes = [(day, SILENT) for day in range(100, 134, 3)]
    record = lived(*strikes, (140, SILENT_BY_HEARSAY))
    assert (record.streak.evidence.width, verdict(record)) == (33, Verdict.DOUBTFUL)
    assert verdict(lived(*strikes, (140, SILENT))) is Verdict.DEAD


def test_a_dead_host_makes_its_silent_urls_dead_as_one_fact() -> None:
    host = UNKNOWN_HOST
    for day in (*range(100, 134, 3), 134):
        host = judge_host(host, SILENT, day)
    assert verdict(lived((107, SILENT_BY_HEARSAY)), host) is Verdict.DOUBTFUL
    host = judge_host(host, SILENT, 100 + DEFAULT.dead_span)
    finding = finding_of(lived((107, SILENT_BY_HEARSAY)), host)
    assert (finding.verdict, finding.reason, finding.since) == (Verdict.DEAD, Reason.HOST_DOWN, 100)
    assert verdict(lived((107, LOST)), host) is Verdict.DOUBTFUL
    assert verdict(lived((107, FINE)), host) is Verdict.WORKING


def test_any_http_answer_ends_the_row_of_its_host_and_hearsay_says_nothing_about_it() -> None:
    host = judge_host(judge_host(UNKNOWN_HOST, SILENT, 100), LOST, 103)
    assert (host.streak.strikes, host.streak.since, host.reason) == (0, None, None)
    assert judge_host(UNKNOWN_HOST, SILENT_BY_HEARSAY, 100) == UNKNOWN_HOST


def test_a_failure_of_another_host_or_of_an_ftp_service_does_not_strike_this_host() -> None:
    on_other_host = Observation(Status.NETWORK, Reason.TIMEOUT, on_other_host=True)
    assert judge_host(judge_host(UNKNOWN_HOST, SILENT, 100), on_other_host, 103).streak.strikes == 0
    assert judge(UNTRIED, on_other_host, 103).record.streak.strikes == 1
    shut = fault_observation(Reason.CONNECTION_REFUSED, "files.test")
    failing = judge_host(UNKNOWN_HOST, SILENT, 100)
    assert judge_host(failing, shut, 103) == failing
    assert judge_host(UNKNOWN_HOST, shut, 103) == UNKNOWN_HOST
    assert judge(UNTRIED, shut, 103).record.streak.strikes == 1


def test_intervals_follow_the_state() -> None:
    def days_after(record: UrlRecord, seen: Observation, day: int) -> set[int]:
        return {judge(record, seen, day, host_key=key).due - day for key in range(64)}

    a_week = {6, 7}
    assert days_after(UNTRIED, FINE, 100) == days_after(UNTRIED, WALL, 100) == a_week
    assert days_after(UNTRIED, LOST, 100) == days_after(UNTRIED, SILENT, 100) == {3}
    record = lived(*FORTNIGHT[:3])
    steps, day = [], 114
    for _ in range(4):
        record, due = judge(record, LOST, day)
        steps.append(_round_days(due - day))
        day += steps[-1]
    assert steps == [7, 14, 28, 28]


def _round_days(interval: int) -> int:
    """An interval of whole weeks, as it was before it was varied by a day."""
    days = round(interval / 7) * 7
    assert days - 1 <= interval <= days
    return days


def test_what_fails_is_checked_every_third_day_and_daily_before_it_may_be_dead() -> None:
    for seen, span in [(LOST, 14), (SILENT, DEFAULT.dead_span), (BROKEN, DEFAULT.server_span)]:
        record, days = UNTRIED, [100]
        while verdict(record) is not Verdict.DEAD:
            record, due = judge(record, seen, days[-1])
            days.append(due)
        checks = [day - 100 for day in days[:-1]]
        assert checks == [*range(0, span - 6, 3), *range(span - 6, span + 1)], seen


def test_what_never_becomes_a_proof_is_checked_as_rarely_as_a_doubt_in_the_end() -> None:
    record, day, gaps = UNTRIED, 100, []
    while day < 300:
        record, due = judge(record, UNAVAILABLE, day)
        gaps.append((day - 100, due - day))
        day = due
    span = DEFAULT.dead_span
    assert {gap for elapsed, gap in gaps if span <= elapsed < 2 * span} == {3}
    assert {gap for elapsed, gap in gaps if elapsed >= 2 * span} <= {6, 7}


def test_links_that_follow_their_host_are_checked_daily_only_while_its_own_proof_is_near() -> None:
    broken = lived(*((day, BROKEN) for day in range(100, 140, 3)))
    for host_days, interval in ((36, 1), (10, 3)):
        host = HostRecord(Streak(9, 139 - host_days, 139, Evidence(host_days, longer=True)), Reason.TIMEOUT)
        assert judge(broken, SILENT_BY_HEARSAY, 142, DEFAULT, host).due == 142 + interval
    dead = HostRecord(Streak(9, 100, 135, WHOLE), Reason.TIMEOUT)
    assert judge(lived((134, SILENT)), SILENT, 135, DEFAULT, dead).due == 138
    # Days on which nobody looked are made up for: daily is what is left of the proof.
    late = lived(*((day, SILENT) for day in (*range(100, 118, 3), 130, 133)))
    assert judge(late, SILENT, 136).due == 139
    assert judge(lived((136, SILENT), record=late), SILENT, 139).due == 140


def test_urls_of_a_dead_host_are_written_less_and_less_often_though_they_never_struck() -> None:
    dead = HostRecord(Streak(9, 100, 135, WHOLE), Reason.TIMEOUT)
    record, steps, day = UNTRIED, [], 131
    for _ in range(5):
        record, due = judge(record, SILENT_BY_HEARSAY, day, DEFAULT, dead)
        steps.append(_round_days(due - day))
        day += steps[-1]
    assert steps == [7, 14, 28, 28, 28]
    assert judge(UNTRIED, SILENT_BY_HEARSAY, 123).due == 126


def test_a_policy_laxer_than_nine_days_or_that_no_evidence_could_fulfil_is_refused() -> None:
    assert (DEFAULT.dead_strikes, DEFAULT.missing_span, DEFAULT.gap) == (3, 14, 5)
    assert (DEFAULT.dead_span, DEFAULT.server_span) == (35, 42)
    assert Policy(missing_span=9, dead_span=9).dead_span == 9
    for values in (
        {"dead_strikes": 2}, {"missing_span": 8}, {"missing_span": 20, "dead_span": 19}, {"dead_strikes": 16},
        {"missing_span": 32, "dead_span": 40}, {"dead_span": 64}, {"relapse_factor": 0},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Policy(**values)


@dataclass
class Row:
    """A row of failures by its days, and the last day of the one before if that makes the next a relapse."""

    failing: dict[int, Observation] = field(default_factory=dict)
    plain_until: int = -100
    is_relapse: bool = False

    def strike(self, day: int, seen: Observation) -> None:
        if not self.failing:
            self.is_relapse = day - self.plain_until <= 60
        self.failing.setdefault(day, seen)

    def end(self) -> None:
        if self.failing:
            is_plain = len(self.failing) > 1 or self.is_relapse or LOST in self.failing.values()
            self.plain_until = max(self.failing) if is_plain else -100
            self.failing.clear()

    @property
    def is_proof(self) -> bool:
        """The rule of U-7, written down in another way than the program's: from all strikes of a row, by their days."""
        days = sorted(self.failing)
        steps = [min(after - before, 5) for before, after in pairwise(days)]
        missing = [day for day in days if self.failing[day] == LOST]
        longer = [step for step, day in zip(steps, days[1:], strict=True) if missing and missing[0] < day in missing]
        times = 2 if self.is_relapse else 1
        span = 42 if BROKEN in self.failing.values() else 35
        return len(days) >= 3 and (sum(longer) >= 14 * times or sum(steps) >= span * times)


def _hard_lives(*seen: Observation, gap: int = 8) -> st.SearchStrategy[list[tuple[int, Observation]]]:
    """Checks with the days since the one before, most of them failures."""
    return st.lists(st.tuples(st.integers(1, gap), st.sampled_from(seen)), max_size=40)


@given(
    _hard_lives(LOST, LOST, LOST, LOST, SILENT, SILENT, SILENT_BY_HEARSAY, UNAVAILABLE, LIMITED, FINE)
    | _hard_lives(*(10 * [SILENT]), SILENT_BY_HEARSAY, LOST, BROKEN)
    | _hard_lives(FINE, LOST, WALL, LIMITED, SILENT, BROKEN, SILENT_BY_HEARSAY, gap=40)
)
def test_dead_always_has_the_proof_of_the_url_or_of_its_host(life: list[tuple[int, Observation]]) -> None:
    record, host, day, own, silent = UNTRIED, UNKNOWN_HOST, 100, Row(), Row()
    was_silent = False
    for gap, seen in life:
        day += gap
        host = judge_host(host, seen, day)
        record, due = judge(record, seen, day, host=host)
        assert day < due <= day + 28
        assert 1 <= len(record.history) <= 5
        if seen == SILENT:
            silent.strike(day, seen)
        elif seen != SILENT_BY_HEARSAY:
            silent.end()
        if seen in (LOST, SILENT, BROKEN):
            own.strike(day, seen)
        elif seen in (FINE, WALL) or (seen == LIMITED and was_silent):
            own.end()
        assert record.streak.strikes == len(own.failing)
        was_silent = seen in (SILENT, SILENT_BY_HEARSAY)
        found = finding_of(record, host)
        by_host = was_silent and silent.is_proof
        by_itself = seen.outcome is Outcome.FAILING and own.is_proof
        assert (found.verdict is Verdict.DEAD) == (by_host or by_itself)
        assert (found.reason is Reason.HOST_DOWN) == by_host
        if found.verdict is Verdict.DEAD:
            assert found.since == min(silent.failing if by_host else own.failing)
