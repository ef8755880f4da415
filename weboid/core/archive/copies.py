"""What people are told of the copies of a URL: one state, and the snapshots with the one that is shown first (A-1, W-8).

Words for people are in ``web/words``; `copies_as_json` is the one dictionary form.
One law: only the state FOUND has snapshots that were looked up; a copy that the archive has withdrawn is never shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from weboid.core.archive.choice import Note
from weboid.core.url.archives import Archive


class CopyState(StrEnum):
    """What is known of the copies of a URL, over all services."""

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
    """Where a snapshot is known from, in the order in which they are preferred."""

    SUGGESTED = "suggested"
    """Somebody chose it."""
    CITED = "cited"
    """A page of a watched wiki links to it."""
    CHOSEN = "chosen"


class ShownSnapshot(NamedTuple):
    """A snapshot as it is shown. `address` is for readers; `original` the archived URL, `taken` its moment in UTC, None
    where they are not known.

    `checked` is the day when it was played last, `wanted` the day of the citation for which it was chosen.
    """

    service: Archive
    address: str
    original: str | None
    taken: datetime | None
    origin: CopyOrigin
    checked: int | None = None
    note: Note = Note.NONE
    wanted: int | None = None

    @property
    def stamp(self) -> str | None:
        """The 14 digits of its moment, None if that is not known."""
        raise NotImplementedError

    @property
    def distance_days(self) -> int | None:
        """Days from the citation to the copy, negative if it is older; None if either is not known."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Copies:
    """What is known of the copies of a URL: `snapshots` in the order of preference, the first is the one shown.

    `checked` is the day of the newest look-up, None if there was none.
    """

    state: CopyState
    snapshots: tuple[ShownSnapshot, ...] = ()
    checked: int | None = None

    @property
    def first(self) -> ShownSnapshot | None:
        """The one that is shown, None if there is none."""
        raise NotImplementedError


PENDING: Final = Copies(CopyState.PENDING)


def copies_of(snapshots: Iterable[ShownSnapshot], state: CopyState, checked: int | None = None) -> Copies:
    """What is known, in order: with a snapshot the state is FOUND, whatever look-ups said."""
    raise NotImplementedError


def copies_as_json(copies: Copies | None) -> dict[str, Any]:
    """The keys of a link: `archived` (None for a link that needs no copy) and `snapshots`."""
    raise NotImplementedError


def snapshot_as_json(shown: ShownSnapshot) -> dict[str, Any]:
    """The one dictionary form of a snapshot."""
    raise NotImplementedError
