"""Changing pages: URLs whose document always changes, of which no copy is chosen until an administrator lifts that (A-1).

The caller records who did what in the audit log, in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.pool import Connection


@dataclass(frozen=True, slots=True)
class ChangingPage:
    """Found to change always on `day`. `is_lifted` = copies of it are chosen all the same, as the person `name` decided."""

    key: UrlKey
    day: int
    is_lifted: bool
    subject: str | None = None
    name: str | None = None


async def record_changing(conn: Connection, keys: Sequence[UrlKey], day: int) -> int:
    """Records watched URLs whose documents always change; those that are known already stay. Returns how many are new."""
    raise NotImplementedError


async def record_lifted(conn: Connection, key: UrlKey, *, is_lifted: bool, subject: str, name: str) -> bool:
    """Lets copies of a URL be chosen, or no longer; returns whether that has changed anything. The caller queues the URL
    (`record_wanted`)."""
    raise NotImplementedError


async def list_changing(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, ChangingPage]:
    """Those of these URLs that always change, lifted ones included."""
    raise NotImplementedError


async def list_newest_changing(conn: Connection, *, limit: int = 100) -> list[tuple[ChangingPage, Url]]:
    """The URLs that were found last, lifted ones included."""
    raise NotImplementedError
