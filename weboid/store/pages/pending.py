"""Pages that were handed in to the feeder between two passes, until they are read (P-6, P-8).

A page that is handed in again while it is read stays pending. URLs of pages that somebody looks at become due at once
if they were not checked for a week (C-4): that waits for no other writer, and moves a bounded number of URLs a day.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from weboid.core.url.keys import UrlKey
from weboid.core.wikitext.titles import NamespaceNames
from weboid.store.db.rows import HostKey, columns_of, host_key_columns, key_columns
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements
from weboid.store.pages.stored_page import find_titled
from weboid.store.pages.use import unpacked_keys
from weboid.store.pages.wiki import list_namespaces
from weboid.store.urls.lock import hosts_of

SQL: Final = statements("pages/pending")
PAGE_SQL: Final = statements("pages/page")
MOST_WAITING: Final = 20_000
"""While so many pages of a wiki wait, none are accepted that a request merely named."""
UNCHECKED_DAYS: Final = 7
"""Days without a check after which a URL is moved: the shortest interval of working URLs."""
MOST_A_DAY: Final = 100_000
"""URLs that are moved on a day, about as many as a small crawler checks in an hour or two. By a statement only as many
as are locked at once, so a little more if many pages are looked at in the same moment."""
MOST_AT_ONCE: Final = 1_000
"""URLs that are moved for one request; the longest unchecked ones come first."""

BRANCH: Final = "Category:"
"""The begin of the title of an entry with id 0 that is `matched` and no page: categories may be new in that one."""

Page = Annotated[int, Meta(ge=0, le=2**31 - 1)]
NO_CONTROLS: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*\Z"
Title = Annotated[str, Meta(max_length=1_000, pattern=NO_CONTROLS)]


class Pending(NamedTuple):
    """A page to read once the source has come past `seen`: by id, or by title (with prefix) and id 0.

    `matched`: it is known to match a criterion that the page itself does not show, such as a category tree.
    """

    page: Page
    title: Title
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
    if rows := sorted(newest.values()):
        columns = columns_of(rows, "page title seen matched")
        await conn.execute(SQL["record_pending"], {"wiki": wiki, **columns})


async def record_asked(conn: Connection, wiki: int, pages: Sequence[int], day: int) -> None:
    """For pages that a request named: watched ones are kept by it, the others handed in to the feeder (P-8, P-10).

    The URLs of pages that are requested first on that day are moved forward (C-4).
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
    """Returns whether pages that a request names are accepted now."""
    return bool(await fetch_value(conn, SQL["has_room"], {"wiki": wiki, "most": MOST_WAITING}))


async def list_pending(conn: Connection, wiki: int, until: datetime, limit: int) -> list[Pending]:
    """At most `limit` pages whose moment is not after `until`, oldest first."""
    return await fetch_all(conn, Pending, SQL["list_pending"], {"wiki": wiki, "until": until, "limit": limit})


async def record_done(conn: Connection, wiki: int, pages: Sequence[Pending]) -> None:
    """Removes pages that were read, unless they were handed in again meanwhile."""
    await conn.execute(SQL["record_done"], {"wiki": wiki, **columns_of(pages, "page title seen")})


async def is_waiting(conn: Connection, wiki: int, pages: Sequence[Pending]) -> bool:
    """Returns whether all of these pages still wait, from that moment or a later one on; none is locked."""
    waiting = await fetch_value(conn, SQL["count_waiting"], {"wiki": wiki, **columns_of(pages, "page title")})
    return waiting == len({(page.page, page.title) for page in pages})


async def move_forward(conn: Connection, urls: Iterable[UrlKey], day: int) -> int:
    """Makes those URLs due on `day` that are not, and have not been checked for long; returns how many.

    They and their hosts are locked in the order of their keys, first the URLs; what others have locked is left as it
    is.
    """
    keys = sorted(set(urls))
    if not keys:
        return 0
    limit = min(MOST_AT_ONCE, MOST_A_DAY - (await fetch_value(conn, SQL["find_moved"], {"day": day}) or 0))
    if limit <= 0:
        return 0
    bounds = {"day": day, "before": day - UNCHECKED_DAYS, "limit": limit}
    # Where the store is on several servers each gives so many.
    locked = (await fetch_all(conn, UrlKey, SQL["lock_urls"], {**key_columns(keys), **bounds}))[:limit]
    if not locked:
        return 0
    hosts = set(await fetch_all(conn, HostKey, SQL["lock_hosts"], host_key_columns(sorted(hosts_of(locked)))))
    moved = sorted(key for key in locked if key[:2] in hosts)
    if moved:
        await conn.execute(SQL["record_due"], {"day": day, **key_columns(moved)})
        await conn.execute(SQL["record_hosts"], {"day": day, **host_key_columns(sorted(hosts))})
        await conn.execute(SQL["record_moved"], {"day": day, "urls": len(moved)})
    return len(moved)
