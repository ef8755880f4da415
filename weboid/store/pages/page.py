"""Pages with the URLs that they use (P-3, L-7): new data is compared with stored data, and differences are written.

Which URLs of a page are watched is decided before, by ``core/url/classify``; what a use changes in other tables belongs
to ``store/pages/use``.
One law: after `record_pages` the tables page, url, host, link and dead agree on the given pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements
from weboid.store.pages.spam import list_spam_links, record_spam_added, record_spam_links, record_spam_pages_gone
from weboid.store.pages.use import (
    Differences,
    begin_intake,
    packed_keys,
    record_page_urls,
    record_uses,
    unpacked_keys,
)

SQL: Final = statements("pages/page")


@dataclass(frozen=True, slots=True)
class PageUrls:
    """A page with its watched URLs by key; `latest` and `mark` are those of `PageState`.

    `spam` has the links that are spam on it (L-3), as the page gives them; none of them is in `urls`.
    """

    page: int
    namespace: int
    title: str
    latest: int
    mark: int | None
    urls: Mapping[UrlKey, Url]
    spam: Mapping[UrlKey, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as the last pass left it; `touched` is the day of that pass."""

    page: int
    namespace: int
    title: str
    latest: int
    urls: tuple[UrlKey, ...]
    touched: int


@dataclass(slots=True)
class Intake:
    """The totals of what an intake has changed."""

    pages: int = 0
    pages_new: int = 0
    pages_changed: int = 0
    pages_gone: int = 0
    links: int = 0
    links_new: int = 0
    links_gone: int = 0
    urls_new: int = 0

    def __iadd__(self, other: "Intake") -> "Intake":
        for name in Intake.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


async def record_pages(
    conn: Connection, wiki: int, pages: Sequence[PageUrls], day: int, *, touches: bool = True
) -> Intake:
    """Brings the store up to date with pages of one wiki, each given at most once, in the caller's transaction.

    Their flags are cleared. `touches`: they are known to match the wiki's criteria on that day (P-4), or new here.
    """
    await begin_intake(conn)
    given = {page.page: page for page in sorted(pages, key=lambda page: page.page)}
    known = {row[0]: row async for row in await conn.execute(SQL["list_known"], {"wiki": wiki, "pages": list(given)})}
    changed: list[PageUrls] = []
    seen: list[int] = []
    differences = Differences()
    for page in given.values():
        *before, urls, touched, flagged = known.get(page.page, (None, b"", None, False))
        keys = packed_keys(page.urls)
        if before == [page.page, page.namespace, page.title, page.latest, page.mark] and urls == keys:
            if flagged or (touches and touched != day):
                seen.append(page.page)
            continue
        changed.append(page)
        if urls != keys:
            had = set(unpacked_keys(urls))
            differences.added += [(page.page, key) for key in page.urls.keys() - had]
            differences.gone += [(page.page, key) for key in had - page.urls.keys()]
    urls = {key: given[page].urls[key] for page, key in differences.added}
    urls_new = await record_uses(conn, wiki, differences, urls, day)
    await record_spam_links(conn, wiki, {page.page: page.spam for page in given.values()})
    await _record_page_rows(conn, wiki, changed, day, touches)
    if seen:
        await conn.execute(SQL["record_seen"], {"wiki": wiki, "pages": seen, "day": day, "touches": touches})
    new = sum(page not in known or known[page][3] == 0 for page in given)
    return Intake(
        pages=len(given),
        pages_new=new,
        pages_changed=len(changed) - new,
        links=sum(len(page.urls) for page in given.values()),
        links_new=len(differences.added),
        links_gone=len(differences.gone),
        urls_new=urls_new,
    )


Added = tuple[Mapping[UrlKey, Url], Mapping[UrlKey, str]]
"""What an edit added to a page: URLs that are watched, and links that are spam there, as the page gives them."""


async def record_added(conn: Connection, wiki: int, added: Mapping[int, Added], day: int) -> Intake:
    """Records what edits added to pages, by page id; pages that are not watched are skipped (P-6, P-10)."""
    await begin_intake(conn)
    rows = await conn.execute(SQL["list_urls_of"], {"wiki": wiki, "pages": sorted(added)})
    known = {page: unpacked_keys(urls) async for page, urls in rows}
    # A use stays a use, and spam stays spam, until the whole page is read.
    there = await list_spam_links(conn, wiki, known)
    new = {page: added[page][0].keys() - had - there.get(page, {}).keys() for page, had in known.items()}
    uses = [(page, key) for page, keys in new.items() for key in keys]
    urls = {key: added[page][0][key] for page, key in uses}
    urls_new = await record_uses(conn, wiki, Differences(added=uses), urls, day)
    await record_page_urls(conn, wiki, {page: {*known[page], *keys} for page, keys in new.items() if keys})
    unwanted = {
        page: {key: url for key, url in added[page][1].items() if key not in had} for page, had in known.items()
    }
    await record_spam_added(conn, wiki, unwanted)
    return Intake(pages=len(known), pages_changed=sum(map(bool, new.values())), links_new=len(uses), urls_new=urls_new)


async def release_pages(conn: Connection, wiki: int, pages: Sequence[int], day: int) -> Intake:
    """Stops watching pages: their records and uses are deleted, URLs without any other use are orphaned (P-5, U-8)."""
    await begin_intake(conn)
    rows = await conn.execute(SQL["list_urls_of"], {"wiki": wiki, "pages": sorted(pages)})
    known = {page: unpacked_keys(urls) async for page, urls in rows}
    gone = [(page, key) for page, keys in known.items() for key in keys]
    await record_uses(conn, wiki, Differences(gone=gone), {}, day)
    await record_spam_pages_gone(conn, wiki, pages)
    if known:
        await conn.execute(SQL["record_released"], {"wiki": wiki, "pages": list(known)})
    return Intake(pages_gone=len(known), links_gone=len(gone))


async def find_page(
    conn: Connection, wiki: int, *, page: int | None = None, title: str = "", namespace: int = 0
) -> StoredPage | None:
    """The page of that id, or without one of that title, as the last pass left it; None if it is not watched."""
    if page is not None:
        rows = await conn.execute(SQL["find_by_id"], {"wiki": wiki, "page": page})
    else:
        rows = await conn.execute(SQL["find_by_title"], {"wiki": wiki, "namespace": namespace, "title": title})
    row = await rows.fetchone()
    return None if row is None else _stored(row)


async def list_pages(conn: Connection, wiki: int, pages: Sequence[int]) -> list[StoredPage]:
    """The pages with these ids as the last pass left them, by id; those that are not watched are left out."""
    rows = await conn.execute(SQL["list_by_ids"], {"wiki": wiki, "pages": list(pages)})
    return [_stored(row) async for row in rows]


async def list_pages_of_namespace(
    conn: Connection, wiki: int, namespace: int, *, after: tuple[str, int] = ("", 0), limit: int
) -> list[StoredPage]:
    """At most `limit` pages of a namespace after a title and its page id, in the order of titles."""
    row = {"wiki": wiki, "namespace": namespace, "title": after[0], "page": after[1], "limit": limit}
    return [_stored(columns) async for columns in await conn.execute(SQL["list_of_namespace"], row)]


def _stored(row: tuple[Any, ...]) -> StoredPage:
    number, space, name, latest, urls, touched = row
    return StoredPage(number, space, name, latest, tuple(unpacked_keys(urls)), touched)


async def _record_page_rows(conn: Connection, wiki: int, pages: list[PageUrls], day: int, touches: bool) -> None:
    if not pages:
        return
    columns: dict[str, Any] = {
        "wiki": wiki,
        "day": day,
        "touches": touches,
        "page": [page.page for page in pages],
        "namespace": [page.namespace for page in pages],
        "title": [page.title for page in pages],
        "latest": [page.latest for page in pages],
        "mark": [page.mark for page in pages],
        "urls": [packed_keys(page.urls) for page in pages],
    }
    await conn.execute(SQL["record_pages"], columns)
