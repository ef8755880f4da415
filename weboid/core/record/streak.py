"""Streaks: failing checks in a row, with the evidence of them (U-7), and its packed form."""

from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

WIDEST: Final = 127
WIDEST_MISSING: Final = 63
MOST_STRIKES: Final = 15
"""The highest number of strikes that may be required."""
BELIEVED_DAYS: Final = 21
"""Days of failures after which those that were held count as any other: a loss ends sooner if it was ours (D-80)."""
REMEMBERED: Final = 60
"""Days after the end of a streak in which another one is a relapse."""


class Evidence(NamedTuple):
    """The evidence in the strikes of a streak. `width` is their days from first to last, longer gaps cut short.

    `missing` is one more than the width of those for which the host said that the page is missing, 0 without any;
    `longer`: they take the longer span, as the server said at one of them that it fails (5xx), or as much hangs on the
    host. `relapse`: the page had failed and come back not long before, so that it may come back again; without strikes:
    the streak that has ended makes the next one a relapse. `held`: the newest may be our own trouble (C-16).
    """

    width: int = 0
    missing: int = 0
    longer: bool = False
    relapse: bool = False
    held: bool = False

    @property
    def missing_width(self) -> int:
        """Days from the first to the newest strike for which the page was missing, longer gaps cut short."""
        return max(0, self.missing - 1)

    @property
    def is_all_missing(self) -> bool:
        """True if the host said at each strike that the page is missing."""
        return self.missing > min(self.width, WIDEST_MISSING)


NO_EVIDENCE: Final = Evidence()


class Streak(Struct, frozen=True):
    """Failing checks in a row: the number of days with a strike, the first such day and the newest (U-7).

    Without strikes, `until` is the newest strike of the streak before, which has ended.
    """

    strikes: int = 0
    since: int | None = None
    until: int | None = None
    evidence: Evidence = NO_EVIDENCE

    def struck(self, day: int, *, missing: bool, gap: int, longer: bool = False) -> "Streak":
        """One more strike; a second one on the same day is the same evidence and adds nothing (D-4).

        `missing`: the host said that the page is missing, `longer`: that it fails. `gap` is the most days that count
        between two strikes.
        """
        known = self.evidence
        if self.since is None or self.until is None:
            relapse = known.relapse and self.until is not None and day - self.until <= REMEMBERED
            return Streak(1, day, day, Evidence(0, int(missing), longer, relapse))
        if day <= self.until:
            return self
        days = min(day - self.until, gap)
        width = min(known.width + days, WIDEST)
        if missing:
            days = min(known.missing + days, WIDEST_MISSING + 1) if known.missing else 1
        evidence = Evidence(width, days if missing else known.missing, known.longer or longer, known.relapse)
        return Streak(self.strikes + 1, self.since, day, evidence)

    def ended(self) -> "Streak":
        """The streak without strikes, which remembers that there have been some.

        One failure in sixty days happens to everybody; several, or a page that was said to be missing, do not (D-79).
        What was held until the end was ours, unless it is too long for that (D-80).
        """
        if not self.strikes:
            return self
        known = self.evidence
        is_ours = known.held and known.width < BELIEVED_DAYS
        relapse = known.relapse or (not is_ours and bool(self.strikes > 1 or known.missing))
        return Streak(until=self.until, evidence=Evidence(relapse=relapse))

    def elapsed(self, day: int) -> int:
        """Days from the first failing day until `day`."""
        return 0 if self.since is None else max(0, day - self.since)


NO_STRIKES: Final = Streak()


def packed_evidence(evidence: Evidence) -> int:
    """The stored form, 17 bits from the lowest: 7 of width, 7 of missing, longer, relapse, held.

    ``sql/queries/lists/search.sql`` and ``upkeep/invariant.sql`` read it, too.
    """
    width, missing, longer, relapse, held = evidence
    return width | missing << 7 | longer << 14 | relapse << 15 | held << 16


@lru_cache(4_096)
def unpacked_evidence(number: int) -> Evidence:
    """The inverse of `packed_evidence`."""
    flags = (bool(number >> bit & 1) for bit in (14, 15, 16))
    return Evidence(number & 127, number >> 7 & 127, *flags)
