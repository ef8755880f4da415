"""gadget/history.js in a browser: the same bars as weboid/web/pages/url.py has."""

import random
from dataclasses import asdict
from datetime import date, timedelta
from typing import Final

import pytest
from playwright.async_api import Page
from support.browser import needs_browser

from weboid.core.record.history import LIMIT, Entry, History
from weboid.core.record.reasons import status_outcome
from weboid.core.record.status import Status
from weboid.web.formats.bar_chart import WIDTH, bars_of

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]

_BARS: Final = "asked => asked.map( ( [ history, day ] ) => require( './history.js' ).bars( history, day ) )"
_DAY_0: Final = date(2016, 1, 1)
_ONE: Final = {"first": "2016-05-03", "last": "2016-05-04", "outcome": "working"}


def _iso(day: int) -> str:
    return (_DAY_0 + timedelta(day)).isoformat()


def _reported(history: History) -> list[dict[str, str]]:
    """A history as an answer of the API tells it."""
    return [
        {"first": _iso(entry.first), "last": _iso(entry.last), "outcome": status_outcome(entry.status).value}
        for entry in history
    ]


async def test_histories_have_the_bars_that_python_gives(blank: Page) -> None:
    chance = random.Random(16)
    asked: list[tuple[History, int]] = [((), 5)]
    for longest in (3, 16, 100, 4_000):
        for _ in range(250):
            days = sorted(chance.randint(0, longest) for _ in range(2 * chance.randint(1, LIMIT)))
            entries = [
                Entry(chance.choice(list(Status)), *days[at : at + 2]) for at in reversed(range(0, len(days), 2))
            ]
            # Also a day before the newest entry's: a clock that was set back.
            asked.append((tuple(entries), days[-1] + chance.randint(-1, 20)))
    found = await blank.evaluate(_BARS, [[_reported(history), _iso(day)] for history, day in asked])
    expected = [[asdict(bar) for bar in bars_of(history, day)] for history, day in asked]
    assert [each for each in zip(asked, expected, found, strict=True) if each[1] != each[2]] == []
    assert await blank.evaluate("require( './history.js' ).WIDTH") == WIDTH


async def test_a_history_that_is_none_has_no_bars(blank: Page) -> None:
    for history, day in [
        ([_ONE | {"first": "x"}], "2016-06-01"),
        ([_ONE | {"last": None}], "2016-06-01"),
        ([_ONE | {"last": "2016-02-31"}, _ONE], "2016-13-01"),
        ([_ONE | {"outcome": '"><script>'}], "2016-06-01"),
        ([{}], "2016-06-01"),
        ([_ONE], None),
        ([_ONE], "tomorrow"),
    ]:
        assert await blank.evaluate(_BARS, [[[_ONE], "2016-06-01"], [history, day]]) == [
            [{"x": 0, "width": 40, "outcome": "working"}],
            [],
        ]


async def test_no_history_has_more_than_five_bars(blank: Page) -> None:
    (bars,) = await blank.evaluate(_BARS, [[[_ONE] * 1_000, "2016-06-01"]])
    assert len(bars) == LIMIT
