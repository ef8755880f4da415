"""The thresholds and intervals by which histories are judged (U-7, U-11, C-4), as data.

One law: every number that decides about "dead" or "when next" stands here once.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Policy:
    """Days and counts. The defaults are the German Wikipedia's rule; a wiki may choose others, within U-7's bounds."""

    dead_strikes: int = 3
    dead_span: int = 14
    """Days from the first failing check of the row to its newest."""
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
        """Days to the next check of what has been failing for `elapsed` days without being dead yet.

        Daily before the span is full, so that what comes and goes gets its chances just before it is called dead: the
        checks of a fortnight (0, 3, 6, 9, 10 … 14) meet every day of a rhythm of up to six days.
        """
        return max(1, min(self.failing_interval, self.dead_span - _DAILY - elapsed))


_DAILY: Final = 4
"""Days before the end of the span on which a failing URL is asked every day."""
DEFAULT = Policy()
