"""Day numbers: days since 2017-01-01 in UTC, in 16 bits (U-2). Dates for people are formatted in ``web/words``."""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

EPOCH = date(2017, 1, 1)
LAST_DAY = 32_767
"""2106-09-19: the last day that fits into PostgreSQL's signed ``smallint``. Packed histories could go up to 65535."""
NEVER_DUE = LAST_DAY
"""The due day of what the link checker leaves to others: the copies in archives that pages cite (A-2, D-130)."""


def day_of(moment: date | datetime) -> int:
    """The day number of a date or of an aware moment; raises ValueError outside 2017-01-01 … 2106-09-19."""
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise ValueError("a moment needs a time zone to have a day")
        moment = moment.astimezone(UTC).date()
    day = (moment - EPOCH).days
    if not 0 <= day <= LAST_DAY:
        raise ValueError(f"{moment} is outside {EPOCH} … {date_of(LAST_DAY)}")
    return day


def date_of(day: int) -> date:
    """The calendar date of a day number."""
    return EPOCH + timedelta(days=day)


def days_from_epoch(moment: date | datetime) -> int:
    """The same for a day that need not be stored: negative before 2017. A moment is in UTC."""
    return (moment.date() if isinstance(moment, datetime) else moment).toordinal() - EPOCH.toordinal()


@lru_cache(8_192)
def iso(day: int) -> str:
    """The ISO date of a day number, as used in answers for programs."""
    return date_of(day).isoformat()
