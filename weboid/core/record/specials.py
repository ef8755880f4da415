"""What hosts need (C-1, C-6): the kinds of specials, what is remembered of each, and for how long it is believed.

One law: the numbers are stored and never change their meaning.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple


class Special(IntEnum):
    """A kind of special. HONEST = the host said of a made-up address that it is missing (C-11)."""

    NEEDS_GET = 1
    NEEDS_HTTPS = 2
    NEEDS_HTTP = 3
    NEEDS_REFERRER = 4
    HONEST = 5


class Sight(NamedTuple):
    """The first and the last day on which a special was seen."""

    since: int
    until: int


Sights = Mapping[Special, Sight]

INHERITED: Final = frozenset(Special) - {Special.HONEST}
"""What holds for subdomains, too (C-0)."""
KEPT_DAYS: Final = 100
"""Seen again after so many days, a special begins anew (C-6)."""
NEEDS_GET_DAYS: Final = 200
"""Days after the last sight for which a host is asked by GET only; then HEAD is tried anew (C-1)."""
_HONEST_DAYS: Final = 56
_RETRIED_FROM: Final = 10
_RETRIED_UNTIL: Final = 30


def believed(sights: Sights, day: int, spread: int) -> frozenset[Special]:
    """The specials that a check on `day` goes by; the others are tried anew.

    `spread`, any number of the host's own, decides when between 10 and 30 days a host's turn comes (C-6).
    """
    return frozenset(kind for kind, sight in sights.items() if day - sight.until < _believed_days(kind, spread))


def _believed_days(kind: Special, spread: int) -> int:
    match kind:
        case Special.NEEDS_GET:
            return NEEDS_GET_DAYS
        case Special.HONEST:
            return _HONEST_DAYS
        case Special.NEEDS_HTTPS | Special.NEEDS_HTTP | Special.NEEDS_REFERRER:
            return _RETRIED_FROM + spread % (_RETRIED_UNTIL - _RETRIED_FROM + 1)
