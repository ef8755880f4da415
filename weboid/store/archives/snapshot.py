"""Snapshots: of each watched URL the one chosen copy at each archive (A-1), and when it is visited again (A-3).

``core/archive/choice`` chooses copies, ``archive/visits`` judges visits; copies that pages cite become snapshots at
intake (``store/archives/cited_copy``). How many snapshots of each service were dropped lately is counted, so that no
fault drops them all (U-8); ``core/archive/visits`` has the limit.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, Final

from weboid.core.archive.visits import QUARTER_DAYS
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import Columns, columns_of, key_columns
from weboid.store.db.statements import Connection, fetch_all, fetch_by_key, fetch_one, fetch_value, statements

SQL: Final = statements("archives/snapshot")
_SAMPLE_DEPTH: Final = 20
"""The number of snapshots that are looked at for each one of a sample."""
_SAMPLE_BYTES: Final = 8 * 2**20
"""Bytes of the table that are read to estimate the number of snapshots."""


class Origin(IntEnum):
    """The origin of a snapshot. The numbers are stored and never change their meaning."""

    CITED = 0
    """A page cites it; nobody has chosen it."""
    CHOSEN = 1
    """It was chosen among what the archive lists (A-1)."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A snapshot of the URL `key` at the archive with this number.

    `stamp` is its 14 digits as a number; `due` the day of its next visit, `asked` that of its newest (None = it was
    never played), `strikes` the visits in a row that did not find it. `wanted` is the day of the moment of citation by
    which it was chosen, `note` the number of a remark (``core/archive/choice``), `address` its own address at archives
    whose addresses do not follow from stamp and URL.
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
    preview: str | None = None
    """Written, but not read here: answers show it (``core/verdict/kept_copies``)."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Of `kept` snapshots that an archive had on day `since`, so many were `dropped` from then on."""

    archive: int
    since: int
    kept: int
    dropped: int


async def record_snapshots(conn: Connection, snapshots: Iterable[StoredSnapshot]) -> int:
    """Writes snapshots in the place of earlier ones of the same URLs at the same archives; returns how many.

    Those of URLs that are not watched any more are left out; of two for one place the last is taken.
    """
    by_place = {(each.key, each.archive): each for each in snapshots}
    kept = await lock_kept(conn, {key for key, _ in by_place})
    rows = [by_place[place] for place in sorted(by_place) if place[0] in kept]
    if rows:
        await conn.execute(SQL["record_snapshots"], _columns(rows))
    return len(rows)


async def record_cited_snapshots(conn: Connection, snapshots: Iterable[StoredSnapshot]) -> None:
    """Writes snapshots where there is none of the URL at the archive; the caller holds the URLs (`lock_kept`)."""
    by_place: dict[tuple[UrlKey, int], StoredSnapshot] = {}
    for each in snapshots:
        by_place.setdefault((each.key, each.archive), each)
    if by_place:
        await conn.execute(SQL["record_cited_snapshots"], _columns([by_place[place] for place in sorted(by_place)]))


async def list_snapshots(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, tuple[StoredSnapshot, ...]]:
    """The snapshots of these URLs by the number of the archive; URLs without any are missing."""
    found: dict[UrlKey, tuple[StoredSnapshot, ...]] = {}
    for key, row in await fetch_by_key(conn, SQL["list_snapshots"], keys):
        found[key] = (*found.get(key, ()), _snapshot(*key, *row))
    return found


async def lease_snapshots(
    conn: Connection, day: int, archives: Sequence[int], *, limit: int
) -> list[tuple[StoredSnapshot, Url]]:
    """Takes snapshots due by `day` at these archives for this worker alone, at most `limit` of each, with their URLs.

    On the next day they are due again, unless a visit is recorded.
    """
    await require_scheme(conn)
    row = {"archives": sorted(set(archives)), "day": day, "until": day + 1, "limit": limit}
    return await _with_urls(conn, await fetch_all(conn, _snapshot, SQL["lease_snapshots"], row))


async def record_visit(
    conn: Connection,
    snapshot: StoredSnapshot,
    *,
    asked: int | None,
    due: int,
    strikes: int,
    stamp: int | None = None,
    preview: str | None = None,
) -> bool:
    """Records what a visit found; returns whether this is still the snapshot. `asked` stays None while it never played.

    `stamp` = the archive has moved the copy there; `preview` is what it shows, None = that is not known anew.
    """
    row = {**_place(snapshot), "asked": asked, "due": due, "strikes": strikes, "new_stamp": stamp or snapshot.stamp}
    row["preview"] = preview or None
    return (await conn.execute(SQL["record_visit"], row)).rowcount > 0


async def delete_snapshot(conn: Connection, snapshot: StoredSnapshot) -> bool:
    """Deletes a snapshot if it still has this stamp; returns whether it had."""
    return (await conn.execute(SQL["delete_visited"], _place(snapshot))).rowcount > 0


async def list_samples(conn: Connection, archive: int, day: int, *, limit: int) -> list[tuple[StoredSnapshot, Url]]:
    """Some snapshots of an archive that played at their newest visit, by chance: its canary copies (A-3).

    There may be fewer than `limit`, and none where most of the archive's snapshots fail.
    """
    found: dict[UrlKey, StoredSnapshot] = {}
    for first in (day + random.randrange(QUARTER_DAYS), 0):
        if len(found) < limit:
            row = {"archive": archive, "first": first, "most": _SAMPLE_DEPTH * limit, "limit": limit - len(found)}
            found |= {each.key: each for each in await fetch_all(conn, _snapshot, SQL["list_samples"], row)}
    return await _with_urls(conn, list(found.values()))


async def count_snapshots(conn: Connection) -> dict[int, int]:
    """The number of snapshots by archive; exact in a small store, else an estimate."""
    size = await fetch_value(conn, SQL["find_size"]) or 0
    share = min(1.0, _SAMPLE_BYTES / max(1, size))
    rows = await conn.execute(SQL["count_sample"], {"percent": 100 * share})
    return {archive: round(count / share) async for archive, count in rows}


async def find_withdrawn(conn: Connection, archive: int) -> Withdrawn | None:
    """The dropped ones, None = nothing ever; nobody else counts until the end of the caller's transaction."""
    await conn.execute(SQL["lock_withdrawn"])
    return await fetch_one(conn, Withdrawn, SQL["find_withdrawn"], {"archive": archive})


async def record_withdrawn(conn: Connection, counted: Withdrawn) -> None:
    """Writes the count that `find_withdrawn` has locked, in the transaction in which the caller drops a snapshot."""
    await conn.execute(SQL["record_withdrawn"], asdict(counted))


async def _with_urls(conn: Connection, snapshots: Sequence[StoredSnapshot]) -> list[tuple[StoredSnapshot, Url]]:
    urls = await list_plain_urls(conn, {each.key for each in snapshots})
    return [(each, urls[each.key]) for each in snapshots if each.key in urls]


def _columns(rows: Sequence[StoredSnapshot]) -> Columns:
    return {
        **key_columns(each.key for each in rows),
        **columns_of(rows, "archive stamp due asked strikes wanted note address preview"),
        "origin": [int(each.origin) for each in rows],
    }


def _place(snapshot: StoredSnapshot) -> dict[str, Any]:
    return {**snapshot.key._asdict(), "archive": snapshot.archive, "stamp": snapshot.stamp}


def _snapshot(bucket: int, host_key: int, url_key: int, *columns: Any) -> StoredSnapshot:
    archive, stamp, origin, *rest = columns
    return StoredSnapshot(UrlKey(bucket, host_key, url_key), archive, stamp, Origin(origin), *rest)
