"""Orders of a task as people give them, in whole numbers of which -1 is no limit (R-1, R-7); they become Orders when
the task begins, so that periods count from then on.

What is not here holds for every task that is ordered: robots.txt is obeyed, and all traps are recognised.
"""

from dataclasses import dataclass
from math import inf
from typing import Annotated, Final

from msgspec import Meta

from weboid.robot.orders import Orders, Restriction
from weboid.robot.plugins import plugin
from weboid.robot.traps import TRAPS

NO_LIMIT: Final = -1
_MOST_NAMES: Final = 20
_Minutes = Annotated[int, Meta(ge=NO_LIMIT, le=525_600)]
_Names = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=_MOST_NAMES)]


@dataclass(frozen=True, slots=True)
class WantedTask:
    """All that can be ordered of a task besides its starts."""

    depth: Annotated[int, Meta(ge=NO_LIMIT, le=1_000)] = 3
    restriction: Restriction = Restriction.INTERNAL
    head_only: bool = False
    expires_min: _Minutes = NO_LIMIT
    """Minutes after the order, after which no document is begun."""
    pages: Annotated[int, Meta(ge=NO_LIMIT, le=1_000_000)] = NO_LIMIT
    """Documents that are loaded, within what is configured."""
    most_bytes: Annotated[int, Meta(ge=NO_LIMIT, le=1_000_000_000)] = NO_LIMIT
    most_seconds: Annotated[int, Meta(ge=NO_LIMIT, le=3_600)] = NO_LIMIT
    uses_cache: bool = True
    reload_min: _Minutes = 1_440
    """A day: without a limit a second run would take its start from the cache, and find nothing new."""
    tests_content: bool = True
    needs_source: bool = False
    checks_external: bool = True
    checks_fragments: bool = False
    priority: Annotated[int, Meta(ge=-100, le=100)] = 0
    page_classifiers: _Names = ()
    page_filters: _Names = ()
    link_classifiers: _Names = ()
    link_filters: _Names = ()

    def orders(self, *, age_s: float, clock_s: float, now_s: float, most_pages: int) -> Orders:
        """The orders of a task that was ordered `age_s` seconds ago, by the robot's clock and the seconds since 1970;
        raises ConfigError for an unknown name."""
        for name in (*self.page_classifiers, *self.page_filters, *self.link_classifiers, *self.link_filters):
            plugin(name)
        return Orders(
            _limit(self.depth),
            self.restriction,
            head_only=self.head_only,
            expires=clock_s + 60 * _limit(self.expires_min) - age_s,
            most_downloads=min(_limit(self.pages), most_pages),
            uses_cache=self.uses_cache,
            reloads_before=now_s - 60 * _limit(self.reload_min),
            most_bytes=_limit(self.most_bytes),
            most_seconds=_limit(self.most_seconds),
            tests_content=self.tests_content,
            needs_source=self.needs_source,
            priority=self.priority,
            page_classifiers=self.page_classifiers,
            page_filters=self.page_filters,
            link_classifiers=self.link_classifiers,
            link_filters=tuple(dict.fromkeys((*self.link_filters, "robots", *TRAPS))),
        )


def _limit(number: int) -> float:
    return inf if number == NO_LIMIT else number
