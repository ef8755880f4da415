"""Moments: a day and an hour of it (UTC), and the hour of a day at which a host is visited."""

from typing import Final, NamedTuple

HOURS: Final = 24
_STEP: Final = 14
"""Hours later on each day than on the day before, so that any five days in a row sample the whole day…"""
_WEEK: Final = 7
"""…and an hour more each week, or every third day would meet the same eight hours again and again. Of hosts that are up
for two hours a day a third as many are called dead; one look more before the proof, at an hour by chance, spares one in
twelve (`test_the_looks_of_a_proof_meet_so_many_hours_that_one_more_would_add_little`)."""


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
    return (host_key + _STEP * day + day // _WEEK) % HOURS
