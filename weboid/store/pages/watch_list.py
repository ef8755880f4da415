"""The page that says which wikis are watched, as it was last read; what it means belongs to ``wiki/watch_list``.

One law: a page that is not in force never takes the place of one that was; why it is not is kept beside it.
"""

from dataclasses import dataclass
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("pages/watch_list")


@dataclass(frozen=True, slots=True)
class StoredWatchList:
    """`text` is the newest in force, None = none ever was; `fault` = why the page as it is now is not, "" = it is.

    `age_s` = the seconds since it was read, by the database's clock.
    """

    source: str
    text: str | None
    fault: str = ""
    age_s: float = 0.0


async def find_watch_list(conn: Connection, source: str) -> StoredWatchList | None:
    """The page of this name as it is stored; None if it was never read."""
    row = await (await conn.execute(SQL["find_watch_list"], {"source": source})).fetchone()
    return None if row is None else StoredWatchList(*row)


async def record_watch_list(conn: Connection, source: str, text: str | None, fault: str) -> None:
    """Stores a page as it was read just now; with a fault the text before is kept, whatever is given."""
    await conn.execute(SQL["record_watch_list"], {"source": source, "text": text, "fault": fault})
