"""Invariants: what must hold between the tables, and what breaks it, found stretch by stretch of their keys.

Repairing belongs to ``store/upkeep/repair``, going through a whole store to ``maintain/consistency``.
One law: nothing here is written or locked, and what is read at once is bounded, however large the store is.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from typing import Any, Final, NamedTuple

from weboid.core.record.days import iso
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict
from weboid.store.db.pool import Connection
from weboid.store.db.rows import key_columns, verdict_values
from weboid.store.db.statements import statements
from weboid.store.pages.use import packed_keys, unpacked_keys

SQL: Final = statements("upkeep/invariant")
_LEAST: Final = -(2**63)
_MOST: Final = 2**63 - 1
_MOST_PAGE: Final = 2**31 - 1
_KEY_BYTES: Final = 18


class Invariant(StrEnum):
    """What must hold, by the word under which a breach is counted.

    NEXT_DAY: a host's next day is that of its URL that is due first, or the day before. EMPTY_HOST: a host has URLs.
    VERDICT: the newest change of a URL is to the verdict that follows from its record. ORPHAN: just what has no link is
    marked as an orphan. DEAD: the dead links are the links of the URLs that are dead by the log. LINKS: a page names
    just its links, and their URLs are there. NO_HOST: the host of a URL is there. RECORD: a record can be read.
    CITED: just the cited copies are never due. QUEUE: what is queued for its copies is just what is doubtful or dead,
    as far as the queue has followed the log. COPY: what is known of copies, and reverts, belong to URLs that are there.
    """

    NEXT_DAY = "next-day"
    EMPTY_HOST = "empty-host"
    VERDICT = "verdict"
    ORPHAN = "orphan"
    DEAD = "dead"
    LINKS = "links"
    NO_HOST = "no-host"
    RECORD = "record"
    CITED = "cited"
    QUEUE = "queue"
    COPY = "copy"


class Walk(StrEnum):
    """What is gone through, each table in the order of its primary key."""

    URLS = "url"
    HOSTS = "host"
    LINKS = "link"
    PAGES = "page"
    DEAD = "dead"
    COPIES = "copies"
    """All tables that are about copies of URLs, and that of reverts."""


_COLUMNS: Final = {
    Walk.URLS: ("bucket", "host_key", "url_key"),
    Walk.HOSTS: ("bucket", "host_key"),
    Walk.LINKS: ("bucket", "host_key", "url_key", "wiki", "page"),
    Walk.PAGES: ("wiki", "page"),
    Walk.DEAD: ("wiki", "page", "bucket", "host_key", "url_key"),
    Walk.COPIES: ("host_key", "url_key", "bucket"),
}
_ENDS: Final = {
    "bucket": (-1, 2**15 - 1),
    "host_key": (_LEAST, _MOST),
    "url_key": (_LEAST, _MOST),
    "wiki": (0, _MOST_PAGE),
    "page": (-_MOST_PAGE, _MOST_PAGE),
}
"""Of each column the number before all keys, and the last one."""


class Share(NamedTuple):
    """One of so many shares of a store: of URLs and hosts by bucket, of pages by their number."""

    part: int = 0
    parts: int = 1


Place = tuple[int, ...]
"""A key in the order of a walk."""


class Stretch(NamedTuple):
    """So many rows of a walk, from one key to another, both included."""

    walk: Walk
    first: Place
    last: Place
    rows: int = 0


class Breach(NamedTuple):
    """A contradiction about a URL (`url_key` 0: about its host), or about a URL on a page; `detail` is for people."""

    invariant: Invariant
    key: UrlKey
    detail: str
    wiki: int = 0
    page: int = 0
    verdicts: tuple[Verdict, Verdict] | None = None
    """Of a breach of VERDICT: what the log says, and what follows from the record."""


def first_place(walk: Walk) -> Place:
    """A place before all keys."""
    return tuple(_ENDS[column][0] for column in _COLUMNS[walk])


def place_after(walk: Walk, place: Place) -> Place:
    """The next place after a key."""
    *head, last = place
    columns = _COLUMNS[walk]
    if last < _ENDS[columns[len(head)]][1]:
        return (*head, last + 1)
    return (*place_after(walk, tuple(head)), _ENDS[columns[len(head)]][0])


def place_of(walk: Walk, breach: Breach) -> Place:
    """The row of a walk at which a breach was found."""
    values = {**breach.key._asdict(), "wiki": breach.wiki, "page": breach.page}
    return tuple(values[column] for column in _COLUMNS[walk])


async def estimate_rows(conn: Connection) -> dict[Walk, int | None]:
    """About how many rows each walk has; None = nobody has counted them yet."""
    rows = await conn.execute(SQL["estimate_rows"])
    return {Walk(name): count if count >= 0 else None async for name, count in rows}


async def find_stretch(conn: Connection, walk: Walk, first: Place, *, last_bucket: int, limit: int) -> Stretch | None:
    """The next `limit` rows from a place on; None if there are none."""
    columns = _COLUMNS[walk]
    values = dict(zip(columns, first, strict=True))
    given = {**values, "to_bucket": last_bucket, "limit": limit}
    row = await (await conn.execute(SQL[f"find_last_{walk}"], given)).fetchone()
    return None if row is None else Stretch(walk, first, tuple(row[:-1]), row[-1])


async def list_breaches(conn: Connection, stretch: Stretch, policy: Policy, share: Share) -> list[Breach]:
    """What breaks an invariant in a stretch, at one moment."""
    columns = _COLUMNS[stretch.walk]
    ends = {f"to_{column}": value for column, value in zip(columns, stretch.last, strict=True)}
    values: dict[str, Any] = {**dict(zip(columns, stretch.first, strict=True)), **ends}
    match stretch.walk:
        case Walk.URLS:
            values |= verdict_values(policy)
            values |= {"statuses": [int(each) for each in Status], "reasons": [each.number for each in Reason]}
            rows = await conn.execute(SQL["list_urls"], values)
            return list(chain.from_iterable([_breaches_of_url(row) async for row in rows]))
        case Walk.HOSTS:
            return [_breach_of_host(row) async for row in await conn.execute(SQL["list_hosts"], values)]
        case Walk.COPIES:
            rows = await conn.execute(SQL["list_copies"], values | share._asdict())
            return list(chain.from_iterable([_breaches_of_copies(row) async for row in rows]))
        case Walk.LINKS:
            return [_breach_of_link(row) async for row in await conn.execute(SQL["list_links"], values)]
        case Walk.PAGES:
            return await _list_page_breaches(conn, values | share._asdict())
        case Walk.DEAD:
            values |= {"dead": Verdict.DEAD.value, **share._asdict()}
            detail = "a dead link that is no link, or whose URL is not dead"
            return [
                Breach(Invariant.DEAD, UrlKey(*key), detail, wiki, page)
                async for wiki, page, *key in await conn.execute(SQL["list_dead"], values)
            ]


async def list_names(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, str]:
    """For people: the hosts of URLs with their paths, as far as they are known."""
    rows = await conn.execute(SQL["list_names"], key_columns(keys))
    return {
        UrlKey(*key): f"{host or f'host {key[0]}/{key[1]}'}{path or (f' URL {key[2]}' if key[2] else '')}"
        async for *key, host, path in rows
    }


def _breaches_of_url(row: Sequence[Any]) -> list[Breach]:
    key = UrlKey(*row[:3])
    is_hostless, is_unreadable, verdict, logged, is_orphan, is_used, lacks_dead, lacks_copy, lacks_place = row[3:]
    if is_hostless:
        # Nothing can be concluded of it: its streak, its name and so the URL itself are lost.
        return [Breach(Invariant.NO_HOST, key, "its host is not in the table of hosts")]
    found = []
    if is_unreadable:
        found.append(Breach(Invariant.RECORD, key, "its record has a status, reason or day that means nothing"))
    elif verdict != logged:
        before, after = Verdict(logged), Verdict(verdict)
        detail = f"by the log {before.word}, by its record {after.word}"
        found.append(Breach(Invariant.VERDICT, key, detail, verdicts=(before, after)))
    elif lacks_dead:
        found.append(Breach(Invariant.DEAD, key, "dead, but not on all pages that use it"))
    if is_orphan is is_used:
        detail = "marked as an orphan, but in use" if is_used else "without use, but not marked as an orphan"
        found.append(Breach(Invariant.ORPHAN, key, detail))
    if lacks_copy:
        found.append(Breach(Invariant.CITED, key, "never due, but no cited copy"))
    if lacks_place:
        found.append(Breach(Invariant.QUEUE, key, f"{Verdict(logged).word}, but its copies are not looked up"))
    return found


def _breaches_of_copies(row: Sequence[Any]) -> list[Breach]:
    key = UrlKey(*row[:3])
    is_urlless, is_due, is_needless = row[3:]
    if is_urlless:
        return [Breach(Invariant.COPY, key, "its copies or reverts are known, but it is not there")]
    found = []
    if is_due:
        found.append(Breach(Invariant.CITED, key, "a cited copy that the link checker would visit"))
    if is_needless:
        found.append(Breach(Invariant.QUEUE, key, "works, but its copies are looked up"))
    return found


def _breach_of_host(row: Sequence[Any]) -> Breach:
    bucket, host_key, next_day, due, has_urls = row
    key = UrlKey(bucket, host_key, 0)
    if not has_urls:
        return Breach(Invariant.EMPTY_HOST, key, "has no URL")
    return Breach(Invariant.NEXT_DAY, key, f"next day {_told(next_day)}, but its first URL is due on {_told(due)}")


def _told(day: int | None) -> str:
    return "none" if day is None else iso(day)


def _breach_of_link(row: Sequence[Any]) -> Breach:
    *key, wiki, page, is_urlless, is_pageless = row
    reason = "whose URL is not there" if is_urlless else "that its page does not name"
    detail = "a link of a page that is not there" if is_pageless else f"a link {reason}"
    return Breach(Invariant.LINKS, UrlKey(*key), detail, wiki, page)


async def _list_page_breaches(conn: Connection, values: dict[str, Any]) -> list[Breach]:
    found = []
    uses: list[tuple[int, int, UrlKey]] = []
    async for wiki, page, urls in await conn.execute(SQL["list_pages"], values):
        whole = urls[: len(urls) // _KEY_BYTES * _KEY_BYTES]
        keys = unpacked_keys(whole)
        uses += [(wiki, page, key) for key in keys]
        if whole != urls or packed_keys(set(keys)) != urls:
            found.append(Breach(Invariant.LINKS, UrlKey(0, 0, 0), "its list of links is out of order", wiki, page))
    columns = {
        "wiki": [wiki for wiki, _, _ in uses],
        "page": [page for _, page, _ in uses],
        **key_columns(key for _, _, key in uses),
    }
    rows = await conn.execute(SQL["list_unlinked"], columns)
    detail = "named by a page, but no link"
    return found + [Breach(Invariant.LINKS, UrlKey(*key), detail, wiki, page) async for wiki, page, *key in rows]
