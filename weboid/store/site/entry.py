"""URLs that a task of the robot has asked for, with what became of them (U-3, U-7), their documents and links."""

import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from weboid.core.document.links import DocumentLink
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UrlRecord
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.keys import url_key
from weboid.core.url.urls import parse
from weboid.store.db.rows import columns_of, record_columns, url_record
from weboid.store.db.statements import Connection, fetch_all, statements
from weboid.store.site.task import KeptTask

SQL: Final = statements("site/entry")
_PAGE: Final = 5_000
"""States that are read at a time."""
_MOST_LEADS: Final = 2_000
"""URLs by which a page that leads to them can be found."""
_LEVEL: Final = 1
"""Of compression: a sixth of the size for a tenth of the time that parsing took."""


class KeptPage(NamedTuple):
    """A document, with what a server wants to see in a conditional request; empty what it did not give."""

    content_hash: bytes
    etag: str
    modified: str
    ids: bytes
    """Hashes of the names that fragments can point to, as the caller packs them."""
    followed: bool
    """Robots may follow its links."""
    title: str
    description: str
    links: tuple[DocumentLink, ...]
    """As they are written, those of kind `base`, too."""


NO_PAGE: Final = KeptPage(b"", "", "", b"", True, "", "", ())
"""Stands for a document that there is no more."""


class LeadingPage(NamedTuple):
    """A page of a mapped site, with its own words."""

    url: str
    title: str
    description: str


class EntryState(NamedTuple):
    """An entry that a task has: the moment of its load in seconds since 1970, if that can be used; whether the last
    verdict in a whole run before was that it is broken, and the day since when it is."""

    key: int
    loaded: float | None
    """Infinite: by the run that goes on."""
    was_broken: bool
    failing_since: int | None


class KeptEntry(NamedTuple):
    """A URL that a task has asked for; `run` 0 = what it found is not kept in full, `broken` = by the last verdict."""

    key: int
    url: str
    run: int
    record: UrlRecord
    broken: bool
    was_broken: bool
    page: KeptPage | None
    has_new_links: bool


def entry_key(url: str) -> int:
    """The key of a URL in normal form, with or without a fragment."""
    return url_key(url.encode("ascii", "backslashreplace").decode())


async def list_states(conn: Connection, task: KeptTask, *, with_anchors: bool) -> AsyncIterator[EntryState]:
    """The states of all entries of a task, by key; with `with_anchors` a page without them cannot be used."""
    working = [reason.number for reason in Reason if reason.outcome is Outcome.WORKING]
    row = {**task._asdict(), "working": working, "with_anchors": with_anchors, "after": None, "limit": _PAGE}
    while states := await fetch_all(conn, EntryState, SQL["list_states"], row):
        for state in states:
            yield state
        row["after"] = states[-1].key


async def find_entries(
    conn: Connection, task: int, keys: Sequence[int]
) -> dict[int, tuple[UrlRecord, KeptPage | None]]:
    """The records and documents of those of these entries that there are."""
    found = {}
    async for key, *columns in await conn.execute(SQL["find_entries"], {"task": task, "url_key": list(keys)}):
        *words, links = columns[:8]
        page = None
        if words[0]:
            page = KeptPage._make([*words, unpacked_links(links)])
        found[key] = url_record(columns[8:]), page
    return found


async def record_entries(conn: Connection, task: int, entries: Sequence[KeptEntry]) -> None:
    """Writes entries, with their documents if they have any; to write them again changes nothing."""
    await conn.execute("SET LOCAL synchronous_commit = off")
    columns = columns_of(entries, "key url run broken was_broken")
    row = {"task": task, "url_key": columns.pop("key"), **columns, **record_columns(each.record for each in entries)}
    await conn.execute(SQL["record_entries"], row)
    if pages := [(each, each.page) for each in entries if each.page]:
        columns = columns_of((page for _, page in pages), "content_hash etag modified ids followed title description")
        await conn.execute(SQL["record_pages"], {"task": task, "url_key": [each.key for each, _ in pages], **columns})
    if pages := [(each, page) for each, page in pages if each.has_new_links]:
        links = [packed_links(page.links) for _, page in pages]
        leads = [f"{{{','.join(map(str, _leads_to(page.links)))}}}" for _, page in pages]
        row = {"task": task, "url_key": [each.key for each, _ in pages], "links": links, "leads_to": leads}
        await conn.execute(SQL["record_links"], row)


async def list_leading(conn: Connection, url: str, *, limit: int) -> list[LeadingPage]:
    """Some pages of sites that the robot has mapped, which lead to a URL in normal form."""
    return await fetch_all(conn, LeadingPage, SQL["list_leading"], {"url_key": entry_key(url), "limit": limit})


def _leads_to(links: Sequence[DocumentLink]) -> list[int]:
    """The keys of the URLs to which a page links, of those that are written in full, as those of other sites are."""
    keys = set()
    for link in links:
        if link.kind == "a" and link.url.startswith(("http:", "https:", "//")):
            with suppress(InvalidUrl):
                keys.add(entry_key(str(parse(f"https:{link.url}" if link.url[0] == "/" else link.url))))
    return sorted(keys)[:_MOST_LEADS]


def packed_links(links: Sequence[DocumentLink]) -> bytes:
    """The stored form: MessagePack, compressed."""
    return zlib.compress(msgspec.msgpack.encode(links), _LEVEL)


def unpacked_links(data: bytes) -> tuple[DocumentLink, ...]:
    """The inverse of `packed_links`."""
    return msgspec.msgpack.decode(zlib.decompress(data), type=tuple[DocumentLink, ...])
