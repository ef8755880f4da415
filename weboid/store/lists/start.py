"""What the start page shows of the store: some pages of each wiki. Lists for editors (W-6) are in `links`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("lists/start")


@dataclass(frozen=True, slots=True)
class PageAtAGlance:
    """A page with `dead`, the number of its dead links."""

    page: int
    namespace: int
    title: str
    dead: int


async def list_first_pages(conn: Connection, wikis: Sequence[int], *, limit: int) -> dict[int, list[PageAtAGlance]]:
    """For each of these wikis at most `limit` of its pages, those with the lowest ids."""
    found: dict[int, list[PageAtAGlance]] = {wiki: [] for wiki in wikis}
    async for wiki, *row in await conn.execute(SQL["list_first_pages"], {"wikis": list(wikis), "limit": limit}):
        found[wiki].append(PageAtAGlance(*row))
    return found
