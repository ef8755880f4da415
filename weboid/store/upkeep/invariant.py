"""Invariants between the tables, and breaches of them, found stretch by stretch of the tables' keys.

Repairing belongs to ``store/upkeep/repair``, going through a whole store to ``maintain/consistency``. Nothing is
written or locked here, and the rows read at once are bounded, however large the store is.
"""

from collections.abc import Sequence
from enum import StrEnum
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
    """The invariants, by the word under which a breach is counted.

    NEXT_DAY: a host's next day is that of its URL that is due first, or the day before. EMPTY_HOST: a host has URLs.
    VERDICT: the newest change of a URL is to the verdict that follows from its record. ORPHAN: just URLs without a link
    are marked as orphans. DEAD: the dead links are the links of the URLs that are dead by the log. LINKS: a page names
    just its links, and their URLs are there. NO_HOST: the host of a URL is there. RECORD: a record can be read.
    CITED: just the cited copies are never due. QUEUE: just the doubtful and dead URLs are queued for their copies, as
    far as the queue has followed the log. COPY: data of copies, and reverts, belong to URLs that are there.
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
    """The tables that are gone through, each in the order of its primary key."""

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
    """Of a URL: the verdict of the log, and that which follows from the record."""


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
    """The approximate number of rows of each walk; None = not counted yet."""
    rows = await conn.execute(SQL["estimate_rows"])
    return {Walk(name): count if count >= 0 else None async for name, count in rows}


async def find_stretch(conn: Connection, walk: Walk, first: Place, *, last_bucket: int, limit: int) -> Stretch | None:
    """The next `limit` rows from a place on; None if there are none."""
    columns = _COLUMNS[walk]
    values = dict(zip(columns, first, strict=True))
    given = {**values, "to_bucket": last_bucket, "limit": limit}
    row = await (await conn.execute(SQL[f"find_last_{walk}"], given)).fetchone()
    return None if row is None else Stretch(walk, first, tuple(row[:-1]), row[-1])


class _Rule(NamedTuple):
    """A column of a walk's statement: the invariant that is broken where it is true, and the words for people."""

    invariant: Invariant
    detail: str


_RULES: Final = {
    Walk.URLS: (
        _Rule(Invariant.NO_HOST, "its host is not in the table of hosts"),
        _Rule(Invariant.RECORD, "its record has a status, reason or day that means nothing"),
        _Rule(Invariant.VERDICT, "by the log {}, by its record {}"),
        _Rule(Invariant.DEAD, "dead, but not on all pages that use it"),
        _Rule(Invariant.ORPHAN, "marked as an orphan, but in use"),
        _Rule(Invariant.ORPHAN, "without use, but not marked as an orphan"),
        _Rule(Invariant.CITED, "never due, but no cited copy"),
        _Rule(Invariant.QUEUE, "{}, but its copies are not looked up"),
    ),
    Walk.HOSTS: (
        _Rule(Invariant.EMPTY_HOST, "has no URL"),
        _Rule(Invariant.NEXT_DAY, "next day {}, but its first URL is due on {}"),
    ),
    Walk.LINKS: (
        _Rule(Invariant.LINKS, "a link of a page that is not there"),
        _Rule(Invariant.LINKS, "a link whose URL is not there"),
        _Rule(Invariant.LINKS, "a link that its page does not name"),
    ),
    Walk.DEAD: (_Rule(Invariant.DEAD, "a dead link that is no link, or whose URL is not dead"),),
    Walk.COPIES: (
        _Rule(Invariant.COPY, "its copies or reverts are known, but it is not there"),
        _Rule(Invariant.CITED, "a cited copy that the link checker would visit"),
        _Rule(Invariant.QUEUE, "works, but its copies are looked up"),
    ),
}


async def list_breaches(conn: Connection, stretch: Stretch, policy: Policy, share: Share) -> list[Breach]:
    """The breaches of invariants in a stretch, at one moment."""
    walk = stretch.walk
    columns = _COLUMNS[walk]
    values: dict[str, Any] = {
        **verdict_values(policy),
        **share._asdict(),
        **dict(zip(columns, stretch.first, strict=True)),
        **{f"to_{column}": value for column, value in zip(columns, stretch.last, strict=True)},
        "statuses": [int(each) for each in Status],
        "reasons": [each.number for each in Reason],
    }
    if walk is Walk.PAGES:
        return await _list_page_breaches(conn, values)
    rules = _RULES[walk]
    found = []
    async for row in await conn.execute(SQL[f"list_{walk}"], values):
        place = dict(zip(columns, row, strict=False))
        key = UrlKey(place["bucket"], place["host_key"], place.get("url_key", 0))
        flags, given = row[len(columns) :][: len(rules)], row[len(columns) + len(rules) :]
        verdicts = (Verdict(given[0]), Verdict(given[1])) if walk is Walk.URLS else None
        words = [_day_word(each) for each in given] if verdicts is None else [each.word for each in verdicts]
        for is_broken, (invariant, detail) in zip(flags, rules, strict=True):
            if is_broken:
                about = place.get("wiki", 0), place.get("page", 0)
                found.append(Breach(invariant, key, detail.format(*words), *about, verdicts))
    return found


def _day_word(day: int | None) -> str:
    return "none" if day is None else iso(day)


async def _list_page_breaches(conn: Connection, values: dict[str, Any]) -> list[Breach]:
    found = []
    uses: list[tuple[int, int, UrlKey]] = []
    async for wiki, page, urls in await conn.execute(SQL["list_page"], values):
        keys = whole_keys(urls)
        uses += [(wiki, page, key) for key in keys]
        if packed_keys(set(keys)) != urls:
            found.append(Breach(Invariant.LINKS, UrlKey(0, 0, 0), "its list of links is out of order", wiki, page))
    columns = {
        "wiki": [wiki for wiki, _, _ in uses],
        "page": [page for _, page, _ in uses],
        **key_columns(key for _, _, key in uses),
    }
    rows = await conn.execute(SQL["list_unlinked"], columns)
    detail = "named by a page, but no link"
    return found + [Breach(Invariant.LINKS, UrlKey(*key), detail, wiki, page) async for wiki, page, *key in rows]


def whole_keys(urls: bytes) -> list[UrlKey]:
    """The whole keys of a page's list, whose end may be torn."""
    return unpacked_keys(urls[: len(urls) // _KEY_BYTES * _KEY_BYTES])


async def list_names(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, str]:
    """For people: the known hosts of URLs with their paths."""
    rows = await conn.execute(SQL["list_names"], key_columns(keys))
    return {
        UrlKey(*key): f"{host or f'host {key[0]}/{key[1]}'}{path or (f' URL {key[2]}' if key[2] else '')}"
        async for *key, host, path in rows
    }
