"""Deleting what has expired: URLs whose last use went long ago (U-8), what was learned of hosts long ago (C-6, C-11).

When they are deleted is decided by ``maintain/expiry``. A URL without a use has no dead links: those go with the use,
in its transaction. That a URL is spam on a page is a fact about the page and stays (L-8). A URL is deleted with all its
data in one transaction, and never while a page links to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weboid.core.document.face import HONEST_DAYS
from weboid.core.record.specials import KEPT_DAYS, NEEDS_GET_DAYS, Special
from weboid.core.url.keys import UrlKey
from weboid.store.archives.cited_copy import delete_unjustified
from weboid.store.archives.with_url import delete_copies
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, host_key_columns, key_columns
from weboid.store.db.statements import statements
from weboid.store.people.report import delete_with_urls
from weboid.store.urls.check import record_next_days

SQL: Final = statements("upkeep/expiry")
BEFORE_ALL: Final = UrlKey(-1, 0, 0)
"""Sorts before every key."""


@dataclass(frozen=True, slots=True)
class WikiPass:
    """A wiki that has pages, as ``dewiki@WMF``, and the day of its last completed pass; None = there was none."""

    wiki: str
    passed: int | None


@dataclass(frozen=True, slots=True)
class Expired:
    """The result of one batch. `used` URLs were marked as orphans although a page links to them; that was corrected."""

    urls: int = 0
    hosts: int = 0
    used: int = 0


async def list_passes(conn: Connection) -> list[WikiPass]:
    """All wikis that have pages, those without a completed pass first, then by the day of their last pass."""
    return [WikiPass(*row) async for row in await conn.execute(SQL["list_passes"])]


async def count_expired(conn: Connection, until: int) -> int:
    """The exact number of URLs that have been without use since day `until` or longer."""
    row = await (await conn.execute(SQL["count_expired"], {"until": until})).fetchone()
    return int(row[0]) if row else 0


async def count_urls(conn: Connection, *, limit: int | None = None) -> int:
    """The exact number of URLs; the number `limit` means that many or more."""
    row = await (await conn.execute(SQL["count_urls"], {"limit": limit})).fetchone()
    return int(row[0]) if row else 0


async def list_orphans(conn: Connection, after: UrlKey, until: int, *, limit: int) -> list[UrlKey]:
    """The next URLs by key after `after` that are without use since day `until`, or wrongly marked as orphans."""
    row = {**after._asdict(), "until": until, "limit": limit}
    return [UrlKey(*key) async for key in await conn.execute(SQL["list_orphans"], row)]


async def expire_urls(conn: Connection, keys: Sequence[UrlKey], until: int) -> Expired:
    """Deletes those of these URLs that are still without use since day `until`, with all that depends on them.

    The locks are taken in the order of intake and rounds: URLs, then hosts, each by key. Raises StoreError if the keys
    are being moved (O-10).
    """
    await require_scheme(conn)
    locked = [
        row async for row in await conn.execute(SQL["list_locked"], {**key_columns(sorted(keys)), "until": until})
    ]
    over = {UrlKey(*row[:3]): bool(row[3]) for row in locked}
    if not over:
        return Expired()
    used = {UrlKey(*row) async for row in await conn.execute(SQL["list_used"], key_columns(sorted(over)))}
    gone = sorted(key for key, is_over in over.items() if is_over and key not in used)
    if used:
        await conn.execute(SQL["record_used"], key_columns(sorted(used)))
    await delete_with_urls(conn, gone)
    await delete_unjustified(conn, gone)
    await delete_copies(conn, gone)
    for name in ("delete_changes", "delete_urls"):
        await conn.execute(SQL[name], key_columns(gone))
    hosts = sorted({HostKey(*key[:2]) for key in (*gone, *used)})
    await conn.execute(SQL["list_locked_hosts"], host_key_columns(hosts))
    left = await delete_hosts(conn, hosts)
    await record_next_days(conn, sorted({HostKey(*key[:2]) for key in used}))
    return Expired(urls=len(gone), hosts=left, used=len(used))


async def expire_specials(conn: Connection, day: int, *, limit: int) -> int:
    """Deletes at most `limit` specials last seen over 100 days before `day`; returns how many (C-6).

    That a host needs GET is kept for 200 days, as long as it is acted on (C-1).
    """
    row = {
        "kind": [kind.value for kind in Special],
        "kept_days": [NEEDS_GET_DAYS if kind is Special.NEEDS_GET else KEPT_DAYS for kind in Special],
        "day": day,
        "limit": limit,
    }
    return (await conn.execute(SQL["delete_old_specials"], row)).rowcount


async def expire_faces(conn: Connection, day: int, *, limit: int) -> int:
    """Deletes at most `limit` faces of hosts that are too old to count on `day`; returns how many (C-11)."""
    return (await conn.execute(SQL["delete_old_faces"], {"before": day - HONEST_DAYS, "limit": limit})).rowcount


async def delete_hosts(conn: Connection, hosts: Sequence[HostKey]) -> int:
    """Deletes those of these hosts that have no URL left; returns how many. The hosts must be locked before."""
    gone = [HostKey(*row) async for row in await conn.execute(SQL["delete_hosts"], host_key_columns(hosts))]
    if gone:
        await conn.execute(SQL["delete_specials_of_hosts"], host_key_columns(gone))
        await conn.execute(SQL["delete_faces_of_hosts"], host_key_columns(gone))
        await conn.execute(SQL["delete_slots_of_hosts"], host_key_columns(gone))
    return len(gone)
