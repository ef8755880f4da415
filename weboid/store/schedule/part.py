"""The parts that run: which process does what since when, and when it was last seen (O-5).

A part writes its row while it lives; all times are by the clock of the database. One law: of an exclusive role no two
rows have been seen within `EXPIRY_S`.
"""

from enum import Enum
from typing import Final

EXPIRY_S: Final = 60.0
"""Seconds after which a part that was not seen counts as gone."""


class PartRole(Enum):
    """The roles of parts, by their commands' words. Of an exclusive one a store has one part at a time."""

    CRAWL = "crawl"
    FEED = "feed"
    EVENTS = "events"
    ARCHIVE = "archive"
    MAINTAIN = "maintain"
    WEB = "web"
    UP = "up"

    @property
    def is_exclusive(self) -> bool:
        """Whether a second one would only do the same work again."""
        return self in (PartRole.FEED, PartRole.EVENTS, PartRole.MAINTAIN, PartRole.UP)
