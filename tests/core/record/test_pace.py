"""C-4: working URLs are checked every 7 to 28 days, as the crawl manages it; slowly, and with patience."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.record.pace import (
    CALM_DAYS,
    FEW_URLS,
    LONGEST_REST_S,
    LONGEST_TURN,
    WIDEST_INTERVAL,
    Load,
    Pace,
    paced,
    policy_at,
    policy_of_big_host,
    portion_of,
    turn_of_host,
)
from weboid.core.record.policy import DEFAULT

START = Pace(7, changed=100, day=100)
IN_TIME = Load(urls=1_000_000, hosts=100_000, late=0, checks_a_day=150_000)
TOO_MUCH = Load(urls=1_000_000, hosts=100_000, late=5_000, checks_a_day=60_000)
FLOOD = Load(urls=1_000_000, hosts=100_000, late=5_000, checks_a_day=500_000)


def after(pace: Pace, load: Load, days: int) -> Pace:
    for _ in range(days):
        pace = paced(pace, load, pace.day + 1)
    return pace


def test_a_crawl_that_cannot_keep_up_is_given_a_day_more_each_day_until_a_turn_fits() -> None:
    assert [after(START, TOO_MUCH, days).interval for days in (1, 2, 10)] == [8, 9, 17]
    # 17 days are enough at this capacity; if hosts still are late, a day more is given each week.
    assert after(START, TOO_MUCH, 16).interval == 17
    assert after(START, TOO_MUCH, 17).interval == 18
    assert after(START, TOO_MUCH, 200).interval == WIDEST_INTERVAL


def test_a_flood_of_new_urls_is_given_a_week_before_anything_is_checked_less_often() -> None:
    assert after(START, FLOOD, CALM_DAYS - 1).interval == 7
    assert after(START, FLOOD, CALM_DAYS).interval == 8


def test_the_interval_is_narrowed_by_a_day_after_each_week_in_time() -> None:
    wide = Pace(28, changed=100, day=100)
    assert [after(wide, IN_TIME, days).interval for days in (6, 7, 13, 14, 200)] == [28, 27, 27, 26, 7]


def test_some_late_hosts_neither_widen_nor_narrow() -> None:
    some = Load(urls=1_000_000, hosts=100_000, late=500, checks_a_day=60_000)
    assert after(Pace(14, 100, 100), some, 60).interval == 14
    few = Load(urls=100, hosts=55, late=4, checks_a_day=5)
    assert after(START, few, 60).interval == 7
    one = Load(urls=100, hosts=55, late=1, checks_a_day=30)
    assert after(Pace(14, 100, 100), one, 60).interval == 7


def test_a_crawl_that_did_not_run_says_nothing() -> None:
    off = Load(urls=1_000_000, hosts=100_000, late=100_000, checks_a_day=None)
    assert after(START, off, 60).interval == 7


def test_a_day_is_looked_at_once() -> None:
    once = paced(START, TOO_MUCH, 101)
    assert paced(once, TOO_MUCH, 101) == once == paced(once, TOO_MUCH, 90)


loads = st.builds(
    Load, urls=st.integers(0, 10**9), hosts=st.integers(0, 10**8), late=st.integers(0, 10**6),
    checks_a_day=st.none() | st.integers(1, 10**8),
)  # fmt: skip


@given(st.lists(loads, max_size=60), st.integers(1, 40))
def test_the_interval_moves_by_a_day_at_most_and_stays_in_its_bounds(history: list[Load], narrowest: int) -> None:
    pace = Pace(narrowest, 0, 0)
    for load in history:
        new = paced(pace, load, pace.day + 1, narrowest=narrowest)
        assert abs(new.interval - pace.interval) <= 1
        assert narrowest <= new.interval <= max(WIDEST_INTERVAL, narrowest)
        pace = new


def test_only_working_urls_are_checked_less_often() -> None:
    wide = policy_at(DEFAULT, 20)
    assert (wide.working_interval, wide.failing_interval, wide.dead_interval) == (20, 3, 7)
    assert wide.doubtful_interval == DEFAULT.doubtful_interval
    assert policy_at(DEFAULT, 5) is DEFAULT
    big = policy_of_big_host(wide, 40)
    assert (big.working_interval, big.doubtful_interval, big.failing_interval, big.dead_interval) == (40, 40, 3, 7)


def test_a_turn_of_a_host_takes_as_long_as_its_delay_wants() -> None:
    for urls, delay_s, days in [
        (0, 1.0, 0), (57_600, 1.0, 1), (57_601, 1.0, 2), (1_000, 3_600.0, 63), (10**9, 60.0, LONGEST_TURN), (5, 0.0, 1),
    ]:  # fmt: skip
        assert turn_of_host(urls, delay_s) == days


@given(st.integers(1, 19_999), st.integers(0, 19_999), st.integers(0, 40))
def test_all_due_urls_of_a_host_are_asked_within_a_day_and_few_at_a_time(due: int, others: int, at: int) -> None:
    """Also if others become due in the middle of it, after so many visits: within a day of that moment then."""
    left, spent_s, since_s, most, every_s = due, 0.0, 0.0, due, None
    for visit in count():
        if visit == at:
            left, since_s = left + others, spent_s
            most = max(most, left)
        if not left:
            break
        urls, rest_s, every_s = portion_of(left, 60, every_s)
        assert 0 < urls <= min(left, max(FEW_URLS, min(1 + most // 72, 60)))
        assert rest_s <= LONGEST_REST_S
        left, spent_s = left - urls, spent_s + max(rest_s, urls)
    assert spent_s - since_s <= 86_400 + LONGEST_REST_S


@pytest.mark.parametrize(
    ("due", "urls", "minutes"),
    [(8, 8, 0), (9, 5, 180), (60, 8, 180), (600, 9, 21.6), (3_600, 50, 20), (7_200, 60, 12), (20_000, 60, 0)],
)
def test_a_visit_grows_with_what_is_due(due: int, urls: int, minutes: float) -> None:
    portion = portion_of(due, 60)
    assert portion.urls == urls
    assert portion.rest_s == pytest.approx(60 * minutes)
