"""Reading the verdict log and the dead links of a page (U-10).

Both are written by ``store/urls/check``, the dead links also by ``store/pages/use``.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.record.reasons import BY_NUMBER, Reason
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("urls/verdict_log")


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One line of the log: on `day` the verdict went from `before` to `after`."""

    change: int
    day: int
    before: Verdict
    after: Verdict
    reason: Reason | None


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
