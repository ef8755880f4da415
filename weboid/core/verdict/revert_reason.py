"""Why people take back the repairs of bots: the stable words of journals, reports and ``POST /api/reverts`` (B-6).

Which of them it was is found out by ``bot/reverts``.
"""

from enum import StrEnum


class RevertReason(StrEnum):
    """Probably why; the value is the stable word."""

    VANDALISM_REVERT = "vandalism-revert"
    """Others were meant: the page was restored to what it had been before the text that we edited."""
    WHOLE_PAGE = "whole-page"
    """All of our edit was undone, without a word why."""
    LINK_WORKS = "link-works"
    WRONG_COPY = "wrong-copy"
    STYLE = "style"
    """What we wrote stands there in another form."""
    LINK_REMOVED = "link-removed"
    UNKNOWN = "unknown"
