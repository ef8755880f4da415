"""The thresholds and intervals by which records are judged (U-7, U-11, C-4), as data.

Every number that decides about "dead" or the day of the next check is defined here, and only here.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Policy:
    """Days and counts. The defaults are the German Wikipedia's; a wiki may choose others within U-7's bounds."""

    dead_strikes: int = 3
    dead_span: int = 14
    """Days from the first failing check of the streak to its newest."""
    working_interval: int = 7
    doubtful_interval: int = 7
    failing_interval: int = 3
    """At most: see `failing_interval_after`."""
    dead_interval: int = 7
    """The first interval of a dead URL; it doubles up to `dead_interval_limit`."""
    dead_interval_limit: int = 28

    def __post_init__(self) -> None:
        if self.dead_strikes < 3 or self.dead_span < 9:
            raise ValueError("dead takes at least three strikes over at least nine days (U-7)")
        if min(self.working_interval, self.doubtful_interval, self.failing_interval, self.dead_interval) < 1:
            raise ValueError("an interval is at least one day")

    def failing_interval_after(self, elapsed: int) -> int:
        """Days to the next check of a URL that has been failing for `elapsed` days and is not dead yet.

        Daily near the end of the span, so that a URL that works now and then has chances just before it is called dead:
        the checks of a fortnight (days 0, 3, 6, 9, 10 … 14) meet every day of a cycle of up to six days.
        """
        return max(1, min(self.failing_interval, self.dead_span - _DAILY - elapsed))


_DAILY: Final = 4
"""Days before the end of the span in which a failing URL is checked every day."""
DEFAULT = Policy()
