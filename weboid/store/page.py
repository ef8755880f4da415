"""Pages with the URLs that they use (P-3, L-7): what comes in is compared with what is there, and differences written.

Which URLs of a page are watched is decided before (`core.classify`); what a use changes elsewhere is `use`'s business.
One law: after `record_pages` the tables page, url, host, link and dead say the same of the pages given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.keys import UrlKey
from weboid.core.urls import Url
from weboid.store.pool import Connection
from weboid.store.statements import statements
from weboid.store.use import Differences, packed_keys, record_urls, record_uses, unpacked_keys

SQL: Final = statements("page")


@dataclass(frozen=True, slots=True)
class PageUrls:
    """A page with its watched URLs by key; `latest` and `mark` are those of `PageState`."""

    page: int
    namespace: int
    title: str
    latest: int
    mark: int | None
    urls: Mapping[UrlKey, Url]


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
    """What an intake has changed, added up."""

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
    urls_new = await record_urls(conn, {key: given[page].urls[key] for page, key in differences.added}, day)
    await record_uses(conn, wiki, differences, day)
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


async def record_added(conn: Connection, wiki: int, added: Mapping[int, Mapping[UrlKey, Url]], day: int) -> Intake:
    """Takes in URLs that an edit added to pages, by page id; pages that are not watched are passed over (P-6, P-10)."""
    rows = await conn.execute(SQL["list_urls_of"], {"wiki": wiki, "pages": sorted(added)})
    known = {page: unpacked_keys(urls) async for page, urls in rows}
    new = {page: added[page].keys() - had for page, had in known.items() if added[page].keys() - had}
    uses = [(page, key) for page, keys in new.items() for key in keys]
    urls_new = await record_urls(conn, {key: added[page][key] for page, key in uses}, day)
    await record_uses(conn, wiki, Differences(added=uses), day)
    if new:
        packed = [packed_keys((*known[page], *keys)) for page, keys in new.items()]
        await conn.execute(SQL["record_urls_of"], {"wiki": wiki, "page": list(new), "urls": packed})
    return Intake(pages=len(known), pages_changed=len(new), links_new=len(uses), urls_new=urls_new)


async def release_pages(conn: Connection, wiki: int, pages: Sequence[int], day: int) -> Intake:
    """Stops watching pages: their records and uses go, and URLs without any other use are orphaned (P-5, U-8)."""
    rows = await conn.execute(SQL["list_urls_of"], {"wiki": wiki, "pages": sorted(pages)})
    known = {page: unpacked_keys(urls) async for page, urls in rows}
    gone = [(page, key) for page, keys in known.items() for key in keys]
    await record_uses(conn, wiki, Differences(gone=gone), day)
    if known:
        await conn.execute(SQL["record_released"], {"wiki": wiki, "pages": list(known)})
    return Intake(pages_gone=len(known), links_gone=len(gone))


async def find_page(
    conn: Connection, wiki: int, *, page: int | None = None, title: str = "", namespace: int = 0
) -> StoredPage | None:
    """The page of that id, or else of that title, as the last pass left it."""
    if page is not None:
        rows = await conn.execute(SQL["find_by_id"], {"wiki": wiki, "page": page})
    else:
        rows = await conn.execute(SQL["find_by_title"], {"wiki": wiki, "namespace": namespace, "title": title})
    row = await rows.fetchone()
    if row is None:
        return None
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
