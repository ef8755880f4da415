"""The thresholds and intervals by which records are judged (U-7, U-11, C-4), as data, and the proof that a URL is dead.

Every number that decides about "dead" or the day of the next check is defined here, and only here.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.record.reasons import Reason
from weboid.core.record.streak import MOST_STRIKES, WIDEST, WIDEST_MISSING, Evidence, Streak

MISSING: Final = frozenset({Reason.NOT_FOUND, Reason.GONE})
"""A host that answers says itself that the page is missing: the proof of these is the shorter one."""
SERVER_FAILS: Final = frozenset({Reason.SERVER_ERROR, Reason.GATEWAY, Reason.UNAVAILABLE})
"""The server answers, and says that it fails (5xx)."""
NO_PROOF: Final = frozenset({Reason.UNAVAILABLE})
"""Failures that prove nothing however long they last: walls answer a bare 503 for months (D-78)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Days and counts. A wiki may choose others within U-7's bounds."""

    dead_strikes: int = 3
    """Failing checks that count, at least, before a URL is called dead."""
    missing_span: int = 14
    """Days from the first to the newest strike of those that say that the page is missing (404, 410)."""
    dead_span: int = 35
    """The same for all strikes: of 502 recorded site-years no outage that ended would be reported within 34 days."""
    server_span: int = 42
    """The same if the server itself said at any strike that it fails (5xx): half of these come back (D-482). It is that
    of a host on which more than MANY_USES hang, too (D-491)."""
    relapse_factor: int = 2
    """Times as long must a streak be that is a relapse: a page that flaps will come back."""
    working_interval: int = 7
    """Days to the next check of a URL that works."""
    doubtful_interval: int = 7
    """Days to the next check of one in doubt."""
    failing_interval: int = 3
    """Days to the next check of one that fails, at most; it is checked daily before it would be called dead."""
    dead_interval: int = 7
    """The first interval of a dead URL; it doubles up to `dead_interval_limit`."""
    dead_interval_limit: int = 28
    """Days between two checks of a dead URL, at most."""

    def __post_init__(self) -> None:
        if not 3 <= self.dead_strikes <= MOST_STRIKES or self.missing_span < 9:
            raise ValueError("dead takes three to 15 strikes over at least nine days (U-7)")
        times = self.relapse_factor
        if (
            times < 1
            or times * self.missing_span > WIDEST_MISSING
            or times * max(self.dead_span, self.server_span) > WIDEST
        ):
            raise ValueError(
                f"relapse_factor is at least 1, and at most {WIDEST_MISSING} / missing_span and {WIDEST} / dead_span "
                "or server_span"
            )
        if self.missing_span > min(self.dead_span, self.server_span):
            raise ValueError("dead_span and server_span are not less than missing_span")
        if min(self.working_interval, self.doubtful_interval, self.failing_interval, self.dead_interval) < 1:
            raise ValueError("an interval is at least one day")

    @property
    def gap(self) -> int:
        """The most days between two strikes that count: days on which nobody checked are no evidence."""
        return self.failing_interval + _LATE

    @property
    def longest_interval(self) -> int:
        """The most days to the next check of any URL."""
        return max(self.working_interval, self.doubtful_interval, self.failing_interval, self.dead_interval_limit)

    def span_of_all(self, known: Evidence) -> int:
        """The days of proof that a streak needs of all strikes together: the longest among their reasons (D-482)."""
        return self._times(known) * (self.server_span if known.longer else self.dead_span)

    def span_if_missing(self, known: Evidence) -> int:
        """The days of proof that it needs of the strikes for which the page was missing."""
        return self._times(known) * self.missing_span

    def _times(self, known: Evidence) -> int:
        return self.relapse_factor if known.relapse else 1

    def failing_interval_after(self, elapsed: int, reason: Reason, known: Evidence) -> int:
        """Days to the next check of a URL that has been failing for `elapsed` days, with this evidence.

        Daily near the proof, so that a URL that works now and then has chances just before it is called dead: the
        checks of a fortnight (days 0, 3, 6, 8, 9 … 14) meet every weekday, and every day of a shorter cycle. What has
        long passed the span without being proven is as rarely checked as a doubt (D-3).
        """
        is_missing = reason in MISSING
        span = self.span_if_missing(known) if is_missing else self.span_of_all(known)
        if elapsed >= 2 * span:
            return max(self.failing_interval, self.doubtful_interval)
        left = span - (known.missing_width if is_missing else known.width)
        return max(1, min(self.failing_interval, left - _DAILY)) if left > 0 else self.failing_interval


MANY_USES: Final = 1_000
"""Uses on pages; a host with more is one on which much hangs."""
_NEAR: Final = 7
"""Days before the end of the span at which an alarm says what is about to die, at least."""
_LATE: Final = 2
"""Days by which a check may be late."""
_DAILY: Final = 6
"""Days of proof still missing for which a failing URL is checked every day."""
DEFAULT = Policy()
STRICTEST: Final = Policy(dead_strikes=MOST_STRIKES, missing_span=31, dead_span=63, server_span=63)
"""The highest thresholds that a wiki may have (U-11): more a streak does not remember."""
LOOSEST: Final = Policy(missing_span=9, dead_span=28, server_span=28, relapse_factor=1)
"""The lowest ones (U-7)."""


def proven(streak: Streak, policy: Policy = DEFAULT) -> bool:
    """True if a streak of failures is a proof (U-7): enough strikes, over enough days of one kind or of all."""
    known = streak.evidence
    return streak.strikes >= policy.dead_strikes and (
        known.missing_width >= policy.span_if_missing(known) or known.width >= policy.span_of_all(known)
    )


def is_near(streak: Streak, policy: Policy = DEFAULT) -> bool:
    """True if a streak that takes the longer span is no proof yet, and may be one in a week or two."""
    known = streak.evidence
    return known.longer and not proven(streak, policy) and known.width >= policy.span_of_all(known) - _NEAR - policy.gap


def may_prove(streak: Streak, day: int, policy: Policy = DEFAULT) -> bool:
    """True if a failure on that day may make a streak a proof that is none yet."""
    return not proven(streak, policy) and proven(streak.struck(day, missing=True, gap=policy.gap), policy)
