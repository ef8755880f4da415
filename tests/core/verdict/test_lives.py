"""The judgement over months and years, at the days and hours that it plans itself: what is called dead, and when.

Each life says what a URL answers on a day at an hour; it is checked as a round would, whenever it is due.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, product
from typing import NamedTuple

from support.observations import BROKEN, FINE, GONE, LOST, NO_NAME, SILENT, UNAVAILABLE, WALL

from weboid.core.observe.observation import Observation
from weboid.core.record.moment import HOURS, planned_hour, shuffled
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, UrlRecord
from weboid.core.verdict.judge import judge, judge_host
from weboid.core.verdict.verdict import Finding, Verdict, finding_of

KEYS = range(1_000_000, 1_000_000 + HOURS)
"""One host for each hour of the day."""
START = 1_000

Life = Callable[[int, int], Observation]
"""What a URL answers, by days since the beginning and by the hour."""


class Check(NamedTuple):
    """A check, with what it is followed by. `day` counts from the beginning."""

    day: int
    hour: int
    record: UrlRecord
    finding: Finding


def checks(life: Life, days: int, host_key: int = KEYS[0]) -> Iterator[Check]:
    """The checks of a URL, alone on its host, that is due on the first day."""
    record, host, day = UNTRIED, UNKNOWN_HOST, START
    while day < START + days:
        hour = planned_hour(host_key, day)
        seen = life(day - START, hour)
        host = judge_host(host, seen, day)
        record, due = judge(record, seen, day, host=host, host_key=host_key)
        yield Check(day - START, hour, record, finding_of(record, host))
        day = due


def deaths(life: Life, days: int, host_key: int = KEYS[0]) -> list[int]:
    return [check.day for check in checks(life, days, host_key=host_key) if check.finding.verdict is Verdict.DEAD]


def on(usual: Observation, days: Mapping[int, Observation]) -> Life:
    return lambda day, hour: days.get(day, usual)


def during(seen: Observation, first: int, days: int) -> Life:
    """A life that fails for so many days: it is fine again on the day after the last."""
    return lambda day, hour: seen if first <= day < first + days else FINE


SPANS = {
    LOST: DEFAULT.missing_span, GONE: DEFAULT.missing_span,
    SILENT: DEFAULT.dead_span, NO_NAME: DEFAULT.dead_span, BROKEN: DEFAULT.server_span,
}  # fmt: skip


def test_an_outage_of_less_than_the_span_of_its_kind_is_never_dead() -> None:
    for seen, span in SPANS.items():
        for host_key in KEYS:
            for days in (1, 3, 7, *range(span - 4, span + 1)):  # the last failure is a day before its end
                for first in (0, 20):
                    assert deaths(during(seen, first, days), 120, host_key) == [], (host_key, days)


def test_what_fails_for_a_week_more_is_dead_until_it_comes_back_and_after_its_span_from_its_first_check_on() -> None:
    for seen, span in SPANS.items():
        for host_key in KEYS:
            # The first failing check is up to eight days after the beginning.
            dead = deaths(during(seen, 20, span + 9), 120, host_key)
            assert 20 + span <= dead[0] <= 20 + span + 8, seen
            assert max(dead) < 20 + span + 9, seen
            assert deaths(during(seen, 0, 60), 60, host_key)[0] == span


def test_the_looks_of_a_proof_meet_so_many_hours_that_one_more_would_add_little() -> None:
    """A flapping host was called dead though it was up now and then; here it is up for two hours of each day."""
    for seen, most in ((LOST, 0.31), (SILENT, 0.07), (BROKEN, 0.02)):
        days = [check.day for check in checks(during(seen, 0, 99), SPANS[seen] + 1)]
        never = spared = 0
        for start in range(7 * HOURS):
            hours = {planned_hour(KEYS[0], start + day) for day in days}
            one_more = shuffled(KEYS[0], start) % HOURS
            for first in range(HOURS):
                up = {first, (first + 1) % HOURS}
                never += not up & hours
                spared += not up & hours and one_more in up
        assert never <= most * 7 * HOURS**2
        assert spared <= 0.12 * never


def test_a_bare_503_is_doubtful_and_an_outage_unreachable_since_the_first_day() -> None:
    for host_key in KEYS:
        found = [check.finding for check in checks(lambda day, hour: UNAVAILABLE, 365, host_key)]
        assert set(found) == {Finding(Verdict.DOUBTFUL, Reason.UNAVAILABLE, START)}
    since = {check.finding for check in checks(during(SILENT, 0, 28), 28)}
    assert since == {Finding(Verdict.DOUBTFUL, Reason.TIMEOUT, START)}


def test_a_bare_503_between_failures_neither_proves_nor_excuses() -> None:
    for host_key in KEYS:
        assert deaths(lambda day, hour: UNAVAILABLE if day < 100 else LOST, 100, host_key) == []
        turned = deaths(lambda day, hour: UNAVAILABLE if day < 100 else LOST, 200, host_key)
        assert 114 <= turned[0] <= 100 + 8 + 14 + 9, host_key
        assert 14 <= deaths(lambda day, hour: UNAVAILABLE if day == 9 else LOST, 60, host_key)[0] <= 17


def test_silence_now_and_then_does_not_count_for_a_page_that_is_missing() -> None:
    for host_key in KEYS:
        for silent in (3, 6, 11):
            dead = deaths(on(LOST, {silent: SILENT}), 60, host_key)
            assert 14 <= dead[0] <= 17, (host_key, silent)
    for host_key in KEYS:
        # The page says that it is missing from day 6 on: fourteen days of that are over on day 20.
        assert 20 <= deaths(lambda day, hour: SILENT if day < 6 else LOST, 60, host_key)[0] <= 23
        # Fourteen days of it are not over on day 35, but all failures together are 35 days wide.
        span = DEFAULT.dead_span
        assert span <= deaths(lambda day, hour: SILENT if day < 25 else LOST, 60, host_key)[0] <= span + 2
    for host_key in KEYS:
        assert deaths(lambda day, hour: LOST if day < 5 else SILENT, 60, host_key)[0] == DEFAULT.dead_span


def test_days_without_checks_do_not_widen_a_row_and_failures_around_a_year_of_them_prove_nothing() -> None:
    record = UNTRIED
    for day in (100, 103, 123, 124):
        record = judge(record, LOST, day).record
    assert record.streak.elapsed(124) == 24
    assert (record.streak.evidence.width, finding_of(record).verdict) == (9, Verdict.DOUBTFUL)
    for day in (125, 128):
        record = judge(record, LOST, day).record
        assert finding_of(record).verdict is Verdict.DOUBTFUL
    assert finding_of(judge(record, LOST, 129).record).verdict is Verdict.DEAD
    for seen in (LOST, SILENT):
        record = UNTRIED
        for day in (100, 103, 465, 468):
            record = judge(record, seen, day).record
        assert (record.streak.strikes, finding_of(record).verdict) == (4, Verdict.DOUBTFUL)


def test_what_is_down_from_midnight_to_four_every_night_is_never_dead() -> None:
    def life(seen: Observation) -> Life:
        return lambda day, hour: seen if hour < 4 else FINE

    for seen, host_key in product((SILENT, LOST, BROKEN), KEYS):
        found = list(checks(life(seen), 365, host_key))
        assert {check.hour < 4 for check in found} == {False, True}
        assert not any(check.finding.verdict is Verdict.DEAD for check in found), (seen, host_key)


def test_what_is_up_one_weekday_or_six_hours_a_day_only_is_never_dead() -> None:
    def on_weekday(weekday: int) -> Life:
        return lambda day, hour: FINE if day % 7 == weekday else SILENT

    def from_hour(opens: int) -> Life:
        return lambda day, hour: FINE if (hour - opens) % 24 < 6 else SILENT

    for life, host_key in product([*map(on_weekday, range(7)), *map(from_hour, range(0, 24, 3))], KEYS):
        assert deaths(life, 365, host_key) == [], host_key


def test_the_days_between_checks_are_not_all_multiples_of_seven() -> None:
    for seen, host_key in product((FINE, WALL, LOST, SILENT), KEYS):
        days = [check.day for check in checks(on(seen, {}), 730, host_key)]
        weeks = [after - before for before, after in pairwise(days) if after - before >= 6]
        assert any(gap % 7 for gap in weeks), (seen, host_key)
        assert len({day % 7 for day in days}) == 7, (seen, host_key)
