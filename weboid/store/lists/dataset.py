"""The public data set (W-13): reading the statuses it is made of, and storing its parts.

Making it belongs to ``maintain/dataset``.
One law: a part has the statuses of `STRETCH` buckets as a complete gzip file; a set is listed only with all its parts.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from weboid.core.url.keys import BUCKETS
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("lists/dataset")
STRETCH: Final = 16
PARTS: Final = BUCKETS // STRETCH


class HostStatus(NamedTuple):
    """How many of a host's URLs have a status, how often a wiki uses them, and how many of them are dead."""

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
    return [HostStatus(*columns) async for columns in await conn.execute(SQL["list_statuses"], row)]


async def record_part(conn: Connection, day: int, farm: int, part: int, *, lines: int, body: bytes) -> None:
    """Stores a part: `body` is its gzip file, `lines` the number of its lines."""
    row = {"day": day, "farm": farm, "part": part, "lines": lines, "body": body}
    await conn.execute(SQL["record_part"], row)


async def find_progress(conn: Connection) -> tuple[int, int] | None:
    """The day of the newest set and how many parts of it there are; None if there never was one."""
    newest = await (await conn.execute(SQL["find_newest_day"])).fetchone()
    if newest is None or newest[0] is None:
        return None
    row = await (await conn.execute(SQL["count_parts"], {"day": newest[0]})).fetchone()
    return int(newest[0]), int(row[0]) if row else 0


async def list_sets(conn: Connection) -> Sequence[DataSet]:
    """The complete sets, newest first."""
    return [DataSet(*columns) async for columns in await conn.execute(SQL["list_sets"], {"parts": PARTS})]


async def find_part(conn: Connection, day: int, farm: str, part: int) -> bytes | None:
    """The bytes of a part; None if the set has been deleted meanwhile."""
    row = await (await conn.execute(SQL["find_part"], {"day": day, "farm": farm, "part": part})).fetchone()
    return None if row is None else bytes(row[0])


async def delete_sets(conn: Connection, before: int) -> None:
    """Deletes the sets of days earlier than `before`."""
    await conn.execute(SQL["delete_old_sets"], {"day": before})
