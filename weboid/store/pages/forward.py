"""URLs of pages that somebody looks at: those that were not checked for a week become due at once (C-4).

One law: looking at a page waits for no other writer, and all that people look at on a day moves a bounded number of
URLs.
"""

from collections.abc import Iterable
from typing import Final

from weboid.core.url.keys import UrlKey
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, host_key_columns, key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("pages/forward")
UNCHECKED_DAYS: Final = 7
"""Days without a check after which a URL is moved: the shortest interval of working URLs."""
MOST_A_DAY: Final = 100_000
"""URLs that are moved on a day, about as many as a small crawler checks in an hour or two. By a statement only as many
as are locked at once, so a little more if many pages are looked at in the same moment."""
MOST_AT_ONCE: Final = 1_000
"""URLs that are moved for one request; the longest unchecked ones come first."""


async def move_forward(conn: Connection, urls: Iterable[UrlKey], day: int) -> int:
    """Makes those URLs due on `day` that are not, and have not been checked for long; returns how many.

    They and their hosts are locked in the order of their keys, first the URLs; what others have locked is left as it
    is.
    """
    keys = sorted(set(urls))
    if not keys:
        return 0
    row = await (await conn.execute(SQL["find_moved"], {"day": day})).fetchone()
    limit = min(MOST_AT_ONCE, MOST_A_DAY - (row[0] if row else 0))
    if limit <= 0:
        return 0
    bounds = {"day": day, "before": day - UNCHECKED_DAYS, "limit": limit}
    rows = await conn.execute(SQL["lock_urls"], {**key_columns(keys), **bounds})
    locked = [UrlKey(*columns) async for columns in rows]
    if not locked:
        return 0
    wanted = sorted({HostKey(*key[:2]) for key in locked})
    rows = await conn.execute(SQL["lock_hosts"], host_key_columns(wanted))
    hosts = {HostKey(*columns) async for columns in rows}
    moved = sorted(key for key in locked if key[:2] in hosts)
    if moved:
        await conn.execute(SQL["record_due"], {"day": day, **key_columns(moved)})
        await conn.execute(SQL["record_hosts"], {"day": day, **host_key_columns(sorted(hosts))})
        await conn.execute(SQL["record_moved"], {"day": day, "urls": len(moved)})
    return len(moved)
