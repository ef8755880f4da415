"""The outcomes of a look-up at a web archive (A-2), kept apart, and for how long each holds."""

from enum import Enum
from typing import Final


class LookupOutcome(Enum):
    """The knowledge of the copies of a URL at a service: a stored number that never changes its meaning, its word, and
    for how many days it holds. For the precedence among several services see `overall`."""

    FOUND = (1, "found", 91)
    """There is a copy that shows the cited page."""
    NONE = (2, "none", 90)
    """Two independent voices say that there is no copy."""
    UNSUITABLE = (3, "unsuitable", 90)
    """There are copies, and none is good (A-1)."""
    EXCLUDED = (4, "excluded", 90)
    """There may be copies, and the service does not show them."""
    UNKNOWN = (5, "unknown", 7)
    """The service answered, and its answer proves nothing."""
    ERROR = (6, "error", 1)
    """The service did not answer, or not with an answer."""

    def __init__(self, number: int, word: str, kept_days: int) -> None:
        self.number = number
        self.word = word
        self.kept_days = kept_days


BY_NUMBER: Final = {outcome.number: outcome for outcome in LookupOutcome}

_ORDER: Final = ("found", "error", "unsuitable", "excluded", "unknown", "none")


def overall(outcomes: list[LookupOutcome]) -> LookupOutcome:
    """The outcome over several services: NONE only if all of them say so, UNKNOWN if none was asked (D-154)."""
    return min(outcomes, key=lambda outcome: _ORDER.index(outcome.word), default=LookupOutcome.UNKNOWN)
