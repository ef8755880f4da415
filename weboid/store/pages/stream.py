"""The positions of event streams (P-6), up to which events have taken effect, and look-ups for these effects.

The effects of an event on pages belong to `page` and `pending`. A position is written in the same transaction as the
effects up to it.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from weboid.store.db.statements import Connection, fetch_one, fetch_value, statements

SQL: Final = statements("pages/stream")

Streams = Annotated[str, Meta(max_length=2_000, pattern=r"^[A-Za-z0-9._,-]+\Z")]
EventId = Annotated[str, Meta(max_length=20_000)]


class Position(NamedTuple):
    """The position up to which a comma-separated list of streams has taken effect.

    `last_event_id` is the server's own id, valid for this list only; `moment` that of the newest event (for the lag).
    """

    streams: Streams
    last_event_id: EventId
    moment: datetime


async def find_position(conn: Connection, streams: str) -> Position | None:
    """The position of that list; else of another list, of which only the moment can be used; else None."""
    return await fetch_one(conn, Position, SQL["find_position"], {"streams": streams})


async def record_move(conn: Connection, before: tuple[str, str] | None, after: Position) -> bool:
    """Records that everything up to `after` has taken effect, unless the position is another than `before`, of which
    streams and event id count (None = there is none); positions of other lists are deleted. Returns whether it was.
    """
    row = {"before_streams": before[0], "before_id": before[1]} if before else {}
    statement = SQL["record_moved" if before else "record_first"]
    moved = await (await conn.execute(statement, after._asdict() | row)).fetchone() is not None
    if moved and before and before[0] != after.streams:
        await conn.execute(SQL["record_other_positions_gone"], {"streams": after.streams})
    return moved


async def list_watched(conn: Connection, wiki: int, pages: Collection[int]) -> set[int]:
    """Those of these pages that are watched."""
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
    """Returns whether any wiki has a category tree that pages may be put into."""
    return bool(await fetch_value(conn, SQL["has_category"]))
