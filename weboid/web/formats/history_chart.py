"""A small chart of a history (U-3): what a URL answered when, as bars on a time line.

The words to it are made in ``web/words/phrases``; ``url.html`` draws it.
One law: it holds numbers and our own words only, and shows nothing that the page does not also say in words.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.record.history import History
from weboid.core.record.reasons import status_outcome

WIDTH: Final = 600
_LEAST: Final = 6
"""Width of the narrowest bar, so that a single day can be seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a URL answered over some days: a bar at `x` that is `width` wide, out of `WIDTH`."""

    x: int
    width: int
    outcome: str


def bars_of(history: History, day: int) -> list[Bar]:
    """The bars of a history, oldest first, on a line from its first day to `day`; the gaps between them are unknown."""
    if not history:
        return []
    first = history[-1].first
    scale = WIDTH / (max(day, history[0].last) - first + 1)
    bars: list[Bar] = []
    for entry in reversed(history):
        width = max(_LEAST, round((entry.last - entry.first + 1) * scale))
        x = min(round((entry.first - first) * scale), WIDTH - width)
        bars.append(Bar(x, width, status_outcome(entry.status).value))
    return bars
