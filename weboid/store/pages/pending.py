"""Pages that were handed in to the feeder between two passes, until they are read (P-6, P-8).

One law: a page that is handed in again while it is read stays pending.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from weboid.core.wikitext.titles import NamespaceNames
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements
from weboid.store.pages.forward import move_forward
from weboid.store.pages.stored_page import find_titled
from weboid.store.pages.use import unpacked_keys
from weboid.store.pages.wiki import list_namespaces

SQL: Final = statements("pages/pending")
PAGE_SQL: Final = statements("pages/page")
MOST_WAITING: Final = 20_000
"""While so many pages of a wiki wait, none are accepted that a request merely named."""


class Pending(NamedTuple):
    """A page to read once the source has come past `seen`: by id, or by title (with prefix) and id 0.

    `matched`: it is known to match a criterion that the page itself does not show, such as a category tree.
    """

    page: int
    title: str
    seen: datetime
    matched: bool = False


async def record_pending(conn: Connection, wiki: int, pages: Sequence[Pending]) -> None:
    """Hands in pages of one wiki; the latest moment of a page counts."""
    newest: dict[tuple[int, str], Pending] = {}
    for page in pages:
        key = (page.page, page.title)
        if known := newest.get(key):
            page = page._replace(seen=max(page.seen, known.seen), matched=page.matched or known.matched)
        newest[key] = page
    rows = sorted(newest.values())
    if rows:
        columns = {
            "page": [row.page for row in rows],
            "title": [row.title for row in rows],
            "seen": [row.seen for row in rows],
            "matched": [row.matched for row in rows],
        }
        await conn.execute(SQL["record_pending"], {"wiki": wiki, **columns})


async def record_asked(conn: Connection, wiki: int, pages: Sequence[int], day: int) -> None:
    """For pages that a request named: watched ones are touched, the others handed in to the feeder (P-8, P-10).

    The URLs of pages that are touched first on that day are moved forward (C-4).
    """
    row = {"wiki": wiki, "pages": sorted(pages)}
    rows = await (await conn.execute(PAGE_SQL["record_asked"], {**row, "day": day})).fetchall()
    await move_forward(conn, (key for (urls,) in rows for key in unpacked_keys(urls)), day)
    await conn.execute(SQL["record_strangers"], {**row, "most": MOST_WAITING})


async def record_asked_titles(conn: Connection, wiki: int, titles: Sequence[str], day: int) -> None:
    """As `record_asked`, by title."""
    known = await find_titled(conn, wiki, titles, NamespaceNames(await list_namespaces(conn, wiki)))
    await record_asked(conn, wiki, list(known.values()), day)
    strangers = sorted(set(titles) - known.keys())
    await conn.execute(SQL["record_strange_titles"], {"wiki": wiki, "titles": strangers, "most": MOST_WAITING})


async def has_room(conn: Connection, wiki: int) -> bool:
    """Whether pages that a request names are accepted now."""
    row = await (await conn.execute(SQL["has_room"], {"wiki": wiki, "most": MOST_WAITING})).fetchone()
    return row is not None and bool(row[0])


async def list_pending(conn: Connection, wiki: int, until: datetime, limit: int) -> list[Pending]:
    """At most `limit` pages whose moment is not after `until`, oldest first."""
    row = {"wiki": wiki, "until": until, "limit": limit}
    return [Pending(*columns) async for columns in await conn.execute(SQL["list_pending"], row)]


async def record_done(conn: Connection, wiki: int, pages: Sequence[Pending]) -> None:
    """Removes pages that were read, unless they were handed in again meanwhile."""
    columns = {
        "page": [page.page for page in pages],
        "title": [page.title for page in pages],
        "seen": [page.seen for page in pages],
    }
    await conn.execute(SQL["record_done"], {"wiki": wiki, **columns})


async def is_waiting(conn: Connection, wiki: int, pages: Sequence[Pending]) -> bool:
    """Whether all of these pages still wait, from that moment or a later one on; none is locked."""
    columns = {"page": [page.page for page in pages], "title": [page.title for page in pages]}
    row = await (await conn.execute(SQL["count_waiting"], {"wiki": wiki, **columns})).fetchone()
    return row is not None and row[0] == len({(page.page, page.title) for page in pages})
