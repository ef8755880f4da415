"""What the tables of the archives keep of a URL: it comes, goes and moves with the URL itself (U-8, O-10).

One law: no row here outlives its URL: who writes one holds its URL against deletion (`lock_kept`), and who deletes the
URL deletes them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import Columns, key_columns, url_of
from weboid.store.db.statements import statements

SQL: Final = statements("archives/with_url")
_DELETED: Final = (
    "delete_snapshot",
    "delete_lookup",
    "delete_copy_queue",
    "delete_changing_page",
    "delete_saving",
    "delete_cited_copy",
)
_MOVED: Final = (
    "record_moved_snapshot",
    "record_moved_lookup",
    "record_moved_copy_queue",
    "record_moved_changing_page",
    "record_moved_saving",
    "record_moved_cited_copy",
)


async def lock_kept(conn: Connection, keys: Iterable[UrlKey], *, waits: bool = False) -> set[UrlKey]:
    """Those of these URLs that are there, and stay until the transaction ends; without those that are being deleted.

    To be called before rows about them are written. `waits`: until it is known whether they are deleted; only for a
    transaction that has locked no URL and no host. Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    wanted = sorted(set(keys))
    if not wanted:
        return set()
    statement = SQL["lock_kept_waiting"] if waits else SQL["lock_kept"]
    return {UrlKey(*row) async for row in await conn.execute(statement, key_columns(wanted))}


async def list_plain_urls(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, Url]:
    """These URLs by themselves, without their records; those that are not there are missing."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    rows = await conn.execute(SQL["list_plain_urls"], key_columns(wanted))
    return {UrlKey(*row[:3]): url_of(row[3:]) async for row in rows}


async def delete_copies(conn: Connection, keys: Sequence[UrlKey]) -> None:
    """Deletes everything about URLs that are deleted themselves; the caller has locked them."""
    if keys:
        columns = key_columns(sorted(keys))
        for name in _DELETED:
            await conn.execute(SQL[name], columns)


async def record_moved_copies(conn: Connection, moved: Mapping[UrlKey, UrlKey]) -> None:
    """Moves everything about URLs to their new keys, where there is nothing."""
    if not moved:
        return
    columns: Columns = {
        **key_columns(moved),
        **{f"new_{name}": values for name, values in key_columns(moved.values()).items()},
    }
    for name in _MOVED:
        await conn.execute(SQL[name], columns)
