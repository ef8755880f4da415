"""Pages as the last pass left them, for readers: found by id, title or namespace, whole or in parts (W-8, W-10).

``store/pages/page`` writes them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from weboid.core.url.keys import UrlKey
from weboid.core.wikitext.titles import NamespaceNames, PageSpot
from weboid.store.db.statements import Connection, fetch_all, fetch_one, statements
from weboid.store.pages.spam import list_spam_parts
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
    return await fetch_one(conn, _stored, SQL["find_by_id"], {"wiki": wiki, "page": page})


async def list_page_parts(
    conn: Connection, wiki: int, pages: Sequence[int], *, first: int, limit: int
) -> dict[int, StoredPart]:
    """The links of pages in this order, at most `limit` of all: of the first page from the one with the number `first`
    on, of the others from their own first ones on.

    One statement, two if some are spam. Left out are pages that are not watched, and those for which there is no room.
    """
    values = {"wiki": wiki, "pages": list(pages), "first": first, "limit": limit, "bytes": KEY_BYTES}
    rows = await (await conn.execute(SQL["list_parts"], values)).fetchall()
    spam_parts: dict[int, tuple[int, int]] = {}
    found: dict[int, StoredPart] = {}
    spam_links: dict[int, dict[UrlKey, str]] = {}
    for *columns, watched, digest, spam, room in rows:
        stored = _stored(*columns)
        at = max(first - watched, 0) if stored.page == pages[0] else 0
        if spam > at and len(stored.urls) < room:
            spam_parts[stored.page] = at, room - len(stored.urls)
        found[stored.page] = StoredPart(stored, spam_links.setdefault(stored.page, {}), watched + spam, digest)
    for page, links in (await list_spam_parts(conn, wiki, spam_parts)).items():
        spam_links[page].update(links)
    return found


async def find_titled(conn: Connection, wiki: int, titles: Iterable[str], namespaces: NamespaceNames) -> dict[str, int]:
    """The ids of the watched pages of these titles, which may have a prefix; others, also redirects, are left out."""
    spots = {title: namespaces.spots(title) for title in titles}
    every = sorted({spot for some in spots.values() for spot in some})
    columns = {"namespaces": [spot.namespace for spot in every], "titles": [spot.title for spot in every]}
    rows = await conn.execute(SQL["list_by_spots"], {"wiki": wiki, **columns})
    found = {PageSpot(namespace, title): page async for namespace, title, page in rows}
    pages = {title: next((found[spot] for spot in some if spot in found), None) for title, some in spots.items()}
    return {title: page for title, page in pages.items() if page is not None}


async def list_pages(conn: Connection, wiki: int, pages: Sequence[int]) -> list[ListedPage]:
    """The pages with these ids, by id; those that are not watched are left out."""
    return await fetch_all(conn, _listed, SQL["list_by_ids"], {"wiki": wiki, "pages": list(pages)})


async def list_pages_of_namespace(
    conn: Connection, wiki: int, namespace: int, *, after: tuple[str, int] = ("", 0), limit: int
) -> list[ListedPage]:
    """At most `limit` pages of a namespace after a title and its page id, in the order of titles."""
    row = {"wiki": wiki, "namespace": namespace, "title": after[0], "page": after[1], "limit": limit}
    return await fetch_all(conn, _listed, SQL["list_of_namespace"], row)


def _listed(page: int, title: str, size: int, spam: int) -> ListedPage:
    return ListedPage(page, title, size // KEY_BYTES + spam)


def _stored(page: int, namespace: int, title: str, latest: int, urls: bytes, touched: int) -> StoredPage:
    return StoredPage(page, namespace, title, latest, tuple(unpacked_keys(urls)), touched)
