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
    """On the average: see `failing_interval_after`."""
    dead_interval: int = 7
    """The first interval of a dead URL; it doubles up to `dead_interval_limit`."""
    dead_interval_limit: int = 28

    def __post_init__(self) -> None:
        if self.dead_strikes < 3 or self.dead_span < 9:
            raise ValueError("dead takes at least three strikes over at least nine days (U-7)")
        if min(self.working_interval, self.doubtful_interval, self.failing_interval, self.dead_interval) < 1:
            raise ValueError("an interval is at least one day")

    def failing_interval_after(self, strikes: int) -> int:
        """Days from the so-manieth failing check of a row to the next.

        Irregular, so that what is down two days of three, or three of four, is not met on those days only: the checks
        of a fortnight meet every day of a rhythm of up to six days. Daily at the end of the fortnight, so that what
        comes and goes has its chance once more before it is called dead.
        """
        offset = _RHYTHM[strikes - 1] if 0 < strikes <= len(_RHYTHM) else 0
        return max(1, self.failing_interval + offset)


_RHYTHM: Final = (0, 1, 0, -2, -2, -2, -2)
DEFAULT = Policy()
