"""The names of the figures that crawlers write with their sign of life (O-5).

Counting is the business of ``crawl/figures``, showing them that of ``web/health``. One law: a name keeps its meaning,
as crawlers and webservices of different versions share a store.
"""

from enum import StrEnum
from typing import Final

from weboid.core.record.reasons import Reason

BUCKETS_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Bounds of the buckets for how long a check takes, in seconds; one more bucket has what takes longer."""


class CrawlerFigure(StrEnum):
    """Figures besides those by reason and by bucket."""

    SECONDS = "check_seconds"
    OPEN = "checks_open"
    NOT_ASKED = "not_asked"
    POSTPONED = "postponed"
    HELD = "held"
    INFERRED = "inferred"
    OWN_FAULTS = "own_faults"
    SEATS = "seats"
    SEATS_USED = "seats_used"
    LOOP_LAG = "loop_lag_seconds"
    IDLE = "idle_seconds"
    NAME_QUERIES = "name_queries"
    NAME_FAILURES = "name_failures"


def reason_figure(reason: Reason) -> str:
    """The figure that counts checks with a reason."""
    return f"checks:{reason.word}"


def bucket_figure(place: int) -> str:
    """The figure that counts checks in one bucket alone, by its place."""
    return f"check_seconds:{place}"
