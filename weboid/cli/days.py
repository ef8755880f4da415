"""The clock of commands, and their options for a given day. With ``config`` the only place that reads the clock."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

from weboid.core.record.days import LAST_DAY, day_of, iso
from weboid.core.record.moment import Moment


def today() -> int:
    """The number of the current day (U-2)."""
    return day_of(datetime.now(UTC))


def moment_now() -> datetime:
    """The current moment in UTC."""
    return datetime.now(UTC)


def seconds_now() -> float:
    """The current moment in seconds since 1970, which all processes of a machine read alike."""
    return moment_now().timestamp()


def clock(day: int | None) -> Callable[[], int]:
    """A function that returns the day for a command: always the given one, or the current one."""
    return today if day is None else lambda: day


def moments(day: int | None, hour: int | None) -> Callable[[], Moment]:
    """A function that returns the moment for a command: the current one, but for what is given.

    With a day but no hour the hour is None: the time of the day does not matter.
    """

    def moment() -> Moment:
        now = moment_now()
        return Moment(day_of(now), now.hour if hour is None else hour)

    return moment if day is None else lambda: Moment(day, hour)


class DayType(click.ParamType[int]):
    """A day number (days since 2017-01-01) or an ISO date."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        try:
            day = int(text) if text.isascii() and text.isdigit() else day_of(datetime.fromisoformat(text).date())
        except ValueError:
            self.fail(f"{text!r} is no day: give an ISO date or a number of days since 2017-01-01", param, ctx)
        if not 0 <= day <= LAST_DAY:
            self.fail(f"{text!r} is outside {iso(0)} … {iso(LAST_DAY)}", param, ctx)
        return day


day_option = click.option("--day", type=DayType(), help="Use this day instead of today (simulation).")
