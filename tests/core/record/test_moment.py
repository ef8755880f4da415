"""Day numbers (U-2), and the hours at which hosts are visited: which checks of one host meet the same hour."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.record.days import LAST_DAY, date_of, day_of, iso
from weboid.core.record.moment import HOURS, planned_hour

host_keys = st.integers(-(2**63), 2**63 - 1)
days = st.integers(0, 32_767)


@given(host_keys, days)
def test_within_forty_days_a_host_is_visited_at_every_hour(host_key: int, day: int) -> None:
    assert {planned_hour(host_key, each) for each in range(day, day + 40)} == set(range(HOURS))


@given(host_keys, days)
def test_any_five_days_in_a_row_leave_no_seven_hours_out(host_key: int, day: int) -> None:
    hours = sorted(planned_hour(host_key, each) for each in range(day, day + 5))
    gaps = [(after - before) % HOURS for before, after in zip(hours, [*hours[1:], hours[0]], strict=True)]
    assert max(gaps) <= 6


@given(host_keys, days)
def test_three_days_and_a_week_later_it_is_another_time_of_the_day(host_key: int, day: int) -> None:
    hour = planned_hour(host_key, day)
    for later in (3, 6, 7, 8, 13, 14, 28):
        apart = (planned_hour(host_key, day + later) - hour) % HOURS
        assert 3 <= apart <= 21, later


def test_the_hosts_of_a_day_are_spread_over_all_of_it() -> None:
    for day in (0, 100, 101):
        assert {planned_hour(host_key, day) for host_key in range(HOURS)} == set(range(HOURS))


def test_days_are_utc_days_since_the_first_of_january_2017_and_lead_back_to_dates() -> None:
    assert day_of(date(2017, 1, 1)) == 0
    assert iso(0) == "2017-01-01"
    late_in_new_york = datetime(2026, 11, 20, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert day_of(late_in_new_york) == day_of(date(2026, 11, 21)) == 3611
    assert day_of(datetime(2026, 11, 21, tzinfo=UTC)) == 3611
    assert all(day_of(date_of(day)) == day for day in (0, 1, 3611, LAST_DAY))


@pytest.mark.parametrize("moment", [date(2016, 12, 31), date(2106, 9, 20), datetime(2026, 1, 1)])
def test_moments_without_a_day_are_refused(moment: date) -> None:
    with pytest.raises(ValueError):
        day_of(moment)
