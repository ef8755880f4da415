"""What hosts need (C-1, C-6): the kinds of specials, and for how long each is believed.

One law: the numbers are stored and never change their meaning.
"""

from enum import IntEnum
from typing import Final


class Special(IntEnum):
    """A kind of special."""

    NEEDS_GET = 1


NEEDS_GET_DAYS: Final = 200
"""Days from the first sight for which a host is asked by GET only; then HEAD is tried anew (C-1)."""
