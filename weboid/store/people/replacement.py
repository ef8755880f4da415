"""Suggestions of people instead of dead URLs: exactly one replacement a URL, and one snapshot of each archive (A-4).

``web/people/replacement`` decides whether a suggestion may be made, ``archive/visits`` checks it, answers read it
through ``store/urls/details``. The caller records the deed in the audit log, in the same transaction. `audit` deletes
all suggestions of one person, `report` those of a deleted URL.
"""

from dataclasses import dataclass
from typing import Any, Final

from weboid.core.url.keys import UrlKey
from weboid.store.db.statements import Connection, fetch_all, statements

SQL: Final = statements("people/replacement")

PLAIN: Final = 0
"""Instead of an archive's number: the target is another address, not a snapshot in an archive."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A suggestion for the URL `key`, made on `day` by a person. `target` is a URL in normal form.

    `asked` is the day of the newest check, None = it still waits for its first; `strikes` counts the consecutive checks
    that did not find it working; `works` = the newest check found it working, and people may see it.
    """

    key: UrlKey
    archive: int
    target: str
    day: int
    asked: int | None
    due: int
    strikes: int
    works: bool
    subject: str
    name: str


async def record_replacement(
    conn: Connection, key: UrlKey, *, archive: int, target: str, day: int, subject: str, name: str
) -> bool:
    """Replaces the earlier suggestion of its kind by this one, which is to be checked first.

    Returns whether anything has changed: not if it has the same target already, or the URL is not watched (U-9).
    """
    row = {**key._asdict(), "archive": archive, "target": target, "day": day, "subject": subject, "name": name}
    return await (await conn.execute(SQL["record_replacement"], row)).fetchone() is not None


async def find_replacements(conn: Connection, key: UrlKey) -> list[Replacement]:
    """All suggestions for a URL, checked or not, the one that is no snapshot first."""
    return await fetch_all(conn, _replacement, SQL["find_replacements"], key._asdict())


async def lease_replacements(
    conn: Connection, day: int, *, limit: int, archived: bool | None = None
) -> list[Replacement]:
    """Takes at most `limit` suggestions due by `day` for this worker alone; on the next day they are due again.

    `archived`: only snapshots, or only others.
    """
    row = {"day": day, "until": day + 1, "limit": limit, "archived": archived}
    return await fetch_all(conn, _replacement, SQL["lease_replacements"], row)


async def record_checked(
    conn: Connection, checked: Replacement, *, asked: int, due: int, strikes: int, works: bool
) -> bool:
    """Records the result of a check, and the day of the next; returns whether the suggestion still had that target."""
    place = {**checked.key._asdict(), "archive": checked.archive, "target": checked.target}
    row = {**place, "asked": asked, "due": due, "strikes": strikes, "works": works}
    return (await conn.execute(SQL["record_checked"], row)).rowcount > 0


async def delete_replacement(conn: Connection, key: UrlKey, *, archive: int, target: str) -> bool:
    """Deletes a suggestion with exactly this target; returns whether there was one."""
    row = {**key._asdict(), "archive": archive, "target": target}
    return (await conn.execute(SQL["delete_replacement"], row)).rowcount > 0


def _replacement(bucket: int, host_key: int, url_key: int, *columns: Any) -> Replacement:
    return Replacement(UrlKey(bucket, host_key, url_key), *columns)
