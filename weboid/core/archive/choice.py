"""The rule by which one capture of a URL is chosen: which rows may be it, and in which order they are tried (A-1, B-4).

A listing's rows alone decide here; what a copy shows is judged in ``verification``, what only redirects in
``redirect_copies``.
One law: what is chosen is one of the rows, of the same page, taken before the page's death and never after today; and
neither the order of the rows nor a row that may not be it changes the choice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum
from typing import Final, NamedTuple

from weboid.core.archive.captures import Capture
from weboid.core.document.portrait import Portrait
from weboid.core.url.urls import Url

MOST_TRIES: Final = 3
"""Copies that are played at most to find one that shows what was cited."""


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
    remembered of the living document (C-11); `today` is the day of the look-up.
    """

    url: Url
    wanted: datetime
    today: date
    last_alive: date | None = None
    portrait: Portrait | None = None


class Passed(NamedTuple):
    """A capture that was passed over, for the stable word `why`. `stamp` has 14 digits."""

    stamp: int
    why: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rows of one service for a wish: `best` are those that may show what was cited, the best first.

    `redirects` are captures of redirects that may be followed if none of `best` is good, nearest first; `passed` why
    others are not among them, by their moment. `changing`: the page is always changing, so nothing is chosen (A-1).
    `died` is the first moment at which the page is known to have been gone or in other hands, None if it is not known.
    """

    wish: Wish
    best: tuple[Capture, ...] = ()
    redirects: tuple[Capture, ...] = ()
    passed: tuple[Passed, ...] = ()
    changing: bool = False
    died: datetime | None = None


class Tried(NamedTuple):
    """A capture that was played, and the stable word why it is not good (``verification.verified``)."""

    capture: Capture
    why: str


def candidates(captures: Iterable[Capture], wish: Wish) -> Ranked:
    """Which rows of a listing may show what is wanted, in the order in which they should be tried. Never raises."""
    raise NotImplementedError


def next_try(ranked: Ranked, tried: Sequence[Tried]) -> Capture | None:
    """The capture to be played next, given what was played in vain; None if it is enough, or nothing is left.

    What was found decides where to go on: after a login wall the oldest, since walls came late; after a stranger's page
    an earlier time, since all that follows is the stranger's.
    """
    raise NotImplementedError


def note_of(capture: Capture, wish: Wish) -> Note:
    """What people should know of a capture that was chosen."""
    raise NotImplementedError


def similar_url(url: Url) -> Url | None:
    """The URL without what only identifies a session or a reader, to be asked for if nothing is known of `url`.

    None if it has nothing of the kind.
    """
    raise NotImplementedError


def is_kept(stored_wanted: date, wanted: date) -> bool:
    """Whether what was chosen for the moment `stored_wanted` stays chosen for `wanted`: a choice is made once."""
    raise NotImplementedError
