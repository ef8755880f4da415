"""Cited copies that were stored as ordinary links, before this program or before it knew their archive (A-2).

A run that is stopped has done what it has read, and the next one begins again: what is done is passed over.
"""

from typing import Final, NamedTuple

from weboid.core.record.days import NEVER_DUE
from weboid.core.record.record import UNTRIED
from weboid.core.url.keys import UrlKey, bucket, host_key
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import change_of, finding_of
from weboid.store.archives.cited_copy import (
    ARCHIVE_HOSTS,
    CitedCopy,
    cited_copy_of,
    record_cited,
    record_cited_as_snapshots,
)
from weboid.store.archives.with_url import lock_kept
from weboid.store.db.rows import key_columns, url_of
from weboid.store.db.statements import Connection, statements
from weboid.store.urls.check import record_changes, record_next_days
from weboid.store.urls.lock import hosts_of, lock_hosts, lock_urls
from weboid.store.urls.url import find_urls

SQL: Final = statements("archives/cited_copy")


class KnownCopiesPlace(NamedTuple):
    """The place that `record_known_copies` has reached: a host of archives, and of its URLs the due day and key."""

    host: int = 0
    due: int = -1
    url_key: int = -(2**63)


async def record_known_copies(
    conn: Connection, place: KnownCopiesPlace, day: int, *, limit: int = 500
) -> KnownCopiesPlace | None:
    """Takes cited copies among the next URLs of archives' hosts out of the link checker's rounds; `day` is their first.

    Reads about `limit` URLs from a place on, in the caller's transaction; returns where to go on, None = that was all.
    URLs of these hosts that are no copies stay as they are. Raises StoreError if the keys are being moved (O-10).
    """
    if place.host >= len(ARCHIVE_HOSTS):
        return None
    host = ARCHIVE_HOSTS[place.host]
    row = {"bucket": bucket(host), "host_key": host_key(host), **place._asdict(), "limit": limit}
    rows = await (await conn.execute(SQL["list_in_rounds"], row)).fetchall()
    urls = {UrlKey(*each[:3]): url_of(each[3:7]) for each in rows}
    if found := {key: copy for key, url in urls.items() if (copy := cited_copy_of(key, url, day))}:
        await _record(conn, found, urls, day)
    if len(rows) < limit:
        return KnownCopiesPlace(place.host + 1) if place.host + 1 < len(ARCHIVE_HOSTS) else None
    return KnownCopiesPlace(place.host, rows[-1][7], rows[-1][2])


async def _record(conn: Connection, found: dict[UrlKey, CitedCopy], urls: dict[UrlKey, Url], day: int) -> None:
    """Records them in the order of all locks: URLs, then hosts, then what is known of copies."""
    await lock_urls(conn, found)
    kept = await lock_kept(conn, found)
    cited = {key: found[key] for key in kept}
    await conn.execute(SQL["record_never_due"], key_columns(sorted(kept)))
    await record_cited_as_snapshots(conn, cited, urls, day)
    await record_cited(conn, cited.values())
    hosts = hosts_of(kept)
    await lock_hosts(conn, hosts)
    await _forget(conn, sorted(key for key, copy in cited.items() if copy.due == NEVER_DUE), day)
    await record_next_days(conn, sorted(hosts))


async def _forget(conn: Connection, keys: list[UrlKey], day: int) -> None:
    """Deletes what is known of copies that nobody may visit: it would be shown forever."""
    if not keys:
        return
    known = await find_urls(conn, keys)
    changes = [
        change_of(key, day, finding_of(url.record, url.host), finding_of(UNTRIED, url.host))
        for key, url in known.items()
    ]
    await conn.execute(SQL["record_untried"], key_columns(keys))
    await record_changes(conn, [change for change in changes if change])
