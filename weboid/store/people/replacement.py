"""What people suggest instead of dead URLs: exactly one replacement a URL, and one snapshot of each archive (A-4).

Whether a suggestion is fit, and how it did when it was asked, is found out by `web` and `crawl`; answers read through
`notes`. Who did what is written into the log by the caller, in the same transaction; `people` undoes all that one has
suggested, and with its URL a suggestion goes, too (`report`).
One law: a suggestion stands only beside a URL of the store, and is changed by no check of another target.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.url.keys import UrlKey
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("people/replacement")

PLAIN: Final = 0
"""In the place of an archive's number: no archive, but another address."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A suggestion for the URL `key`, made on `day` by somebody. `target` is a URL in normal form.

    `asked` is the day of the newest check, None = it still waits for its first; `strikes` counts the checks in a row
    that did not find it working; `works` = the newest one did, and people may see it.
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
    """Puts a suggestion in the place of the earlier one of its kind, to be checked first.

    Returns whether anything has changed: not if the same target stands there already, or the URL is not watched (U-9).
    """
    row = {**key._asdict(), "archive": archive, "target": target, "day": day, "subject": subject, "name": name}
    return await (await conn.execute(SQL["record_replacement"], row)).fetchone() is not None


async def find_replacements(conn: Connection, key: UrlKey) -> list[Replacement]:
    """All suggestions for a URL, in whatever state, the plain one first."""
    return [_replacement(row) async for row in await conn.execute(SQL["find_replacements"], key._asdict())]


async def lease_replacements(conn: Connection, day: int, *, limit: int) -> list[Replacement]:
    """Takes at most `limit` suggestions due by `day`, for this worker alone: a day later they are due again."""
    row = {"day": day, "until": day + 1, "limit": limit}
    return [_replacement(columns) async for columns in await conn.execute(SQL["lease_replacements"], row)]


async def record_checked(
    conn: Connection, checked: Replacement, *, asked: int, due: int, strikes: int, works: bool
) -> bool:
    """What a check found, and when the next is due; returns whether that target was still there."""
    row = {**_place(checked), "asked": asked, "due": due, "strikes": strikes, "works": works}
    return (await conn.execute(SQL["record_checked"], row)).rowcount > 0


async def delete_replacement(conn: Connection, key: UrlKey, *, archive: int, target: str) -> bool:
    """Takes back a suggestion with this very target; returns whether it was there."""
    row = {**key._asdict(), "archive": archive, "target": target}
    return (await conn.execute(SQL["delete_replacement"], row)).rowcount > 0


def _place(replacement: Replacement) -> dict[str, Any]:
    return {**replacement.key._asdict(), "archive": replacement.archive, "target": replacement.target}


def _replacement(row: Sequence[Any]) -> Replacement:
    return Replacement(UrlKey(*row[:3]), *row[3:])
