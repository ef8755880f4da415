"""Deleting what has expired: URLs whose last use went long ago (U-8), what was learned of hosts long ago (C-6, C-11).

When they are deleted is decided by ``maintain/expiry``. A URL without a use has no dead links: those go with the use,
in its transaction. That a URL is spam on a page is a fact about the page and stays (L-8). A URL is deleted with all its
data in one transaction, and never while a page links to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from weboid.core.document.face import HONEST_DAYS
from weboid.core.record.specials import KEPT_DAYS, NEEDS_GET_DAYS, Special
from weboid.core.url.keys import UrlKey
from weboid.store.archives.cited_copy import delete_unjustified
from weboid.store.archives.with_url import delete_copies
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, host_key_columns, key_columns
from weboid.store.db.statements import fetch_all, statements
from weboid.store.people.report import delete_with_urls
from weboid.store.urls.check import record_next_days

SQL: Final = statements("upkeep/expiry")
BEFORE_ALL: Final = UrlKey(-1, 0, 0)
"""Sorts before every key."""
_NONE_HELD: Final[Mapping[int, int]] = MappingProxyType({})


class Orphans(NamedTuple):
    """Orphans that are old enough to be deleted, by the wiki whose page had their last use.

    `name` as ``dewiki@WMF``, "" = a forgotten wiki, or with `wiki` 0 that it is not known which; `passed` is the day
    of its last completed pass. `free` of the `urls` were orphaned before that, so they may go. `guarded` is False for
    a forgotten wiki.
    """

    wiki: int
    name: str
    passed: int | None
    urls: int
    free: int
    guarded: bool = True


@dataclass(frozen=True, slots=True)
class Expired:
    """The result of one batch. `used` URLs were marked as orphans although a page links to them; that was corrected."""

    urls: int = 0
    hosts: int = 0
    used: int = 0


async def list_over(conn: Connection, until: int) -> list[Orphans]:
    """The URLs that have been without use since day `until` or longer, by wiki; those first that it holds longest."""
    return await fetch_all(conn, Orphans, SQL["list_over"], {"until": until})


async def count_urls_of(conn: Connection, wiki: int, *, limit: int) -> int:
    """The exact number of different URLs on the pages of a wiki; the number `limit` means that many or more."""
    uses = limit
    while True:
        row = await (await conn.execute(SQL["count_urls_of"], {"wiki": wiki, "uses": uses})).fetchone()
        urls, found = row or (0, 0)
        if urls >= limit or found < uses:
            return min(int(urls), limit)
        uses *= 4


async def count_urls(conn: Connection, *, limit: int | None = None) -> int:
    """The exact number of URLs; the number `limit` means that many or more."""
    row = await (await conn.execute(SQL["count_urls"], {"limit": limit})).fetchone()
    return int(row[0]) if row else 0


async def list_orphans(
    conn: Connection, after: UrlKey, until: int, *, limit: int, held: Mapping[int, int] = _NONE_HELD
) -> list[UrlKey]:
    """The next URLs by key after `after` that are without use since day `until`, or wrongly marked as orphans.

    `held` has the wikis of whose orphans an earlier day counts, by number.
    """
    row = {**after._asdict(), **_held(until, held), "limit": limit}
    return [UrlKey(*key) async for key in await conn.execute(SQL["list_orphans"], row)]


def _held(until: int, held: Mapping[int, int]) -> dict[str, object]:
    return {"until": until, "wiki": list(held), "held": list(held.values())}


async def expire_urls(
    conn: Connection, keys: Sequence[UrlKey], until: int, held: Mapping[int, int] = _NONE_HELD
) -> Expired:
    """Deletes those of these URLs that are still without use since day `until`, with all that depends on them.

    `held` as in `list_orphans`. The locks are taken in the order of intake and rounds: URLs, then hosts, each by key.
    Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    locked = await conn.execute(SQL["list_locked"], {**key_columns(sorted(keys)), **_held(until, held)})
    over = {UrlKey(*row[:3]): bool(row[3]) async for row in locked}
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


async def expire_changes(conn: Connection, day: int, buckets: range, *, kept_days: int) -> int:
    """Deletes lines of the log of verdicts that are over `kept_days` old, of URLs in some buckets; returns how many.

    Deaths, returns, and what is the verdict now stay (U-10); that a URL works and nothing was known before goes early.
    """
    row = {"day": day, "kept_days": kept_days, "first": buckets.start, "end": buckets.stop}
    return (await conn.execute(SQL["delete_old_changes"], row)).rowcount


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
