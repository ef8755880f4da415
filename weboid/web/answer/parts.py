"""Cuts answers: how many links of which pages one answer has, and where the next one goes on (W-8). Pure.

One law: an answer has at most `MOST_LINKS` links; whatever else its pages have is neither parsed nor looked up for it.
Parts that follow each other have each link of a page that does not change once.
"""

from collections.abc import Callable, Sequence
from typing import Final
from zlib import crc32

from weboid.core.verdict.link_report import LinkPart
from weboid.web.request.parameters import Bookmark

MOST_LINKS: Final = 2_000
"""Of one answer, as its pages have them: of one normal form there may be several (D-167)."""


class Cutter:
    """Takes links of one page after the other, from a bookmark on, until an answer is full."""

    def __init__(self, begin: Bookmark, most: int | None = None) -> None:
        self._begin = begin
        self.left = MOST_LINKS if most is None else most
        self.cut: Bookmark | None = None
        """Where the page that was cut goes on, None while none was."""

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another page."""
        return self.left == 0 or self.cut is not None

    def first_of(self, index: int) -> int:
        """The number of the link with which the page of this place may go on: 0 unless the bookmark lies in it."""
        return self._begin.offset if index == self._begin.index else 0

    def goes_on(self, index: int, total: int, revision: int, check: Callable[[], str]) -> bool:
        """Whether the page still is as it was when the bookmark was made; else it begins anew."""
        begin = self._begin
        return 0 < self.first_of(index) < total and begin.revision == revision and begin.check == check()

    def take(self, index: int, total: int, revision: int, check: Callable[[], str]) -> LinkPart:
        """The links that the answer has of a page with `total` links, whose `check` differs if they do."""
        first = self.first_of(index) if self.goes_on(index, total, revision, check) else 0
        end = min(total, first + self.left)
        self.left -= end - first
        if end < total:
            self.cut = Bookmark(index, end, revision, check())
        return LinkPart(first, end, total)


def check_of(urls: Sequence[str]) -> str:
    """A check of a page's links: templates and the store change them without a new revision (D-168)."""
    return f"{crc32(chr(10).join(urls).encode('utf-8', 'replace')):x}"


def shown_part(part: LinkPart) -> LinkPart | None:
    """The part as answers show it: None if it is all of the page."""
    return None if part.first == 0 and part.end == part.total else part
