"""What a start page shows of the store: some pages of a wiki to begin with. Lists for editors (W-6) come elsewhere."""

from dataclasses import dataclass
from typing import Final

from weboid.store.pool import Connection
from weboid.store.statements import statements

SQL: Final = statements("overview")


@dataclass(frozen=True, slots=True)
class PageAtAGlance:
    """A page with the number of its dead links."""

    page: int
    namespace: int
    title: str
    dead: int


async def list_first_pages(conn: Connection, wiki: int, *, limit: int) -> list[PageAtAGlance]:
    """The pages of a wiki with the lowest ids."""
    rows = await conn.execute(SQL["list_first_pages"], {"wiki": wiki, "limit": limit})
    return [PageAtAGlance(*row) async for row in rows]
