"""The public data set (W-13): reading what it is made of, and storing its parts; ``maintain/dataset`` makes it.

A part has what is in `STRETCH` buckets, in pieces of which each is a complete gzip file; a file is listed only when all
its parts are there.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.rows import host_record, url_of, url_record
from weboid.store.db.statements import Connection, fetch_all, fetch_one, fetch_value, statements

SQL: Final = statements("lists/dataset")
STRETCH: Final = 16
PARTS: Final = BUCKETS // STRETCH
_USE: Final = 26
"""The first column of a row of `list_urls` that is about its use by a farm; before it are five of the host's record."""


class SetKind(IntEnum):
    """The subject of a file's lines: the statuses of a host's URLs, or a URL."""

    HOSTS = 0
    URLS = 1

    @property
    def word(self) -> str:
        """The first word of the file's name."""
        return "statuses" if self is SetKind.HOSTS else "urls"


class HostStatus(NamedTuple):
    """The number of a host's URLs with a status, of their uses by a wiki, and of the dead ones among them."""

    farm: int
    dbname: str
    host: str
    status: int
    urls: int
    uses: int
    dead: int


class UsedUrl(NamedTuple):
    """A URL that pages of a farm use: how often, and in which of its wikis, by name with spaces between them."""

    key: UrlKey
    url: Url
    record: UrlRecord
    host: HostRecord
    farm: int
    uses: int
    wikis: str


class DataSet(NamedTuple):
    """A whole file: a farm's set of a kind on a day; `size` in bytes, compressed."""

    day: int
    farm: int
    farm_name: str
    kind: int
    lines: int
    size: int
    sha256: bytes


class Piece(NamedTuple):
    """A piece of a file, with the number of its lines and its size in bytes."""

    part: int
    piece: int
    lines: int
    size: int


async def list_statuses(conn: Connection, part: int) -> list[HostStatus]:
    """The lines of a part, by farm, wiki, host and status."""
    return await fetch_all(conn, HostStatus, SQL["list_statuses"], _stretch(part))


async def list_urls(conn: Connection, part: int, after: UrlKey, *, limit: int) -> tuple[list[UsedUrl], UrlKey | None]:
    """The next `limit` URLs of a part after a key, by key and farm, and the last key; None = the part has no more."""
    rows = await (
        await conn.execute(SQL["list_urls"], {**_stretch(part), **after._asdict(), "limit": limit})
    ).fetchall()
    used = [
        UsedUrl(UrlKey(*row[:3]), url_of(row[3:7]), url_record(row[7:21]), host_record(row[21:_USE]), *row[_USE:])
        for row in rows
        if row[4] is not None and row[_USE] is not None
    ]
    return used, UrlKey(*rows[-1][:3]) if rows else None


def _stretch(part: int) -> dict[str, int]:
    return {"first": part * STRETCH, "end": (part + 1) * STRETCH}


async def record_piece(
    conn: Connection, day: int, farm: int, kind: SetKind, part: int, piece: int = 0, *, lines: int, body: bytes
) -> None:
    """Stores a piece: `body` is its gzip file, `lines` the number of its lines."""
    row = {"day": day, "farm": farm, "kind": kind, "part": part, "piece": piece, "lines": lines, "body": body}
    await conn.execute(SQL["record_piece"], row)


async def find_progress(conn: Connection, kind: SetKind) -> tuple[int, int] | None:
    """The day of the newest files of a kind and how many parts of them there are; None if there never was one."""
    newest: int | None = await fetch_value(conn, SQL["find_newest_day"], {"kind": kind})
    if newest is None:
        return None
    return newest, await fetch_value(conn, SQL["count_parts"], {"day": newest, "kind": kind}) or 0


async def list_whole(conn: Connection) -> list[tuple[int, int, int]]:
    """Day, farm and kind of the files that have all their parts, and are not listed yet."""
    return [(row[0], row[1], row[2]) async for row in await conn.execute(SQL["list_whole"], {"parts": PARTS})]


async def record_file(conn: Connection, file: DataSet) -> None:
    """Lists a file from now on."""
    await conn.execute(SQL["record_file"], file._asdict())


async def list_files(conn: Connection) -> Sequence[DataSet]:
    """The whole files, newest first."""
    return await fetch_all(conn, DataSet, SQL["list_files"])


async def list_pieces(conn: Connection, day: int, farm: int, kind: int) -> list[Piece]:
    """The pieces of a file, in their order; none if it has been deleted meanwhile."""
    return await fetch_all(conn, Piece, SQL["list_pieces"], {"day": day, "farm": farm, "kind": kind})


async def find_piece(conn: Connection, day: int, farm: int, kind: int, piece: Piece, first: int = 0) -> bytes | None:
    """The bytes of a piece from number `first` on; None if it has been deleted meanwhile."""
    row = {"day": day, "farm": farm, "kind": kind, "part": piece.part, "piece": piece.piece, "first": first}
    return await fetch_one(conn, bytes, SQL["find_piece"], row)


async def delete_sets(conn: Connection, before: int) -> None:
    """Deletes the sets of days earlier than `before`."""
    for name in ("delete_old_files", "delete_old_pieces"):
        await conn.execute(SQL[name], {"day": before})
