"""Day numbers (U-2)."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from weboid.core.record.days import LAST_DAY, date_of, day_of, iso


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
