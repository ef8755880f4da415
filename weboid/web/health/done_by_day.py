"""The work of each day of the last weeks, as charts with a table, and for programs (O-5).

The sums are made by ``store/schedule/days``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.record.days import iso
from weboid.store.lists.health import TOTAL_DAYS, Health
from weboid.store.schedule.days import DayFigure
from weboid.web.formats.bar_chart import bar_chart
from weboid.web.words.messages import Messages

CHECKS: Final = (DayFigure.WORKING, DayFigure.DOUBTFUL, DayFigure.REFUSED, DayFigure.FAILING)


@dataclass(frozen=True, slots=True)
class _Column:
    """One figure of a day: the key of its words, its value, its format; `has_picture`: it has a chart."""

    key: str
    value: Callable[[Health, int], int]
    is_time: bool = False
    has_picture: bool = False

    def words(self, value: int, say: Messages) -> str:
        return say.duration(value) if self.is_time and value else say.number(value)


def _total(*figures: DayFigure) -> Callable[[Health, int], int]:
    return lambda status, day: sum(status.totals.get(day, {}).get(figure, 0) for figure in figures)


def _pass_s(status: Health, day: int) -> int:
    """The average seconds of the passes that ended on that day."""
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


def done_view(status: Health, say: Messages) -> dict[str, Any]:
    """The sums for the template of the status page; nothing if nothing was done."""
    if not status.totals:
        return {"done": None}
    days = range(status.day - TOTAL_DAYS + 1, status.day + 1)
    pictures = []
    for column in _COLUMNS:
        values = [column.value(status, day) for day in days]
        if column.has_picture and any(values):
            pictures.append(bar_chart(values, say.text(column.key), column.words(max(values), say)))
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
