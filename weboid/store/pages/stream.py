"""Event streams in the store (P-6): how far they have taken effect, and what their effects have to look up.

What an event does to pages is the business of `page` and `pending`.
One law: a position is written in the transaction of the effects that it stands for.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("pages/stream")


class Position(NamedTuple):
    """How far a comma list of streams has taken effect.

    `last_event_id` is the server's own word, good for this list only; `moment` that of the newest event (the lag).
    """

    streams: str
    last_event_id: str
    moment: datetime


async def find_position(conn: Connection, streams: str) -> Position | None:
    """The position of that list; else of another list, whose moment alone is of use; else None."""
    row = await (await conn.execute(SQL["find_position"], {"streams": streams})).fetchone()
    return None if row is None else Position(*row)


async def record_position(conn: Connection, position: Position) -> None:
    """Everything up to there has taken effect; what other lists had reached is forgotten."""
    await conn.execute(SQL["record_other_positions_gone"], {"streams": position.streams})
    await conn.execute(SQL["record_position"], position._asdict())


async def list_watched(conn: Connection, wiki: int, pages: Collection[int]) -> set[int]:
    """Which of these pages are watched."""
    row = {"wiki": wiki, "pages": sorted(pages)}
    return {page async for (page,) in await conn.execute(SQL["list_watched"], row)}


async def record_later(
    conn: Connection, wiki: int, pages: Mapping[int, datetime], titles: Mapping[str, datetime]
) -> None:
    """Pages that wait to be read are not read before these moments: else links added meanwhile would be lost again."""
    if pages:
        row = {"wiki": wiki, "page": list(pages), "seen": list(pages.values())}
        await conn.execute(SQL["record_later"], row)
    if titles:
        row = {"wiki": wiki, "title": list(titles), "seen": list(titles.values())}
        await conn.execute(SQL["record_later_by_title"], row)


async def has_category(conn: Connection) -> bool:
    """Whether any wiki has a category tree that pages may come into."""
    row = await (await conn.execute(SQL["has_category"])).fetchone()
    return bool(row and row[0])
