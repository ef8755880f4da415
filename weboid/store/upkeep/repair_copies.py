"""Repairing what is known of copies of URLs (A-1, A-2): cited copies, the queue, and rows that no URL has.

The caller, ``store/upkeep/repair``, has confirmed the breaches, and holds the locks of their URLs and hosts.
One law: the URL itself says whether it is a cited copy; rows follow from that, never the other way round.
"""

from collections.abc import Sequence
from typing import Final

from weboid.core.url.keys import UrlKey
from weboid.store.archives.cited_copy import cited_copy_of, record_cited
from weboid.store.archives.copy_queue import Rank, record_wanted
from weboid.store.archives.with_url import delete_copies, list_plain_urls
from weboid.store.db.pool import Connection
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import statements
from weboid.store.people.report import delete_with_urls
from weboid.store.upkeep.invariant import Breach, Invariant
from weboid.store.urls.check import record_next_days
from weboid.store.urls.lock import hosts_of

SQL: Final = statements("archives/cited_copy")
WITH_URL_SQL: Final = statements("archives/with_url")


async def repair_copies(conn: Connection, breaches: Sequence[Breach], day: int) -> None:
    """Deletes rows that no URL has, reverts too, and needless places in the queue; takes cited copies out of rounds."""
    if gone := _keys(breaches, Invariant.COPY):
        await delete_copies(conn, gone)
        await delete_with_urls(conn, gone)
    if needless := _keys(breaches, Invariant.QUEUE):
        await conn.execute(WITH_URL_SQL["delete_copy_queue"], key_columns(needless))
    await _repair_cited(conn, _keys(breaches, Invariant.CITED), day)


async def repair_urls_without_copies(conn: Connection, breaches: Sequence[Breach], day: int) -> None:
    """Queues URLs that have no place in the queue; records cited copies, and makes due what is none."""
    await record_wanted(conn, _keys(breaches, Invariant.QUEUE), day, Rank.DEAD)
    await _repair_cited(conn, _keys(breaches, Invariant.CITED), day)


async def _repair_cited(conn: Connection, keys: Sequence[UrlKey], day: int) -> None:
    if not keys:
        return
    urls = await list_plain_urls(conn, keys)
    copies = {key: copy for key, url in urls.items() if (copy := cited_copy_of(key, url, day))}
    others = sorted(urls.keys() - copies.keys())
    await conn.execute(SQL["record_never_due"], key_columns(sorted(copies)))
    await record_cited(conn, copies.values())
    await conn.execute(SQL["delete_cited"], key_columns(others))
    await conn.execute(SQL["record_due_again"], {**key_columns(others), "day": day})
    await record_next_days(conn, sorted(hosts_of(keys)))


def _keys(breaches: Sequence[Breach], invariant: Invariant) -> list[UrlKey]:
    return sorted(each.key for each in breaches if each.invariant is invariant)
