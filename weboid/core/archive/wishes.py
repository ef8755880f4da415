"""The values of a choice: what is wanted, and what became of each row that a service lists (A-1, B-4).

The rule itself is in ``choice``, which passes these values on.
"""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import IntEnum
from typing import NamedTuple

from weboid.core.archive.captures import Capture
from weboid.core.document.portrait import Portrait
from weboid.core.url.archives import snapshot_of
from weboid.core.url.urls import Url


class Note(IntEnum):
    """What people should know of a snapshot beside its moment. The numbers are stored."""

    NONE = 0
    REDIRECTS = 1
    """The copy redirects to another one, as the page did when it was taken."""
    AFTER = 2
    """It was taken over a year after the citation."""
    SIMILAR = 3
    """It is of the URL without a session's identifier or a reader's tracking, not of the URL as cited."""
    BEFORE = 4
    """It was taken over a year before the citation."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted: a copy of `url` as it was at the moment `wanted` (in UTC), that of the citation.

    `last_alive` is the day of the last check that found the page alive, None if that is not known; `portrait` what is
    remembered of the living document (C-11), `mime` its keyword (U-6); `today` is the day of the look-up.
    """

    url: Url
    wanted: datetime
    today: date
    last_alive: date | None = None
    portrait: Portrait | None = None
    mime: str | None = None


class Passed(NamedTuple):
    """A capture that was passed over, for the stable word `why`. `stamp` has 14 digits."""

    stamp: int
    why: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rows of one service for a wish: `best` are those that may show what was cited, the best first.

    `redirects` are captures of redirects that may be followed if none of `best` is good, the best first; `passed` why
    others are not among them, by their moment. `changing`: the page is always changing, so nothing is chosen (A-1).
    `died` is the first moment at which the page is known to have been gone, None if that is not known. `why` is the
    stable word for what is wrong if there is neither a best row nor a redirect, else empty.
    """

    wish: Wish
    best: tuple[Capture, ...] = ()
    redirects: tuple[Capture, ...] = ()
    passed: tuple[Passed, ...] = ()
    changing: bool = False
    died: datetime | None = None
    why: str = ""


class Tried(NamedTuple):
    """A capture that was played, and the stable word why it is not good (``verification.verified``)."""

    capture: Capture
    why: str


def stamp14(moment: datetime) -> int:
    """The 14 digits of a moment, as archives write it."""
    day = (moment.year * 100 + moment.month) * 100 + moment.day
    return ((day * 100 + moment.hour) * 100 + moment.minute) * 100 + moment.second


def in_utc(moment: datetime) -> datetime:
    """A moment in UTC, to the second; one without a time zone is taken for UTC."""
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(UTC)
        except OverflowError:  # within a day of the first or the last moment that there is
            moment = moment.replace(tzinfo=UTC)
    return moment.replace(tzinfo=UTC, microsecond=0)


def of_original(wish: Wish) -> Wish:
    """The wish for the original, if the wanted URL is itself a copy in an archive: as it was when that was taken."""
    found = snapshot_of(str(wish.url))
    if found is None or found.original is None:
        return wish
    return replace(wish, url=found.original, wanted=found.taken or wish.wanted)
