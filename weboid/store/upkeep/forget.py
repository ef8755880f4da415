"""Forgetting a wiki: counting what the store has of it, and deleting what is not its pages.

``maintain/forget`` leads; pages with their uses are released by ``store/pages/page``.
"""

from typing import Final

from weboid.core.url.keys import BUCKETS
from weboid.store.db.statements import Connection, fetch_value, statements
from weboid.store.pages.use import begin_intake
from weboid.store.pages.wiki import StoredWiki

SQL: Final = statements("upkeep/forget")
STRETCH: Final = 16
STRETCHES: Final = BUCKETS // STRETCH
LINES: Final = 100_000
"""Lines of the log that are looked through in one transaction."""


async def count_pages(conn: Connection, wiki: int) -> tuple[int, int]:
    """The numbers of a wiki's pages, and of the uses of URLs on them."""
    row = await (await conn.execute(SQL["count_pages"], {"wiki": wiki})).fetchone()
    return (row[0], row[1]) if row else (0, 0)


async def count_urls(conn: Connection, wiki: int, stretch: int) -> tuple[int, int]:
    """The numbers of the URLs on a wiki's pages, in a stretch of buckets, and of those that no other wiki uses."""
    row = {"wiki": wiki, "first": stretch * STRETCH, "end": (stretch + 1) * STRETCH}
    found = await (await conn.execute(SQL["count_urls"], row)).fetchone()
    return (found[0], found[1]) if found else (0, 0)


async def list_pages(conn: Connection, wiki: int, *, limit: int, most_uses: int) -> list[int]:
    """The first pages of a wiki, by id: at most `limit`, and `most_uses` uses unless a single page has more."""
    pages: list[int] = []
    uses = 0
    async for page, more in await conn.execute(SQL["list_pages"], {"wiki": wiki, "limit": limit}):
        uses += more
        if pages and uses > most_uses:
            break
        pages.append(page)
    return pages


async def delete_changes(conn: Connection, wiki: int, after: int) -> int | None:
    """Deletes the wiki's own lines in the `LINES` numbers of the log after one; returns the last, None at the end."""
    if after >= (await fetch_value(conn, SQL["find_last_change"]) or 0):
        return None
    await conn.execute(SQL["delete_changes"], {"wiki": wiki, "after": after, "last": after + LINES})
    return after + LINES


async def delete_wiki(conn: Connection, wiki: StoredWiki, name: str) -> bool:
    """Deletes a wiki without pages, with all that refers to it; returns False, and does nothing, if it has pages.

    `name` as ``dewiki@WMF``. Another process that still reads its pages waits, and fails then.
    """
    await begin_intake(conn)
    await conn.execute(SQL["lock_wiki"], {"wiki": wiki.wiki})
    if await list_pages(conn, wiki.wiki, limit=1, most_uses=0):
        return False
    row = {"wiki": wiki.wiki, "farm": wiki.farm, "dbname": wiki.dbname, "name": name}
    for statement in ("delete_rest", "delete_rules", "delete_reverts", "delete_wiki"):
        await conn.execute(SQL[statement], row)
    return True
