"""Counts what a task does, and proves at every moment that nothing is lost (R-4)."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["downloaded", "hits", "failed"]


class CountsDiffer(Exception):
    """A document is lost, or counted twice: a fault of the robot."""


@dataclass(slots=True)
class Statistics:
    """The numbers of a task; all but `filtered_by` are URLs, each time that they are found."""

    checked: int = 0
    queued: int = 0
    filtered: int = 0
    seen: int = 0
    downloaded: int = 0
    hits: int = 0
    failed: int = 0
    dropped: int = 0
    """Cancelled, expired, too deep by changed orders, or over the most downloads."""
    waiting: int = 0
    open: int = 0
    not_modified: int = 0
    """Of the downloads."""
    same_content: int = 0
    """Of the downloads and hits: the content has another URL, too."""
    filtered_by: Counter[str] = field(default_factory=Counter)
    """For each filter of links by name, those that it kept away."""
    stopped_by: Counter[str] = field(default_factory=Counter)
    """For each filter of pages by name, the pages whose links were not followed."""

    def find(self, filter_name: str | None, *, is_new: bool) -> None:
        """Counts a found URL: kept away by a filter, or new, or seen."""
        self.checked += 1
        if filter_name is not None:
            self.filtered += 1
            self.filtered_by[filter_name] += 1
        elif is_new:
            self.queued += 1
            self.waiting += 1
        else:
            self.seen += 1
        self.verify()

    def begin(self) -> None:
        """Counts a document that a loader takes."""
        self.waiting -= 1
        self.open += 1
        self.verify()

    def drop(self, number: int = 1) -> None:
        """Counts entries that are never begun."""
        self.waiting -= number
        self.dropped += number
        self.verify()

    def end(self, outcome: Outcome) -> None:
        """Counts a document that was open."""
        self.open -= 1
        setattr(self, outcome, getattr(self, outcome) + 1)
        self.verify()

    def verify(self) -> None:
        """Raises CountsDiffer unless all found URLs, and all queued ones, are accounted for."""
        ended = self.downloaded + self.hits + self.failed + self.dropped
        if (
            self.checked != self.queued + self.filtered + self.seen
            or self.queued != ended + self.waiting + self.open
            or self.waiting < 0
            or self.open < 0
        ):
            raise CountsDiffer(str(self))
