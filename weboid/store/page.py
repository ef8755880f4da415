"""Pages and their uses of URLs (P-3, L-7): intake writes only what differs, by full key.

Which URLs of a page are watched is decided before (`core.classify`).
One law: after `record_pages` the tables page, url, host, link and dead say the same of the pages given.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.hosts import reversed_name
from weboid.core.keys import UrlKey
from weboid.core.urls import Url
from weboid.core.verdict import Verdict, finding_of
from weboid.store.pool import Connection
from weboid.store.rows import SCHEMES, HostKey, host_key_columns, key_columns
from weboid.store.statements import statements
from weboid.store.url import find_urls

SQL: Final = statements("page")
URL_SQL: Final = statements("url")
CHANGE_SQL: Final = statements("change")
_KEY: Final = struct.Struct(">hqq")


@dataclass(frozen=True, slots=True)
class PageUrls:
    """A page with its watched URLs by key. `latest` is its revision."""

    page: int
    namespace: int
    title: str
    latest: int
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
    links: int = 0
    links_new: int = 0
    links_gone: int = 0
    urls_new: int = 0

    def __iadd__(self, other: "Intake") -> "Intake":
        for name in Intake.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


Use = tuple[int, UrlKey]
"""A URL on a page of the wiki at hand."""


async def record_pages(conn: Connection, wiki: int, pages: Sequence[PageUrls], day: int) -> Intake:
    """Brings the store up to date with pages of one wiki, each given at most once, in the caller's transaction."""
    given = {page.page: page for page in sorted(pages, key=lambda page: page.page)}
    known = {row[0]: row async for row in await conn.execute(SQL["list_known"], {"wiki": wiki, "pages": list(given)})}
    changed: list[PageUrls] = []
    added: list[Use] = []
    gone: list[Use] = []
    for page in given.values():
        before = known.get(page.page)
        if before is not None and before[1:] == (page.namespace, page.title, page.latest, packed_keys(page.urls)):
            continue
        changed.append(page)
        had = set(unpacked_keys(before[4])) if before is not None else set()
        added += [(page.page, key) for key in page.urls.keys() - had]
        gone += [(page.page, key) for key in had - page.urls.keys()]
    urls = {key: given[page].urls[key] for page, key in added}
    urls_new = await _record_urls(conn, urls, day)
    await _record_uses(conn, wiki, added, gone, day)
    await _record_page_rows(conn, wiki, changed, day)
    return Intake(
        pages=len(given),
        pages_new=len(given.keys() - known.keys()),
        pages_changed=len(changed) - len(given.keys() - known.keys()),
        links=sum(len(page.urls) for page in given.values()),
        links_new=len(added),
        links_gone=len(gone),
        urls_new=urls_new,
    )


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


def packed_keys(keys: Iterable[UrlKey]) -> bytes:
    """Sorted keys, 18 bytes each."""
    return b"".join(_KEY.pack(*key) for key in sorted(keys))


def unpacked_keys(data: bytes) -> list[UrlKey]:
    """The inverse of `packed_keys`."""
    return [UrlKey(*key) for key in _KEY.iter_unpack(data)]


async def _record_urls(conn: Connection, urls: Mapping[UrlKey, Url], day: int) -> int:
    """Makes URLs and their hosts known and due; returns how many were new."""
    if not urls:
        return 0
    rows = sorted(urls.items())
    keys = key_columns(key for key, _ in rows)
    columns = {
        **keys,
        "scheme": [SCHEMES.index(url.scheme) for _, url in rows],
        "port": [url.port for _, url in rows],
        "path": [url.path for _, url in rows],
        "day": day,
    }
    # URLs, then hosts, each in the order of their keys, as rounds write them too: no two can wait for each other.
    new = [UrlKey(*row) async for row in await conn.execute(URL_SQL["record_urls"], columns)]
    again = [UrlKey(*row) async for row in await conn.execute(URL_SQL["record_uses_again"], keys)]
    await _record_hosts(conn, {HostKey(*key[:2]): urls[key].host for key in sorted((*new, *again))}, day)
    return len(new)


async def _record_hosts(conn: Connection, hosts: Mapping[HostKey, str], day: int) -> None:
    if not hosts:
        return
    columns = {
        **host_key_columns(hosts),
        "host": list(hosts.values()),
        "reversed": [reversed_name(host) for host in hosts.values()],
        "day": day,
    }
    await conn.execute(URL_SQL["record_hosts"], columns)


async def _record_uses(conn: Connection, wiki: int, added: list[Use], gone: list[Use], day: int) -> None:
    """Links that came and went, the URLs that nobody uses any more (U-8), and what is dead on these pages.

    The order matters: a round locks URLs, then reads links, then writes dead links. Here links are written first, then
    the failing URLs are locked, so that either the round sees the links or we see its verdicts.
    """
    if not added and not gone:
        return
    if added:
        await conn.execute(SQL["record_links"], {"wiki": wiki, **_use_columns(added)})
    if gone:
        await conn.execute(SQL["record_links_gone"], {"wiki": wiki, **_use_columns(gone)})
    touched = key_columns(sorted({key for _, key in (*added, *gone)}))
    failing = {UrlKey(*row) async for row in await conn.execute(CHANGE_SQL["list_failing"], touched)}
    if gone:
        orphans = key_columns(sorted({key for _, key in gone}))
        await conn.execute(URL_SQL["record_orphans"], {"day": day, **orphans})
        await conn.execute(CHANGE_SQL["record_dead_links_gone"], {"wiki": wiki, **_use_columns(gone)})
    await _record_dead(conn, wiki, [use for use in added if use[1] in failing])


async def _record_dead(conn: Connection, wiki: int, added: list[Use]) -> None:
    """A page that begins to use a dead URL has a dead link at once."""
    since = {}
    for key, known in (await find_urls(conn, sorted({key for _, key in added}))).items():
        finding = finding_of(known.record, known.host)
        if finding.verdict is Verdict.DEAD:
            since[key] = finding.since
    uses = sorted(use for use in added if use[1] in since)
    if uses:
        columns = {**_use_columns(uses), "since": [since[key] for _, key in uses]}
        await conn.execute(CHANGE_SQL["record_dead_links"], {"wiki": wiki, **columns})


async def _record_page_rows(conn: Connection, wiki: int, pages: list[PageUrls], day: int) -> None:
    if not pages:
        return
    columns: dict[str, Any] = {
        "wiki": wiki,
        "day": day,
        "page": [page.page for page in pages],
        "namespace": [page.namespace for page in pages],
        "title": [page.title for page in pages],
        "latest": [page.latest for page in pages],
        "urls": [packed_keys(page.urls) for page in pages],
    }
    await conn.execute(SQL["record_pages"], columns)


def _use_columns(uses: Iterable[Use]) -> dict[str, list[int]]:
    rows = sorted(uses)
    return {"page": [page for page, _ in rows], **key_columns(key for _, key in rows)}
