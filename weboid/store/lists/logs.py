"""New lines of the two logs, of verdict changes (U-10) and of people's actions (H-4), for kept answers.

Numbers are assigned before lines are committed, so a number is settled only when all transactions have ended that were
writing while it was the newest; the lines are read after that was seen. A hot standby shows neither: what is settled
there follows from a row that the primary writes (`record_settled`), which comes after the lines in the log of writes.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.store.db.statements import Connection, fetch_all, fetch_one, statements

SQL: Final = statements("lists/logs")
_POLL_S: Final = 0.02


class LogPlace(NamedTuple):
    """A place in both logs: the numbers of a verdict change and of what a person did."""

    change: int
    audit: int


@dataclass(frozen=True, slots=True)
class LogEnds:
    """The newest numbers, and the transactions that were writing a moment after: theirs may be lower."""

    place: LogPlace
    writers: frozenset[str]


class LoggedAction(NamedTuple):
    """An action of a person, in the words of the audit log."""

    action: str
    object: str
    detail: str


@dataclass(frozen=True, slots=True)
class NewLines:
    """The lines after a place; `is_more` = there are more than were to be read."""

    urls: Sequence[UrlKey]
    actions: Sequence[LoggedAction]
    is_more: bool


async def find_ends(conn: Connection) -> LogEnds:
    """The ends of both logs. The connection is one of `Pool.reading`: each statement sees what is committed by then."""
    newest = await fetch_one(conn, LogPlace, SQL["find_newest"]) or LogPlace(0, 0)
    return LogEnds(newest, frozenset(await fetch_all(conn, str, SQL["list_writers"])))


async def record_settled(conn: Connection, *, patience_s: float = 1.0) -> bool:
    """Records for standbys how far both logs are settled now; returns False where somebody still writes to them after
    `patience_s`. The connection is one of `Pool.reading` on the primary."""
    ends = await find_ends(conn)
    writers = ends.writers
    with suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            while writers:
                await asyncio.sleep(_POLL_S)
                writers &= (await find_ends(conn)).writers
    if not writers:
        await conn.execute(SQL["record_settled"], ends.place._asdict())
    return not writers


async def list_new_lines(conn: Connection, after: LogPlace, *, limit: int) -> NewLines:
    """The committed lines after a place, at most `limit` of each log."""
    row = {"limit": limit + 1}
    urls = await fetch_all(conn, UrlKey, SQL["list_new_changes"], {**row, "after": after.change})
    actions = await fetch_all(conn, LoggedAction, SQL["list_new_audit"], {**row, "after": after.audit})
    return NewLines(urls, actions, len(urls) > limit or len(actions) > limit)
