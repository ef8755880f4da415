"""What was done on each day of the last weeks, as pictures with a table, and for programs (O-5).

The sums are made by ``store/schedule/days``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.record.days import iso
from weboid.store.lists.health import TOTAL_DAYS, Health
from weboid.store.schedule.days import DayFigure
from weboid.web.words.messages import Messages

CHECKS: Final = (DayFigure.WORKING, DayFigure.DOUBTFUL, DayFigure.REFUSED, DayFigure.FAILING)


@dataclass(frozen=True, slots=True)
class _Column:
    """One figure of a day: the key of its words, what it is, and how it is written; whether it has a picture."""

    key: str
    value: Callable[[Health, int], int]
    is_time: bool = False
    has_picture: bool = False

    def words(self, value: int, say: Messages) -> str:
        return say.duration(value) if self.is_time and value else say.number(value)


def _total(*figures: DayFigure) -> Callable[[Health, int], int]:
    return lambda status, day: sum(status.totals.get(day, {}).get(figure, 0) for figure in figures)


def _pass_s(status: Health, day: int) -> int:
    """How long a pass took that ended on that day, on the average."""
    totals = status.totals.get(day, {})
    return totals.get(DayFigure.PASS_SECONDS, 0) // max(totals.get(DayFigure.PASSES, 0), 1)


_COLUMNS: Final = (
    _Column("weboid-status-done-checks", _total(*CHECKS), has_picture=True),
    _Column("weboid-status-done-working", _total(DayFigure.WORKING)),
    _Column("weboid-status-done-doubtful", _total(DayFigure.DOUBTFUL)),
    _Column("weboid-status-done-refused", _total(DayFigure.REFUSED)),
    _Column("weboid-status-done-failing", _total(DayFigure.FAILING), has_picture=True),
    _Column("weboid-status-done-rounds", _total(DayFigure.ROUND_SECONDS), is_time=True, has_picture=True),
    _Column("weboid-status-done-passes", _total(DayFigure.PASSES)),
    _Column("weboid-status-done-pass", _pass_s, is_time=True, has_picture=True),
)


def done_payload(status: Health) -> list[dict[str, Any]]:
    """The sums for programs: the days on which anything was done, oldest first."""
    return [
        {"day": iso(day), **{figure.value: status.totals[day].get(figure, 0) for figure in DayFigure}}
        for day in sorted(status.totals)
    ]


def done_view(status: Health, say: Messages, *, bar_width: int, bar_height: int) -> dict[str, Any]:
    """The values that the template of the status page shows; nothing if nothing was done."""
    if not status.totals:
        return {"done": None}
    days = range(status.day - TOTAL_DAYS + 1, status.day + 1)
    pictures = [
        picture
        for column in _COLUMNS
        if column.has_picture
        for picture in _pictured(column, [column.value(status, day) for day in days], say, bar_width, bar_height)
    ]
    rows = [
        {
            "iso": iso(day),
            "day": say.date(day),
            "amounts": [column.words(column.value(status, day), say) for column in _COLUMNS],
        }
        for day in reversed(days)
        if day in status.totals
    ]
    return {
        "done": {
            "days": len(days),
            "first": say.date(days[0]),
            "pictures": pictures,
            "headings": [say.text(column.key) for column in _COLUMNS],
            "rows": rows,
        }
    }


def _pictured(
    column: _Column, values: Sequence[int], say: Messages, bar_width: int, bar_height: int
) -> Iterator[dict[str, Any]]:
    """Bars, one for each day, each picture with its own scale; none if all are 0."""
    if not (most := max(values)):
        return
    yield {
        "verdict": "",
        "words": say.text(column.key),
        "most": column.words(most, say),
        "bars": [
            {"x": place * bar_width, "height": max(1, round(bar_height * value / most))}
            for place, value in enumerate(values)
            if value
        ],
        "width": len(values) * bar_width,
    }
