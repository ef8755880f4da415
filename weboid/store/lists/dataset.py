"""The public data set (W-13): reading the statuses it is made of, and storing its parts; ``maintain/dataset`` makes it.

A part has the statuses of `STRETCH` buckets as a complete gzip file; a set is listed only with all its parts.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from weboid.core.url.keys import BUCKETS
from weboid.store.db.statements import Connection, fetch_all, fetch_one, fetch_value, statements

SQL: Final = statements("lists/dataset")
STRETCH: Final = 16
PARTS: Final = BUCKETS // STRETCH


class HostStatus(NamedTuple):
    """The number of a host's URLs with a status, of their uses by a wiki, and of the dead ones among them."""

    farm: int
    dbname: str
    host: str
    status: int
    urls: int
    uses: int
    dead: int


class DataSet(NamedTuple):
    """A farm's complete set of a day."""

    day: int
    farm: str
    lines: int
    size: int
    """Bytes, compressed."""


async def list_statuses(conn: Connection, part: int) -> list[HostStatus]:
    """The lines of a part, by farm, wiki, host and status."""
    row = {"first": part * STRETCH, "end": (part + 1) * STRETCH}
    return await fetch_all(conn, HostStatus, SQL["list_statuses"], row)


async def record_part(conn: Connection, day: int, farm: int, part: int, *, lines: int, body: bytes) -> None:
    """Stores a part: `body` is its gzip file, `lines` the number of its lines."""
    row = {"day": day, "farm": farm, "part": part, "lines": lines, "body": body}
    await conn.execute(SQL["record_part"], row)


async def find_progress(conn: Connection) -> tuple[int, int] | None:
    """The day of the newest set and how many parts of it there are; None if there never was one."""
    newest: int | None = await fetch_value(conn, SQL["find_newest_day"])
    return None if newest is None else (newest, await fetch_value(conn, SQL["count_parts"], {"day": newest}) or 0)


async def list_sets(conn: Connection) -> Sequence[DataSet]:
    """The complete sets, newest first."""
    return await fetch_all(conn, DataSet, SQL["list_sets"], {"parts": PARTS})


async def find_part(conn: Connection, day: int, farm: str, part: int) -> bytes | None:
    """The bytes of a part; None if the set has been deleted meanwhile."""
    return await fetch_one(conn, bytes, SQL["find_part"], {"day": day, "farm": farm, "part": part})


async def delete_sets(conn: Connection, before: int) -> None:
    """Deletes the sets of days earlier than `before`."""
    await conn.execute(SQL["delete_old_sets"], {"day": before})
