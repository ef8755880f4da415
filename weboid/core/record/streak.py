"""Streaks: failing checks in a row, with the evidence of them (U-7), and its packed form."""

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

from weboid.core.record.moment import HOURS

HOURS_APART: Final = 4
"""Two strikes so many hours of the day apart, whatever their days, were not met by one nightly backup."""
WIDEST: Final = 127
WIDEST_MISSING: Final = 63
MOST_MISSING: Final = 15
REMEMBERED: Final = 60
"""Days after the end of a streak in which it counts as `Earlier` of another one."""
_WEEK: Final = 7


class Earlier(IntEnum):
    """An earlier streak: none, one that may have been chance (a single failure without an answer), or a plain one."""

    NONE = 0
    CHANCE = 1
    PLAIN = 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence in the strikes of a streak. `width` is their days from first to last, longer gaps cut short.

    `missing` counts the strikes for which the host said that the page is missing, `missing_width` their width.
    `hours`: two strikes are at least HOURS_APART hours of the day apart; `weekdays`: they are not all on one weekday.
    """

    width: int = 0
    missing: int = 0
    missing_width: int = 0
    hours: bool = False
    weekdays: bool = False
    first_hour: int = 0
    """The hour of the day of the first strike, 0 … 23 UTC."""
    earlier: Earlier = Earlier.NONE
    """The kind of streak that ended not long before this one began; without strikes: that has ended."""
    server: bool = False
    """The server said at a strike that it fails (5xx)."""

    @property
    def relapse(self) -> bool:
        """True if the page has failed and come back before, so that it may come back again."""
        return self.earlier is Earlier.PLAIN


NO_EVIDENCE: Final = Evidence()
WHOLE: Final = Evidence(WIDEST, MOST_MISSING, WIDEST_MISSING, hours=True, weekdays=True)
"""All evidence that there can be."""


@dataclass(frozen=True, slots=True)
class Streak:
    """Failing checks in a row: the number of days with a strike, the first such day and the newest (U-7).

    Without strikes, `until` is the newest strike of the streak before, which has ended.
    """

    strikes: int = 0
    since: int | None = None
    until: int | None = None
    evidence: Evidence = field(default=NO_EVIDENCE)

    def __hash__(self) -> int:
        return hash((self.strikes, self.since, self.until))  # enough, and quicker

    def struck(
        self, day: int, hour: int, *, missing: bool, gap: int, server: bool = False, relapse: bool = False
    ) -> "Streak":
        """One more strike; a second one on the same day is the same evidence and adds nothing.

        `missing`: the host said that the page is missing, `server`: that it fails. `gap` is the most days that count
        between two strikes.
        `relapse`: a streak that begins now is one, whatever was here before (D-4).
        """
        if self.since is None or self.until is None:
            is_recent = self.until is not None and day - self.until <= REMEMBERED
            earlier = Earlier.PLAIN if relapse else self.evidence.earlier if is_recent else Earlier.NONE
            return Streak(1, day, day, Evidence(missing=int(missing), first_hour=hour, earlier=earlier, server=server))
        if day <= self.until:
            return self
        known, days = self.evidence, min(day - self.until, gap)
        apart = (hour - known.first_hour) % HOURS
        evidence = replace(
            known,
            width=min(known.width + days, WIDEST),
            missing=min(known.missing + missing, MOST_MISSING),
            missing_width=min(known.missing_width + (days if missing and known.missing else 0), WIDEST_MISSING),
            hours=known.hours or HOURS_APART <= apart <= HOURS - HOURS_APART,
            weekdays=known.weekdays or (day - self.since) % _WEEK != 0,
            server=known.server or server,
        )
        return Streak(self.strikes + 1, self.since, day, evidence)

    def ended(self) -> "Streak":
        """The streak without strikes, which remembers that there have been some.

        One failure in sixty days happens to everybody; several, or a page that was said to be missing, are plain
        (D-79).
        """
        if not self.strikes:
            return self
        known = self.evidence
        is_plain = self.strikes > 1 or known.missing or known.earlier
        return Streak(until=self.until, evidence=Evidence(earlier=Earlier.PLAIN if is_plain else Earlier.CHANCE))

    def elapsed(self, day: int) -> int:
        """Days from the first failing day until `day`."""
        return 0 if self.since is None else max(0, day - self.since)


NO_STRIKES: Final = Streak()


def packed_evidence(evidence: Evidence) -> int:
    """The stored form, 27 bits; ``sql/queries/lists/search.sql`` reads it, too.

    From the lowest: hours, weekdays, 5 bits of first_hour, 7 of width, 4 of missing, 6 of missing_width, 2 of earlier,
    server.
    """
    return (
        evidence.hours
        | evidence.weekdays << 1
        | evidence.first_hour << 2
        | evidence.width << 7
        | evidence.missing << 14
        | evidence.missing_width << 18
        | evidence.earlier << 24
        | evidence.server << 26
    )


def unpacked_evidence(number: int) -> Evidence:
    """The inverse of `packed_evidence`."""
    return Evidence(
        width=number >> 7 & WIDEST,
        missing=number >> 14 & MOST_MISSING,
        missing_width=number >> 18 & WIDEST_MISSING,
        hours=bool(number & 1),
        weekdays=bool(number & 2),
        earlier=Earlier(number >> 24 & 3),
        first_hour=number >> 2 & 31,
        server=bool(number >> 26 & 1),
    )
