"""The rows about a URL in the tables of the archives: they come, go and move with the URL itself (U-8, O-10).

No row outlives its URL: writers hold the URL against deletion (`lock_kept`), and deleting a URL deletes them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import key_columns, url_of
from weboid.store.db.statements import Connection, fetch_by_key, statements

SQL: Final = statements("archives/with_url")
_TABLES: Final = ("snapshot", "lookup", "copy_queue", "changing_page", "saving", "cited_copy")


async def lock_kept(conn: Connection, keys: Iterable[UrlKey], *, waits: bool = False) -> set[UrlKey]:
    """Those of these URLs that are there, and stay until the transaction ends; without those that are being deleted.

    To be called before rows about them are written. `waits`: until it is known whether they are deleted; only for a
    transaction that has locked no URL and no host. Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    statement = SQL["lock_kept_waiting"] if waits else SQL["lock_kept"]
    return {key for key, _ in await fetch_by_key(conn, statement, keys)}


async def list_plain_urls(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, Url]:
    """These URLs by themselves, without their records; those that are not there are missing."""
    return {key: url_of(row) for key, row in await fetch_by_key(conn, SQL["list_plain_urls"], keys)}


async def delete_copies(conn: Connection, keys: Sequence[UrlKey]) -> None:
    """Deletes everything about URLs that are deleted themselves; the caller has locked them."""
    if keys:
        columns = key_columns(sorted(keys))
        for table in _TABLES:
            await conn.execute(SQL[f"delete_{table}"], columns)


async def record_moved_copies(conn: Connection, moved: Mapping[UrlKey, UrlKey]) -> None:
    """Moves everything about URLs to their new keys, where there is nothing."""
    if moved:
        columns = key_columns(moved)
        columns |= {f"new_{name}": values for name, values in key_columns(moved.values()).items()}
        for table in _TABLES:
            await conn.execute(SQL[f"record_moved_{table}"], columns)
