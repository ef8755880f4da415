"""What the made-up archive has of the story's links, and what becomes of it; content only.

Days count from the beginning of the story, and are negative before it. Of what is not here the archive has nothing.
One law: each state of a copy that people may be told is here once, and `EXPECTED` says of which link.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from weboid.demo.littlearchive import LittleCapture, moment_on
from weboid.demo.world import Code, Page

CAPTURED: Final[Mapping[str, tuple[tuple[int, Page | Code], ...]]] = {
    # Three good ones, and one that came too late.
    "http://tidalmill.demo/opening-hours": (
        (-700, Page(title="Opening hours")),
        (-40, Page(title="Opening hours")),
        (5, Page(title="Opening hours")),
        (20, Code(404)),
    ),
    # It came at a bad moment.
    "http://brewery.demo/pans": ((-200, Code(404)),),
    "http://ferryline.demo/fares": ((-90, Page(title="Fares")),),
    "http://museum.demo/object/77": ((-300, Page(title="A figurehead")),),
    "http://observatory.demo/fog": ((-1200, Page(title="Days with fog, by year")),),
}
CITED: Final = ("20190611120000", "http://ferryline.demo/timetable", Page(title="Timetable of the ferry"))
"""The copy that a page links to."""

EXCLUDED: Final[Mapping[str, int]] = {
    "http://ferryline.demo/fares": -90,
    "http://museum.demo/object/77": 36,
}
"""From which day on the archive shows nothing of a URL: its owner has asked for that."""
LOOKED_UP_UNTIL: Final = 61
"""What begins to fail after this day waits in the queue: archives allow few look-ups a minute."""
QUARTER_DAYS: Final = 14
"""Kept copies are visited so often in the story, which has not the time for quarters."""

EXPECTED: Final[Mapping[str, str]] = {
    "http://tidalmill.demo/opening-hours": "found",
    "http://ferryline.demo/timetable": "found",
    "http://tidalmill.demo/brochure": "none",
    "http://brewery.demo/pans": "unsuitable",
    "http://ferryline.demo/fares": "excluded",
    "http://museum.demo/object/77": "withdrawn",
    "http://pilots.demo/rules": "pending",
}
"""What must be told of copies of these links at the end of the story, by the stable word."""


def demo_captures(first_day: int, located: Callable[[str], str]) -> list[LittleCapture]:
    """All captures of a story that begins on a day, with the URLs that its wiki has."""
    return list(_captures(first_day, located))


def _captures(first_day: int, located: Callable[[str], str]) -> Iterator[LittleCapture]:
    for url, captured in CAPTURED.items():
        for day, shown in captured:
            yield LittleCapture(located(url), moment_on(first_day + day), shown)
    stamp, url, shown = CITED
    yield LittleCapture(located(url), datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC), shown)


def demo_excluded(first_day: int, located: Callable[[str], str]) -> dict[str, int]:
    """From which day on the archive shows nothing of which URLs."""
    return {located(url): first_day + day for url, day in EXCLUDED.items()}
