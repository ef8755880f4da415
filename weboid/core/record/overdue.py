"""What is overdue after a pause, such as a restore, spread over the next days (O-9).

One law: pure, and nothing is planned for an earlier day than before: a day is only ever moved into the future.
"""

from collections.abc import Mapping
from math import ceil
from typing import Final, NamedTuple

LONGEST_DAYS: Final = 28
"""The days over which everything overdue is spread at most: those of the slowest round (C-4)."""


class DueSpan(NamedTuple):
    """What was `due` on one day becomes due on one of `days` days from `first` on."""

    due: int
    first: int
    days: int


def due_spans(overdue: Mapping[int, int], day: int, *, a_day: int) -> list[DueSpan]:
    """How to spread what is overdue on `day`, given how much was due on which day, with `a_day` checks a day.

    What has been due for longest comes first. What stays with `day` is left out: it is due as it is (D-364).
    """
    a_day = max(a_day, ceil(sum(overdue.values()) / LONGEST_DAYS), 1)
    spans = []
    before = 0
    for due, count in sorted(overdue.items()):
        first, last = day + before // a_day, day + (before + count - 1) // a_day
        before += count
        if last > day:
            spans.append(DueSpan(due, first, last - first + 1))
    return spans
