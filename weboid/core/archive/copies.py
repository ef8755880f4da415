"""The copies of a URL as they are shown: a state, and the snapshots, first the one that is shown (A-1, W-8).

Words for people are in ``web/words``; `snapshots_as_json` is the one dictionary form.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.captures import in_utc
from weboid.core.archive.choice import Note, note_of_distance
from weboid.core.record.days import date_of, iso
from weboid.core.url.archives import Archive


class CopyState(StrEnum):
    """The knowledge of the copies of a URL, over all services."""

    FOUND = "found"
    NONE = "none"
    UNSUITABLE = "unsuitable"
    EXCLUDED = "excluded"
    UNKNOWN = "unknown"
    ERROR = "error"
    PENDING = "pending"
    """It has not been looked up yet."""
    WITHDRAWN = "withdrawn"
    """The archive has taken away the copy that was known, and no other is known."""


class CopyOrigin(StrEnum):
    """The sources from which a snapshot is known, in the order of preference."""

    SUGGESTED = "suggested"
    """Somebody chose it."""
    CITED = "cited"
    """A page of a watched wiki links to it."""
    CHOSEN = "chosen"


class DistanceTo(StrEnum):
    """The day from which the distance of a copy is counted."""

    CITATION = "citation"
    """The day of the citation, which only the client can know."""
    FIRST_SEEN = "first-seen"
    """The day on which the link was first seen: the citation may be years older."""


class ShownSnapshot(NamedTuple):
    """A snapshot as it is shown. `address` is for readers; `original` the archived URL, `taken` its moment in UTC, None
    where they are not known.

    `checked` is the day of its newest visit that proved anything, `is_verified`: that visit could replay it (A-3);
    `wanted` is the day from which its distance is counted, and `wanted_is` says which day that is.
    """

    service: Archive
    address: str
    original: str | None
    taken: datetime | None
    origin: CopyOrigin
    checked: int | None = None
    note: Note = Note.NONE
    wanted: int | None = None
    wanted_is: DistanceTo = DistanceTo.FIRST_SEEN
    is_verified: bool = False
    preview: str | None = None
    """A stranger's words: title and first heading of what it showed when it was verified, one a line."""

    @property
    def stamp(self) -> str | None:
        """The 14 digits of its moment, None if that is not known."""
        return None if self.taken is None else f"{stamp_of(self.taken):014}"

    @property
    def distance_days(self) -> int | None:
        """Days from `wanted` to the copy, negative if it is older; None if either is not known."""
        if self.taken is None or self.wanted is None:
            return None
        return (in_utc(self.taken).date() - date_of(self.wanted)).days

    @property
    def distance_to(self) -> DistanceTo | None:
        """The day from which that distance is counted; None if there is none."""
        return None if self.distance_days is None else self.wanted_is

    @property
    def remark(self) -> Note:
        """The note as it is shown: a long time between citation and copy only for a copy that was chosen by rule, and
        only where the day of the citation is known (D-158)."""
        if self.note not in _OF_TIME:
            return self.note
        days = self.distance_days
        if days is None or self.wanted_is is not DistanceTo.CITATION or self.origin is not CopyOrigin.CHOSEN:
            return Note.NONE
        return note_of_distance(timedelta(days))


@dataclass(frozen=True, slots=True)
class Copies:
    """The known copies of a URL: `snapshots` in the order of preference, the first is the one shown.

    `checked` is the day of the newest look-up, None if there was none; `again` that of the next;
    `withdrawn` is the moment of the copy that the archive has taken away.
    """

    state: CopyState
    snapshots: tuple[ShownSnapshot, ...] = ()
    checked: int | None = None
    again: int | None = None
    withdrawn: datetime | None = None

    @property
    def first(self) -> ShownSnapshot | None:
        """The one that is shown, None if there is none."""
        return self.snapshots[0] if self.snapshots else None


PENDING: Final = Copies(CopyState.PENDING)

_OF_TIME: Final = frozenset({Note.NONE, Note.AFTER, Note.BEFORE})
_ORIGINS: Final = tuple(CopyOrigin)
_WAYBACK: Final = "wayback"


def copies_of(
    snapshots: Iterable[ShownSnapshot], state: CopyState, checked: int | None = None, again: int | None = None
) -> Copies:
    """The copies in order: a person's choice, then those that pages cite, then those chosen by rule; of each kind first
    the Wayback Machine's, then the nearest to `wanted`. One address is there once.

    With a snapshot the state is FOUND, whatever look-ups say; without one it is never FOUND, but UNKNOWN.
    """
    by_address: dict[str, ShownSnapshot] = {}
    for shown in sorted(snapshots, key=_preference):
        by_address.setdefault(shown.address, shown)
    if by_address:
        return Copies(CopyState.FOUND, tuple(by_address.values()), checked, again)
    return Copies(CopyState.UNKNOWN if state is CopyState.FOUND else state, (), checked, again)


def _preference(shown: ShownSnapshot) -> tuple[int, bool, bool, int, int, str]:
    distance = shown.distance_days
    away = 0 if distance is None else abs(distance)
    place = _ORIGINS.index(shown.origin)
    return place, shown.service.name != _WAYBACK, distance is None, away, shown.service.number, shown.address


def snapshots_as_json(copies: Copies | None) -> list[dict[str, Any]]:
    """The snapshots of a link; none of one that needs no copy."""
    return [] if copies is None else [_snapshot_as_json(shown) for shown in copies.snapshots]


def _snapshot_as_json(shown: ShownSnapshot) -> dict[str, Any]:
    """The dictionary form of a snapshot. The moment has seconds and is in UTC, days are ISO dates."""
    taken = None if shown.taken is None else in_utc(shown.taken).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "service": shown.service.name,
        "title": shown.service.title,
        "snapshot": shown.address,
        "original": shown.original,
        "stamp": shown.stamp,
        "taken": taken,
        "distance_days": shown.distance_days,
        "distance_to": shown.distance_to,
        "origin": shown.origin.value,
        "checked": None if shown.checked is None else iso(shown.checked),
        "verified": shown.is_verified,
        "preview": shown.preview,
        "note": None if shown.remark is Note.NONE else shown.remark.name.lower(),
    }
