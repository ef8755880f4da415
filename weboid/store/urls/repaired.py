"""Dead links of which their page already offers an archived copy (L-10), as lists read them in the table `dead`.

It follows from links, cited copies and what of these is dead. Who changes one of them has locked the URLs of the dead
links, and derives it anew; NULL = that is still to be done.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spellings import plainest
from weboid.core.verdict.repaired import REPAIRING
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import columns_of, key_columns, url_of
from weboid.store.db.statements import Connection, fetch_all, fetch_by_key, statements
from weboid.store.urls.lock import lock_urls

SQL: Final = statements("urls/repaired")
_PLAIN: Final = statements("archives/with_url")["list_plain_urls"]
_OFFERED: Final = {"offered": sorted(archive.number for archive in REPAIRING)}


PageUse = tuple[int, UrlKey]
"""A URL on a page of the wiki at hand."""


class WrongLink(NamedTuple):
    """A link with what is recorded of it, and what holds."""

    wiki: int
    page: int
    key: UrlKey
    recorded: bool | None
    repaired: bool


async def record_repaired(
    conn: Connection, keys: Iterable[UrlKey], wiki: int | None = None, pages: Collection[int] = ()
) -> int:
    """Derives which of the dead links to these URLs are repaired: on all pages, or on some of a wiki; returns of how
    many something else was recorded."""
    if wrong := await list_wrong(conn, keys, wiki, pages):
        columns = columns_of(wrong, "wiki page repaired") | key_columns(each.key for each in wrong)
        await conn.execute(SQL["record_repaired"], columns)
    return len(wrong)


async def list_wrong(
    conn: Connection,
    keys: Iterable[UrlKey],
    wiki: int | None = None,
    pages: Collection[int] = (),
    *,
    dead: bool = True,
) -> list[WrongLink]:
    """The `dead` links to these URLs, or all of them, of which something else is recorded than holds."""
    originals = {key: key_of(plainest(url_of(row))) for key, row in await fetch_by_key(conn, _PLAIN, keys)}
    if not originals:
        return []
    bounds = {"wiki": wiki, "pages": sorted(pages), "dead": dead}
    columns = {
        **key_columns(originals),
        **{f"original_{name}": values for name, values in key_columns(originals.values()).items()},
        **_OFFERED,
        **bounds,
    }
    rows = await (await conn.execute(SQL["list_wrong"], columns)).fetchall()
    return [WrongLink(wiki, page, UrlKey(*key), *states) for wiki, page, *key, states in rows]


async def record_unknown(conn: Connection, *, limit: int = 1_000) -> int:
    """Derives it for about `limit` links of which it is unknown; returns for how many, 0 = none is left.

    Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    keys = await fetch_all(conn, UrlKey, SQL["list_unknown"], {"limit": limit})
    await lock_urls(conn, keys)
    return await record_repaired(conn, keys)


async def list_repaired(conn: Connection, wiki: int, links: Iterable[PageUse], *, dead: bool = True) -> set[PageUse]:
    """Those of these links of a wiki (page, URL) that are repaired; not `dead`: of doubtful ones, derived now."""
    asked = sorted(set(links))
    columns = {"wiki": wiki, "page": [page for page, _ in asked], **key_columns(key for _, key in asked)}
    rows = await conn.execute(SQL["list_repaired"], columns)
    repaired = {(page, UrlKey(*key)) async for page, *key in rows}
    if not dead:
        wrong = await list_wrong(conn, {key for _, key in asked}, wiki, {page for page, _ in asked}, dead=False)
        repaired ^= {(each.page, each.key) for each in wrong if each.repaired or each.recorded}.intersection(asked)
    return repaired
