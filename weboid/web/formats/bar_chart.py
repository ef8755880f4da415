"""Pictures of figures and of histories as bars, always next to the same in words; templates write the large ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from markupsafe import escape

from weboid.core.record.history import History
from weboid.core.record.reasons import status_outcome
from weboid.core.record.status import Status
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import around_days

BAR_WIDTH: Final = 10
BAR_HEIGHT: Final = 48
WIDTH: Final = 600
"""Of the chart of a history."""
_LEAST_WIDTH: Final = 6
"""Of a bar, so that a single day can be seen."""
_SMALL: Final = 96
_LEAST_SMALL: Final = 3
_BEGIN: Final = f'<svg class="past" viewBox="0 0 {_SMALL} 13" role="img"><title>'
_HEIGHTS: Final = {"working": 12, "doubtful": 8, "failing": 4}
"""Of the bars of the small picture, which is 13 high: higher is better, so that nothing is shown by colour alone."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A status of a URL over some days: a bar at `x` that is `width` wide, out of `WIDTH`."""

    x: int
    width: int
    outcome: str


def bar_chart(values: Sequence[int], words: str, most: str, verdict: str = "") -> dict[str, Any]:
    """Bars, one for each day, with a scale of their own: rare figures would not be seen next to common ones."""
    top = max(values)
    bars = [
        {"x": place * BAR_WIDTH, "height": max(1, round(BAR_HEIGHT * value / top))}
        for place, value in enumerate(values)
        if value
    ]
    return {"verdict": verdict, "words": words, "most": most, "bars": bars, "width": len(values) * BAR_WIDTH}


def bars_of(history: History, day: int) -> list[Bar]:
    """The bars of a history, oldest first, on a line from its first day to `day`; the gaps between them are unknown.

    They show nothing that the page does not say in words, too (U-3).
    """
    if not history:
        return []
    first = history[-1].first
    scale = WIDTH / (max(day, history[0].last) - first + 1)
    bars: list[Bar] = []
    for entry in reversed(history):
        width = max(_LEAST_WIDTH, round((entry.last - entry.first + 1) * scale))
        x = min(round((entry.first - first) * scale), WIDTH - width)
        bars.append(Bar(x, width, status_outcome(entry.status).value))
    return bars


def history_svg(history: History, day: int, say: Messages) -> str:
    """The small picture of a history, of at most five bars, with its entries in words, which are read instead.

    A page has hundreds of them, mostly different ones, so it makes no `Bar`.
    """
    first, words, bars, dates = history[-1].first, [], "", say.dates
    scale = _SMALL / (max(day, history[0].last) - first + 1)
    for status, begin, end in history:
        (before, after), (at, high) = around_days(status, say), _small_bar(status)
        words.append(f"{before}{dates(begin, end)}{after}")
        wide, place = round((end - begin + 1) * scale), round((begin - first) * scale)
        if wide < _LEAST_SMALL:  # quicker than max() and min()
            wide = _LEAST_SMALL
        bars += f'{at}{place if place < _SMALL - wide else _SMALL - wide}{high}{wide}V13"/>'
    return f"{_BEGIN}{escape(' · '.join(words))}</title>{bars}</svg>"


@cache
def _small_bar(status: Status) -> tuple[str, str]:
    outcome = status_outcome(status).value
    return f'<path class="{outcome}" d="M', f" 13v-{_HEIGHTS[outcome]}h"
