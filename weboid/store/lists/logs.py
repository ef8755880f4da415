"""What is new in the two logs, of verdict changes (U-10) and of what people did (H-4): for those who keep answers.

One law: numbers are assigned before lines are committed, so a number is settled only when all have ended who were
writing while it was the newest; the lines are read after that was seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("lists/logs")


class LogPlace(NamedTuple):
    """A place in both logs: the numbers of a verdict change and of what a person did."""

    change: int
    audit: int


@dataclass(frozen=True, slots=True)
class LogEnds:
    """The newest numbers, and the transactions that were writing a moment after: theirs may be lower."""

    place: LogPlace
    writers: frozenset[str]


class LoggedDeed(NamedTuple):
    """What somebody did, in the words of the audit log."""

    action: str
    object: str
    detail: str


@dataclass(frozen=True, slots=True)
class NewLines:
    """The lines after a place; `is_more` = there are more than were to be read."""

    urls: Sequence[UrlKey]
    deeds: Sequence[LoggedDeed]
    is_more: bool


async def find_ends(conn: Connection) -> LogEnds:
    """The ends of both logs. The connection is one of `Pool.reading`: each statement sees what is committed by then."""
    newest = await (await conn.execute(SQL["find_newest"])).fetchone()
    writers = await (await conn.execute(SQL["list_writers"])).fetchall()
    return LogEnds(LogPlace(*newest) if newest else LogPlace(0, 0), frozenset(writer for (writer,) in writers))


async def list_new_lines(conn: Connection, after: LogPlace, *, limit: int) -> NewLines:
    """The committed lines after a place, at most `limit` of each log."""
    row = {"limit": limit + 1}
    changes = await (await conn.execute(SQL["list_new_changes"], {**row, "after": after.change})).fetchall()
    deeds = await (await conn.execute(SQL["list_new_audit"], {**row, "after": after.audit})).fetchall()
    is_more = len(changes) > limit or len(deeds) > limit
    return NewLines([UrlKey(*key) for key in changes], [LoggedDeed(*deed) for deed in deeds], is_more)
