"""Snapshots: of each watched URL the one chosen copy at each archive (A-1), and when it is visited again (A-3).

Which copy is chosen is decided by ``core/archive/choice``, what a visit means by ``archive/snapshot_rounds``; copies that
pages cite become snapshots at intake (``store/archives/cited_copy``).
One law: a snapshot belongs to a URL of the store, and a visit of another copy changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.pool import Connection


class Origin(IntEnum):
    """Where a snapshot comes from. The numbers are stored and never change their meaning."""

    CITED = 0
    """A page cites it; nobody has chosen it."""
    CHOSEN = 1
    """It was chosen among what the archive lists (A-1)."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A snapshot of the URL `key` at the archive with this number.

    `stamp` is its 14 digits as a number; `due` the day of its next visit, `asked` that of its newest (None = it was never
    played), `strikes` the visits in a row that did not find it. `wanted` is the day of the moment of citation by which it
    was chosen, `note` the number of a remark (``core/archive/choice.Note``), `address` its own address at archives whose
    addresses do not follow from stamp and URL.
    """

    key: UrlKey
    archive: int
    stamp: int
    origin: Origin
    due: int
    asked: int | None = None
    strikes: int = 0
    wanted: int | None = None
    note: int = 0
    address: str | None = None


async def record_snapshots(conn: Connection, snapshots: Sequence[StoredSnapshot]) -> int:
    """Writes snapshots in the place of earlier ones of the same URLs at the same archives; returns how many.

    Snapshots of URLs that are not watched any more are left out.
    """
    raise NotImplementedError


async def list_snapshots(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, tuple[StoredSnapshot, ...]]:
    """The snapshots of these URLs by archive; URLs without any are missing."""
    raise NotImplementedError


async def lease_snapshots(
    conn: Connection, day: int, *, limit: int, beside: Sequence[int] = ()
) -> list[tuple[StoredSnapshot, Url]]:
    """Takes at most `limit` snapshots due by `day` for this worker alone, each with its URL; without those of the
    archives `beside` (which are paused). On the next day they are due again."""
    raise NotImplementedError


async def record_visit(
    conn: Connection, snapshot: StoredSnapshot, *, asked: int | None, due: int, strikes: int, stamp: int | None = None
) -> bool:
    """Records what a visit found; returns whether it is still the snapshot of that stamp. `stamp` = the copy has moved
    there within the archive."""
    raise NotImplementedError


async def delete_snapshot(conn: Connection, snapshot: StoredSnapshot) -> bool:
    """Deletes a snapshot if it still has this stamp; returns whether it had."""
    raise NotImplementedError


async def list_samples(conn: Connection, archive: int, *, limit: int) -> list[tuple[StoredSnapshot, Url]]:
    """Some snapshots of an archive that played at their newest visit, anywhere in the store: canary copies (A-3)."""
    raise NotImplementedError


async def count_snapshots(conn: Connection) -> dict[int, int]:
    """About how many snapshots there are, by archive."""
    raise NotImplementedError
