"""Changing pages: URLs whose document always changes; no copy of them is chosen until an administrator lifts it (A-1).

The caller records the deed in the audit log, in the same transaction. A page that an administrator has lifted is not
blocked again by later findings.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import Connection, fetch_by_key, statements

SQL: Final = statements("archives/changing_page")


@dataclass(frozen=True, slots=True)
class ChangingPage:
    """Found on `day` to change always. `is_lifted` = copies are chosen all the same, as the person `name` decided."""

    key: UrlKey
    day: int
    is_lifted: bool
    subject: str | None = None
    name: str | None = None


async def record_changing(conn: Connection, keys: Iterable[UrlKey], day: int) -> int:
    """Records watched URLs whose documents always change; known ones stay as they are. Returns how many are new."""
    kept = await lock_kept(conn, keys)
    if not kept:
        return 0
    return (await conn.execute(SQL["record_changing"], {**key_columns(sorted(kept)), "day": day})).rowcount


async def record_lifted(conn: Connection, key: UrlKey, *, is_lifted: bool, subject: str, name: str) -> bool:
    """Lets copies of a URL be chosen, or no longer; returns whether that has changed anything.

    The caller lets the URL be looked up again (`record_wanted`).
    """
    row = {**key._asdict(), "lifted": is_lifted, "subject": subject, "name": name}
    return (await conn.execute(SQL["record_lifted"], row)).rowcount > 0


async def list_changing(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, ChangingPage]:
    """Those of these URLs that always change, lifted ones included."""
    return {key: ChangingPage(key, *row) for key, row in await fetch_by_key(conn, SQL["list_changing"], keys)}


async def list_newest_changing(conn: Connection, *, limit: int = 100) -> list[tuple[ChangingPage, Url]]:
    """The URLs that were found last, lifted ones included."""
    rows = await conn.execute(SQL["list_newest"], {"limit": limit})
    pages = [ChangingPage(UrlKey(*row[:3]), *row[3:]) async for row in rows]
    urls = await list_plain_urls(conn, [each.key for each in pages])
    return [(each, urls[each.key]) for each in pages if each.key in urls]
