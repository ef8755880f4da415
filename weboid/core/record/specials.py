"""Specials: the needs of a host for a correct check (C-1, C-6), when they were seen, and how long they are believed.

The numbers are stored and never change their meaning.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple


class Special(IntEnum):
    """A kind of special.

    RETURNED = the host came back after its name or it itself had been gone; until its URLs have been looked at, who
    answers may be a stranger. NEW_OWNER = other documents have taken the places of all that it had. 5 was a host's
    honesty, now part of its face (``core/document/face``). There are none of URLs (D-498).
    """

    NEEDS_GET = 1
    NEEDS_HTTPS = 2
    NEEDS_HTTP = 3
    NEEDS_REFERRER = 4
    RETURNED = 6
    NEW_OWNER = 7
    NEEDS_BROWSER = 8
    """It answers well only to the headers of a browser (C-2)."""


class Sight(NamedTuple):
    """The first and the last day on which a special was seen."""

    since: int
    until: int


Sights = Mapping[Special, Sight]

INHERITED: Final = frozenset(Special) - {Special.RETURNED, Special.NEW_OWNER}
"""Specials that apply to subdomains, too (C-0)."""
KEPT_DAYS: Final = 100
"""If a special is seen again after so many days, its first day is set anew (C-6)."""
NEEDS_GET_DAYS: Final = 200
"""Days after the last sighting in which a host is requested by GET only; then HEAD is tried again (C-1)."""
_RETRIED_FROM: Final = 10
_RETRIED_UNTIL: Final = 30


def believed(sights: Sights, day: int, spread: int) -> frozenset[Special]:
    """The specials that a check on `day` relies on; the others are tested again.

    `spread`, a number that depends on the host, decides after how many days (10 to 30) the host is tested again (C-6).
    """
    return frozenset(kind for kind, sight in sights.items() if day - sight.until < _believed_days(kind, spread))


def _believed_days(kind: Special, spread: int) -> int:
    match kind:
        case Special.NEEDS_GET:
            return NEEDS_GET_DAYS
        case Special.RETURNED | Special.NEW_OWNER:
            return 0  # An event, and nothing to rely on.
        case Special.NEEDS_HTTPS | Special.NEEDS_HTTP | Special.NEEDS_REFERRER | Special.NEEDS_BROWSER:
            return _RETRIED_FROM + spread % (_RETRIED_UNTIL - _RETRIED_FROM + 1)
