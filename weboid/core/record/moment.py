"""Moments: a day and an hour of it (UTC), and the hour of a day at which a host is visited."""

from typing import Final, NamedTuple

HOURS: Final = 24
_STEP: Final = 5
"""Hours later on each day than on the day before: coprime to 24, so that any five days in a row sample the whole day,
and neither 3 nor 7 days later is it the same hour again."""


class Moment(NamedTuple):
    """A day number and an hour, 0 … 23. Hour None = the time of day does not matter (simulation): all hosts of the day
    are due, and none rests."""

    day: int
    hour: int | None = None


def shuffled(key: int, day: int) -> int:
    """A number from 0 to 2**61 - 1 that looks random, always the same for a key and a day."""
    return (key * 0x9E3779B97F4A7C15 + day * 0xC2B2AE3D27D4EB4F & 2**64 - 1) >> 3


def planned_hour(host_key: int, day: int) -> int:
    """The hour of a day, 0 … 23 UTC, from which on a host that is due that day is visited (D-77, D-483)."""
    return (host_key + _STEP * day) % HOURS
