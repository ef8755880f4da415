"""Cited copies: watched URLs that are themselves copies in an archive, and what they are copies of (A-2).

The link checker leaves them alone: a URL has the due day `NEVER_DUE` if and only if it has a row here, and only
``archive/visits`` visits it. Copies in archives that are dead, and what is no archive, stay ordinary links.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

from weboid.core.record.days import NEVER_DUE
from weboid.core.url.archives import ARCHIVES, BY_NUMBER, Standing, is_calendar, snapshot_of
from weboid.core.url.keys import UrlKey, bucket, host_key, key_of
from weboid.core.url.spellings import plainest
from weboid.core.url.urls import Url
from weboid.store.archives.snapshot import Origin, StoredSnapshot, record_cited_snapshots
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.key_scheme import OURS, KeyScheme, require_scheme
from weboid.store.db.rows import Columns, KnownUrl, columns_of, key_columns
from weboid.store.db.statements import Connection, fetch_all, fetch_by_key, statements
from weboid.store.urls.lock import lock_urls
from weboid.store.urls.url import find_records, find_urls

SQL: Final = statements("archives/cited_copy")
NONE_SHORT: Final[Mapping[UrlKey, str]] = MappingProxyType({})
MOST_OF_PAGE: Final = 20
"""Cited copies of one page that are read at most, the newest ones."""
UNUSED_DAYS: Final = 28
"""Days for which a cited copy that no page uses waits until it is looked at again."""
_APART: Final = (Standing.OFFERED, Standing.BARRED)
"""Archives whose copies leave the link checker's rounds: those that are visited here, and those that never may be."""
_BARE_HOSTS: Final = [host for archive in ARCHIVES if archive.standing in _APART for host in archive.hosts]
ARCHIVE_HOSTS: Final = tuple(sorted(f"{prefix}{host}" for host in _BARE_HOSTS for prefix in ("", "www.")))
_HOSTS: Final = frozenset(ARCHIVE_HOSTS)
ARCHIVE_KEYS: Final = frozenset((bucket(host), host_key(host)) for host in ARCHIVE_HOSTS)
"""The first two numbers of the keys of their URLs."""


@dataclass(frozen=True, slots=True)
class CitedCopy:
    """The watched URL `key` is a copy in the archive with this number.

    `page` is the key under which all spellings of its original meet (`page_key`), `stamp` its 14 digits as a number;
    None = its URL does not say them. `due` is the day of its next visit.
    """

    key: UrlKey
    archive: int
    page: UrlKey | None
    stamp: int | None
    due: int

    @property
    def shows(self) -> bool:
        """Returns whether it may be a snapshot: page and moment are known, and people may be sent to the archive."""
        return self.page is not None and self.stamp is not None and BY_NUMBER[self.archive].is_offered


def cited_copy_of(key: UrlKey, url: Url, day: int) -> CitedCopy | None:
    """The URL as a cited copy that is due on `day`, None for all other URLs.

    Copies in archives that are never contacted are never due. For other hosts it takes one look into a set.
    """
    found = snapshot_of(url) if url.host in _HOSTS else None
    if found is None or found.archive.standing not in _APART:
        return None
    # Before 1990 nothing was archived; such a stamp is a mistake.
    stamp = int(f"{found.taken:%Y%m%d%H%M%S}") if found.taken and found.taken.year >= 1990 else None
    page = page_key(original) if (original := original_of(url)) else None
    return CitedCopy(key, found.archive.number, page, stamp, day if found.archive.is_offered else NEVER_DUE)


def original_of(url: Url) -> Url | None:
    """The original of a cited copy, according to its own URL; None also of a calendar of copies."""
    found = None if is_calendar(url) else snapshot_of(url)
    return None if found is None else found.original


def page_key(url: Url, scheme: KeyScheme = OURS) -> UrlKey:
    """The key under which the `spellings` of a page meet."""
    return scheme.key(plainest(url))


def spellings(url: Url) -> list[Url]:
    """The URLs that differ at most in http or https, ``www.`` and a final slash, eight at most, itself first."""
    if url.scheme not in ("http", "https"):
        return [url]
    host, path = url.host.removeprefix("www."), url.path.removesuffix("/")
    paths = [each for each in (path, f"{path}/") if each]
    every = [Url(*each) for each in product(("http", "https"), (host, f"www.{host}"), (url.port,), paths)]
    # Not all: without its first "www.", www.www.a is no other spelling of www.a.
    return [url, *(each for each in every if each != url and plainest(each) == plainest(url))]


async def record_cited(conn: Connection, cited: Iterable[CitedCopy]) -> None:
    """Records cited copies; the caller holds their URLs, which are never due."""
    if rows := sorted(cited, key=attrgetter("key")):
        columns = {
            **key_columns(each.key for each in rows),
            **columns_of(rows, "archive stamp due"),
            **_originals(each.page for each in rows),
        }
        await conn.execute(SQL["record_cited"], columns)


async def record_cited_as_snapshots(
    conn: Connection, cited: Mapping[UrlKey, CitedCopy], urls: Mapping[UrlKey, Url], day: int
) -> None:
    """Makes cited copies snapshots of their originals that are watched, in any spelling; `urls` has the copies' URLs.

    To be called before hosts are locked.
    """
    copies: dict[UrlKey, list[CitedCopy]] = {}
    for each in cited.values():
        for key in spelled_keys(urls[each.key]) if each.shows else ():
            copies.setdefault(key, []).append(each)
    await _record_snapshots(conn, copies, day)


async def record_known_as_snapshots(conn: Connection, urls: Iterable[Url], day: int) -> None:
    """Makes the cited copies of these URLs, which were known before them, their snapshots."""
    found = await find_cited(conn, urls)
    short = {each.key: str(url) for copies in found.values() for each, url in copies if original_of(url) is None}
    await _record_snapshots(conn, {key: [each for each, _ in copies] for key, copies in found.items()}, day, short)


async def record_named(conn: Connection, copy: CitedCopy, address: Url, original: Url, stamp: int, day: int) -> None:
    """Records what a short address shows, as its archive said, and makes it a snapshot of the URL if that is watched.

    The address does not follow from page and moment, so it is kept with the snapshot.
    """
    named = replace(copy, page=page_key(original), stamp=stamp)
    page = {f"original_{name}": value for name, value in page_key(original)._asdict().items()}
    if (await conn.execute(SQL["record_named"], {**copy.key._asdict(), **page, "stamp": stamp})).rowcount:
        keys = map(key_of, spellings(original))
        await _record_snapshots(conn, {key: [named] for key in keys}, day, {copy.key: str(address)})


async def _record_snapshots(
    conn: Connection, copies: Mapping[UrlKey, Sequence[CitedCopy]], day: int, short: Mapping[UrlKey, str] = NONE_SHORT
) -> None:
    """Of each URL at most one snapshot a service: one that exists already, or else the newest copy.

    `short` has the addresses of copies that do not say what they show.
    """
    if copies:
        snapshots = [
            StoredSnapshot(key, each.archive, each.stamp, Origin.CITED, day + 1, address=short.get(each.key))
            for key in await lock_kept(conn, copies)
            for each in sorted(copies[key], key=lambda each: each.stamp or 0, reverse=True)
            if each.shows and each.stamp is not None
        ]
        await record_cited_snapshots(conn, snapshots)


async def find_cited(conn: Connection, urls: Iterable[Url]) -> dict[UrlKey, list[tuple[CitedCopy, Url]]]:
    """The cited copies of these URLs under any spelling, each with its own URL, by the key of the URL, newest first.

    URLs without any are missing; of a URL there are at most `MOST_OF_PAGE`.
    """
    asked: dict[UrlKey, list[UrlKey]] = {}
    for url in urls:
        asked.setdefault(page_key(url), []).append(key_of(url))
    if not asked:
        return {}
    row = {**key_columns(sorted(asked)), "most": MOST_OF_PAGE}
    copies = await fetch_all(conn, _cited_copy, SQL["list_of_pages"], row)
    own = await list_plain_urls(conn, {each.key for each in copies})
    found: dict[UrlKey, list[tuple[CitedCopy, Url]]] = {}
    for each in sorted(copies, key=lambda each: each.stamp or 0, reverse=True):
        for key in asked[each.page] if each.page and each.key in own else ():
            found.setdefault(key, []).append((each, own[each.key]))
    return found


async def list_cited(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, CitedCopy]:
    """Those of these URLs that are cited copies."""
    return {key: _cited_copy(*key, *row) for key, row in await fetch_by_key(conn, SQL["list_cited"], keys)}


async def lease_cited(
    conn: Connection, day: int, archives: Sequence[int], *, limit: int
) -> list[tuple[CitedCopy, KnownUrl]]:
    """Takes cited copies due by `day` at these archives for this worker alone, at most `limit` of each, with what is
    known of their URLs.

    On the next day they are due again, unless a visit is recorded; those that no page uses wait for four weeks instead.
    """
    await require_scheme(conn)
    days = {"day": day, "until": day + 1, "later": day + UNUSED_DAYS}
    row = {"archives": sorted(set(archives)), "limit": limit, **days}
    leased = await fetch_all(conn, _cited_copy, SQL["lease_cited"], row)
    known = await find_urls(conn, sorted(each.key for each in leased))
    return [(each, known[each.key]) for each in leased if each.key in known and known[each.key].orphaned is None]


async def record_cited_due(conn: Connection, days: Mapping[UrlKey, int]) -> int:
    """Makes cited copies due on these days, such as those of which a visit found nothing that could be judged.

    Returns how many of these URLs are cited copies.
    """
    if not days:
        return 0
    keys = sorted(days)
    row = {**key_columns(keys), "due": [days[key] for key in keys]}
    return (await conn.execute(SQL["record_cited_due"], row)).rowcount


async def delete_unjustified(conn: Connection, keys: Sequence[UrlKey]) -> None:
    """Deletes the rows of cited copies whose URLs are being deleted, and the snapshots that were never played and that
    no other page cites. The caller has locked the URLs and not deleted them yet."""
    cited = await list_cited(conn, keys)
    if not cited:
        return
    urls = await list_plain_urls(conn, cited)
    await conn.execute(SQL["delete_cited"], key_columns(sorted(cited)))
    shown = [each for each in cited.values() if each.shows and each.page and each.key in urls]
    asked = {**_originals(each.page for each in shown if each.page), **columns_of(shown, "archive stamp")}
    justified = {(UrlKey(*row[:3]), *row[3:]) async for row in await conn.execute(SQL["list_justified"], asked)}
    rows = [
        (key, each)
        for each in shown
        if (each.page, each.archive, each.stamp) not in justified
        for key in spelled_keys(urls[each.key])
    ]
    if rows:
        columns = {
            **key_columns(key for key, _ in rows),
            **columns_of((each for _, each in rows), "archive stamp"),
            "origin": int(Origin.CITED),
        }
        await conn.execute(SQL["delete_unjustified"], columns)


async def record_originals(conn: Connection, after: UrlKey, scheme: KeyScheme, *, limit: int) -> UrlKey | None:
    """Computes the keys of originals anew by a scheme, for the next cited copies after a key (O-10).

    Returns the last of them, None = there are no more.
    """
    keys = await fetch_all(conn, UrlKey, SQL["list_all"], {**after._asdict(), "limit": limit})
    if not keys:
        return None
    await lock_urls(conn, keys)
    originals = {key: original_of(url) for key, url in (await list_plain_urls(conn, keys)).items()}
    renewed = {key: scheme.renewed(str(original)) for key, original in originals.items() if original}
    # What archives have said of short addresses they say again at the next visit.
    pages: dict[UrlKey, UrlKey | None] = {key: None for key, original in originals.items() if original is None}
    pages |= {key: page_key(original, scheme) for key, original in renewed.items() if original}
    await conn.execute(SQL["record_originals"], {**key_columns(pages), **_originals(pages.values())})
    return keys[-1]


def spelled_keys(copy: Url) -> list[UrlKey]:
    """The keys of the original of a copy in all its spellings."""
    original = original_of(copy)
    return [] if original is None else [key_of(url) for url in spellings(original)]


async def list_originals(conn: Connection, keys: Iterable[UrlKey]) -> set[UrlKey]:
    """The keys of the originals, in all spellings, of those of these URLs that are copies."""
    copies = [key for key in keys if key[:2] in ARCHIVE_KEYS]
    known = await find_records(conn, copies) if copies else {}
    return {original for copy in known.values() for original in spelled_keys(copy.url)}


def _originals(pages: Iterable[UrlKey | None]) -> Columns:
    rows = list(pages)
    return {f"original_{name}": [page and getattr(page, name) for page in rows] for name in UrlKey._fields}


def _cited_copy(*row: Any) -> CitedCopy:
    *key, archive, bucket, host_key, url_key, stamp, due = row
    page = None if bucket is None else UrlKey(bucket, host_key, url_key)
    return CitedCopy(UrlKey(*key), archive, page, stamp, due)
