"""Reading the verdict log and the dead links of a page (U-10).

Both are written by ``store/urls/check``, the dead links also by ``store/pages/use``. Who follows the log goes on from a
number: numbers are assigned before changes are committed, so `find_settled` waits for those who are still writing.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.record.reasons import BY_NUMBER, Reason
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict
from weboid.errors import StoreError
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("urls/verdict_log")
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One line of the log: on `day` the verdict went from `before` to `after`."""

    change: int
    day: int
    before: Verdict
    after: Verdict
    reason: Reason | None


async def find_settled(conn: Connection, *, patience_s: float = 2.0) -> int:
    """A number up to which all changes are committed, or never will be.

    Raises StoreError if a transaction that was writing at the time of the call has not ended within `patience_s`
    (D-43).
    """
    row = await (await conn.execute(SQL["find_newest"])).fetchone()
    newest = int(row[0]) if row else 0
    # A transaction locks the table before it gets a number, and keeps the lock until it ends.
    waited_for = await _list_writers(conn)
    try:
        async with asyncio.timeout(patience_s):
            while waited_for:
                await asyncio.sleep(_POLL_S)
                waited_for &= await _list_writers(conn)
    except TimeoutError:
        raise StoreError("the log of changes is being written for unusually long") from None
    return newest


async def list_changes(conn: Connection, key: UrlKey, *, limit: int = 100) -> list[LoggedChange]:
    """The changes of one URL, newest first."""
    rows = await conn.execute(SQL["list_changes"], {**key._asdict(), "limit": limit})
    return [
        LoggedChange(change, day, Verdict(before), Verdict(after), None if reason is None else BY_NUMBER[reason])
        async for change, day, before, after, reason in rows
    ]


async def list_dead(conn: Connection, wiki: int, page: int) -> dict[UrlKey, int]:
    """The dead links of a page, each with the day since when it is dead."""
    rows = await conn.execute(SQL["list_dead"], {"wiki": wiki, "page": page})
    return {UrlKey(*row[:3]): row[3] async for row in rows}


async def _list_writers(conn: Connection) -> set[Any]:
    return {writer async for (writer,) in await conn.execute(SQL["list_writers"])}
