"""Chooses one capture of a URL: which rows of a listing may be it, and in which order they are tried (A-1, B-4).

What a copy shows is judged in ``verification``, what only redirects in ``redirect_copies``.
One law: no row that is worse changes the choice (`test_a_worse_row_never_changes_the_choice`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import IntEnum
from typing import Final, NamedTuple

from weboid.core.archive.captures import Capture, in_utc
from weboid.core.archive.rows.changing import is_changing
from weboid.core.archive.rows.fitness import REDIRECTS, PassedOver, Row, Wish, sort_rows
from weboid.core.url.spellings import archived, is_same_page

MOST_TRIES: Final = 3
"""Copies that are played at most to find one that shows the cited page."""
_YEAR: Final = timedelta(days=365)
_SOON: Final = timedelta(days=30)
_MONTHS: Final = timedelta(days=180)
_ALIKE: Final = 0.2
"""Captures whose lengths differ by a smaller share may show the same stranger's page."""

CHANGING: Final = "changing"
"""The word for a page that is always changing."""
UNPLAYED: Final = frozenset(
    {"other-moment", "no-moment", "status", "absent", "moved", "moved-far", "nothing", "withdrawn"}
)
"""Failures of the playing: they say nothing against other copies with the same content."""
STRANGERS: Final = frozenset({"parked", "for-sale", "replaced", "placeholder", "suspended", "soft-404", "in-trade"})
"""Pages found in place of a page that is gone; all later copies are like that, too."""
WALLS: Final = frozenset({"login", "redirect-to-login", "payment", "consent"})
"""Walls that sites build late: the oldest copies are from before them."""


UNSETTLED: Final = "unsettled"
"""The word for a good copy besides which one with another content is tried."""


class Note(IntEnum):
    """Remarks on a snapshot, in addition to its moment. The numbers are stored."""

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
class Ranked:
    """The rows of one service for a wish: `best` are those that may show the cited page, the best first.

    `redirects` are captures of redirects that may be followed if none of `best` is good, the best first; `passed` why
    others are not among them, by their moment. `changing`: the page is always changing, so none of them may be chosen
    until an administrator lifts that (A-1).
    `died` is the first moment at which the page is known to have been gone, None if that is not known. `why` is the
    stable word for what is wrong if it is changing, or has neither a best row nor a redirect, else empty.
    """

    wish: Wish
    best: tuple[Capture, ...] = ()
    redirects: tuple[Capture, ...] = ()
    passed: tuple[PassedOver, ...] = ()
    changing: bool = False
    died: datetime | None = None
    why: str = ""


class Tried(NamedTuple):
    """A capture that was played, and the stable word why it is not good (``verification.verified``)."""

    capture: Capture
    why: str


def candidates(captures: Iterable[Capture], wish: Wish) -> Ranked:
    """The rows of a listing that may show the cited page, in the order in which they should be tried. Never raises."""
    rows = sort_rows(captures, wish)
    cited = in_utc(wish.cited)
    best = (*_in_order(rows.good, wish, cited), *_in_order(rows.reserve, wish, cited))
    redirects = _in_order(rows.redirects, wish, cited)
    contents = {(row.taken, row.digest) for row in (*rows.good, *rows.reserve) if row.digest}
    changing = bool(best) and is_changing(contents, wish.url)
    why = CHANGING if changing else "" if best or redirects else _main_reason(rows.passed)
    return Ranked(wish, best, redirects, tuple(rows.passed), changing, rows.died, why)


def next_try(ranked: Ranked, tried: Sequence[Tried]) -> Capture | None:
    """The capture to be played next, given what was played in vain; None if it is enough, or nothing is left.

    After a wall it is the oldest, since walls came late; after a stranger's page an earlier one, since all that follows
    is the stranger's.
    """
    if len(tried) >= MOST_TRIES:
        return None
    left = _left(ranked, tried)
    if not tried or not left:
        return left[0] if left else None
    newest = tried[-1]
    at = in_utc(newest.capture.taken)
    earlier = [one for one in left if in_utc(one.taken) < at]
    if newest.why in STRANGERS:
        return _before_stranger(newest.capture, earlier, is_last=len(tried) == MOST_TRIES - 1) or left[0]
    if newest.why in WALLS and earlier:
        return min(earlier, key=_age)
    return left[0]


def note_of(capture: Capture, wish: Wish) -> Note:
    """The remark on a capture that was chosen."""
    form = archived(capture.original)
    if form is None or not is_same_page(form, wish.url):
        return Note.SIMILAR
    if capture.status in REDIRECTS:
        return Note.REDIRECTS
    return note_of_distance(in_utc(capture.taken) - in_utc(wish.cited))


def note_of_distance(distance: timedelta) -> Note:
    """The remark that follows from the time between citation and copy."""
    if abs(distance) <= _YEAR:
        return Note.NONE
    return Note.AFTER if distance > timedelta(0) else Note.BEFORE


def is_kept(stored_wanted: date, wanted: date) -> bool:
    """True if the copy chosen for the day `stored_wanted` stays chosen for `wanted`: a choice is made once."""
    return abs((wanted - stored_wanted).days) <= _YEAR.days


def _in_order(rows: list[Row], wish: Wish, cited: datetime) -> tuple[Capture, ...]:
    """The rows in the order of the rule: of each content first the row nearest to the citation, then all others.

    A content has the rank of its best row: it was there then. Redirects share one content, an empty one.
    """
    # An archive plays only one of several captures of a URL in one second.
    rows = list({(row.taken, row.form): row for row in sorted(rows, key=repr)}.values())

    def is_before(row: Row) -> bool:
        # Who cites a page reads it on that day (D-139).
        return row.taken.date() <= cited.date()

    # The last two only decide between spellings of one moment.
    rows.sort(key=lambda row: (abs(row.taken - cited), not is_before(row), row.form != wish.url, repr(row.given)))
    before = [row for row in rows if is_before(row)]
    after = [row for row in rows if not is_before(row)]
    soon = []
    if before and cited - before[0].taken > _YEAR:
        soon = [row for row in after if row.taken - cited < _SOON]
    ranked = (*soon, *before, *after)
    nearest: dict[str, Row] = {}
    for row in rows:
        nearest.setdefault(_content(row), row)
    return tuple(dict.fromkeys(row.given for row in (*(nearest[_content(row)] for row in ranked), *ranked)))


def _content(row: Row) -> str:
    return repr(row.given) if row.status in REDIRECTS or not row.digest else row.digest


def _left(ranked: Ranked, tried: Sequence[Tried]) -> list[Capture]:
    """The candidates that what was tried does not speak against, in order."""
    refused = {one.capture.digest for one in tried if one.capture.digest and one.why not in UNPLAYED}
    played = {one.capture for one in tried}
    left = [one for one in ranked.best if one not in played and one.digest not in refused]
    for one in tried:
        if one.why in STRANGERS:
            at = in_utc(one.capture.taken)
            # If there is nothing older, the domain was another owner's before it was that of the page.
            if any(in_utc(row.taken) < at for row in ranked.best):
                left = [row for row in left if in_utc(row.taken) < at]
    return left


def _before_stranger(stranger: Capture, earlier: list[Capture], *, is_last: bool) -> Capture | None:
    """The capture to try after a stranger's page: the newest that is unlike it, in the last try the oldest."""
    if not earlier:
        return None
    newest_first = sorted(earlier, key=_age, reverse=True)
    if is_last:
        return newest_first[-1]
    return next((one for one in newest_first if not _looks_like(one, stranger)), newest_first[-1])


def _looks_like(one: Capture, stranger: Capture) -> bool:
    """True if a capture may be of the same stranger: of a similar length, or, if that is not known, of that time."""
    if one.length and stranger.length:
        return abs(one.length - stranger.length) < _ALIKE * max(one.length, stranger.length)
    return abs(in_utc(one.taken) - in_utc(stranger.taken)) < _MONTHS


def _age(capture: Capture) -> tuple[datetime, str]:
    return in_utc(capture.taken), repr(capture)


_REASONS: Final = ("gone", "after-death", "wrong-type", "shared-content", "empty", "revisit", "status", "other-page")
"""The reasons that say most of a page without a good copy, the first one most."""


def _main_reason(passed: Sequence[PassedOver]) -> str:
    words = {one.why for one in passed}
    return next((word for word in _REASONS if word in words), min(words, default=""))
