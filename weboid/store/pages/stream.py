"""The positions of event streams (P-6): how far they have taken effect, and what their effects have to look up.

What an event does to pages belongs to `page` and `pending`.
One law: a position is written in the same transaction as the effects up to it.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("pages/stream")


class Position(NamedTuple):
    """How far a comma-separated list of streams has taken effect.

    `last_event_id` is the server's own id, valid for this list only; `moment` that of the newest event (for the lag).
    """

    streams: str
    last_event_id: str
    moment: datetime


async def find_position(conn: Connection, streams: str) -> Position | None:
    """The position of that list; else of another list, of which only the moment can be used; else None."""
    row = await (await conn.execute(SQL["find_position"], {"streams": streams})).fetchone()
    return None if row is None else Position(*row)


async def record_move(conn: Connection, before: tuple[str, str] | None, after: Position) -> bool:
    """Records that everything up to `after` has taken effect, unless the position is another than `before`, of which
    streams and event id count (None = there is none); positions of other lists are deleted. Returns whether it was.
    """
    row = {"before_streams": before[0], "before_id": before[1]} if before else {}
    wanted = SQL["record_moved" if before else "record_first"]
    moved = await (await conn.execute(wanted, after._asdict() | row)).fetchone() is not None
    if moved and before and before[0] != after.streams:
        await conn.execute(SQL["record_other_positions_gone"], {"streams": after.streams})
    return moved


async def list_watched(conn: Connection, wiki: int, pages: Collection[int]) -> set[int]:
    """Which of these pages are watched."""
    row = {"wiki": wiki, "pages": sorted(pages)}
    return {page async for (page,) in await conn.execute(SQL["list_watched"], row)}


async def record_later(
    conn: Connection, wiki: int, pages: Mapping[int, datetime], titles: Mapping[str, datetime]
) -> None:
    """Makes pending pages wait until these moments: read earlier, links added meanwhile would be lost again."""
    if pages:
        row = {"wiki": wiki, "page": list(pages), "seen": list(pages.values())}
        await conn.execute(SQL["record_later"], row)
    if titles:
        row = {"wiki": wiki, "title": list(titles), "seen": list(titles.values())}
        await conn.execute(SQL["record_later_by_title"], row)


async def has_category(conn: Connection) -> bool:
    """Whether any wiki has a category tree that pages may be put into."""
    row = await (await conn.execute(SQL["has_category"])).fetchone()
    return bool(row and row[0])
