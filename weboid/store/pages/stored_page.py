"""Pages as the last pass left them: found by id, title or namespace, whole or in parts (W-8, W-10). For reading only.

What is recorded of pages is in ``store/pages/page``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.url.keys import UrlKey
from weboid.core.wikitext.titles import NamespaceNames, PageSpot
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements
from weboid.store.pages.spam import list_spam_part
from weboid.store.pages.use import KEY_BYTES, unpacked_keys

SQL: Final = statements("pages/page")


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as the last pass left it; `touched` is the day of that pass."""

    page: int
    namespace: int
    title: str
    latest: int
    urls: tuple[UrlKey, ...]
    touched: int


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page with the number of its links, without them."""

    page: int
    title: str
    links: int


@dataclass(frozen=True, slots=True)
class StoredPart:
    """Some links of a page as the last pass left it: first those that are watched, by key, then those that are spam.

    `total` are all of its links; `check` differs whenever the watched ones do.
    """

    page: StoredPage
    spam: Mapping[UrlKey, str]
    total: int
    check: str


async def find_page(conn: Connection, wiki: int, page: int) -> StoredPage | None:
    """The page of that id as the last pass left it; None if it is not watched."""
    row = await (await conn.execute(SQL["find_by_id"], {"wiki": wiki, "page": page})).fetchone()
    return None if row is None else _stored(row)


async def find_page_part(conn: Connection, wiki: int, page: int, *, first: int, limit: int) -> StoredPart | None:
    """At most `limit` links of a page from the one with the number `first` on; None if it is not watched.

    The rest of a large page is not even read.
    """
    values = {"wiki": wiki, "page": page, "begin": first * KEY_BYTES + 1, "bytes": limit * KEY_BYTES}
    row = await (await conn.execute(SQL["find_part"], values)).fetchone()
    if row is None:
        return None
    *columns, size, digest, spam = row
    stored, watched = _stored(tuple(columns)), size // KEY_BYTES
    links: dict[UrlKey, str] = {}
    if spam and len(stored.urls) < limit:
        at = max(first - watched, 0)
        links = await list_spam_part(conn, wiki, page, first=at, limit=limit - len(stored.urls))
    return StoredPart(stored, links, watched + spam, digest)


async def find_titled(conn: Connection, wiki: int, titles: Iterable[str], namespaces: NamespaceNames) -> dict[str, int]:
    """The ids of the watched pages of these titles, which may have a prefix; others, also redirects, are left out."""
    spots = {title: namespaces.spots(title) for title in titles}
    wanted = sorted({spot for some in spots.values() for spot in some})
    columns = {"namespaces": [spot.namespace for spot in wanted], "titles": [spot.title for spot in wanted]}
    rows = await conn.execute(SQL["list_by_spots"], {"wiki": wiki, **columns})
    found = {PageSpot(namespace, title): page async for namespace, title, page in rows}
    pages = {title: next((found[spot] for spot in some if spot in found), None) for title, some in spots.items()}
    return {title: page for title, page in pages.items() if page is not None}


async def list_pages(conn: Connection, wiki: int, pages: Sequence[int]) -> list[ListedPage]:
    """The pages with these ids, by id; those that are not watched are left out."""
    rows = await conn.execute(SQL["list_by_ids"], {"wiki": wiki, "pages": list(pages)})
    return [_listed(row) async for row in rows]


async def list_pages_of_namespace(
    conn: Connection, wiki: int, namespace: int, *, after: tuple[str, int] = ("", 0), limit: int
) -> list[ListedPage]:
    """At most `limit` pages of a namespace after a title and its page id, in the order of titles."""
    row = {"wiki": wiki, "namespace": namespace, "title": after[0], "page": after[1], "limit": limit}
    return [_listed(columns) async for columns in await conn.execute(SQL["list_of_namespace"], row)]


def _listed(row: tuple[Any, ...]) -> ListedPage:
    page, title, size, spam = row
    return ListedPage(page, title, size // KEY_BYTES + spam)


def _stored(row: tuple[Any, ...]) -> StoredPage:
    number, space, name, latest, urls, touched = row
    return StoredPage(number, space, name, latest, tuple(unpacked_keys(urls)), touched)
