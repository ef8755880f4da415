"""Invariants between the tables: their breaches are found stretch by stretch of the tables' keys, confirmed, repaired.

The statements name the invariant of each breach and describe it. Nothing is locked to find breaches, and the rows read
at once are bounded, however large the store is. Derived data are derived anew, other data stay as they are: the record
goes before the log, the log before the dead links, the link before its page's list, and the wiki before all, as a page
that was repaired is read again. The URL itself says whether it is a cited copy. Going through a whole store belongs to
``maintain/consistency``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from psycopg.rows import dict_row

from weboid.core.record.days import iso
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.core.verdict.verdict import Change, Verdict, finding_of
from weboid.store.archives.cited_copy import cited_copy_of, record_cited
from weboid.store.archives.copy_queue import Rank, record_wanted
from weboid.store.archives.with_url import delete_copies, list_plain_urls
from weboid.store.db.key_scheme import has_scheme, require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import Columns, columns_of, key_columns, verdict_values
from weboid.store.db.statements import fetch_all, fetch_by_key, statements
from weboid.store.pages.use import Differences, begin_intake, record_uses
from weboid.store.people.report import delete_with_urls
from weboid.store.upkeep.expiry import delete_hosts
from weboid.store.urls.check import record_changes, record_next_days
from weboid.store.urls.lock import hosts_of, lock_urls_and_hosts
from weboid.store.urls.repaired import list_wrong, record_repaired
from weboid.store.urls.url import find_urls

SQL: Final = statements("upkeep/invariant")
CHANGE_SQL: Final = statements("urls/verdict_log")
EXPIRY_SQL: Final = statements("upkeep/expiry")
REPAIRED_SQL: Final = statements("urls/repaired")
CITED_SQL: Final = statements("archives/cited_copy")
COPY_SQL: Final = statements("archives/with_url")
WALKS: Final = ("page", "link", "url", "dead", "copies", "host")
"""What is gone through, each in the order of its primary key, as the statements are named. Links come first, as
orphans, verdicts and dead links follow from them."""
_BEFORE_ALL: Final = {"bucket": -1, "host_key": -(2**63), "url_key": -(2**63), "wiki": 0, "page": 1 - 2**31}
"""Of each column of a key a number before all keys."""
_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    **dict.fromkeys(("logged", "verdict"), lambda number: Verdict(number).word),
    **dict.fromkeys(("next_day", "due"), lambda day: "none" if day is None else iso(day)),
}
"""How the columns of a breach are put into words."""
_REPAIRED: Final = {"detail": "a dead link with a copy on its page, or without, of which the contrary is recorded"}


class Share(NamedTuple):
    """One of so many shares of a store: of URLs, hosts and links by bucket, of the rest by a remainder."""

    part: int = 0
    parts: int = 1


class Stretch(NamedTuple):
    """So many rows of a walk in a share: those after a key, until another; keys are columns by name."""

    walk: str
    share: Share
    after: Mapping[str, int]
    last: Mapping[str, int]
    rows: int


class Breach(NamedTuple):
    """A broken invariant of a URL (`url_key` 0: of its host), or of a URL on a page; `row` is that of the statement."""

    invariant: str
    key: UrlKey
    wiki: int = 0
    page: int = 0
    row: Mapping[str, Any] = {}

    @property
    def detail(self) -> str:
        """For people."""
        words = {name: word(self.row[name]) for name, word in _WORDS.items() if name in self.row}
        return str(self.row["detail"]).format(**words)


async def estimate_rows(conn: Connection) -> dict[str, int | None]:
    """The approximate number of rows of each walk; None = not counted yet."""
    return {walk: count if count >= 0 else None async for walk, count in await conn.execute(SQL["estimate_rows"])}


async def find_stretch(conn: Connection, walk: str, share: Share, before: Stretch | None, limit: int) -> Stretch | None:
    """The next `limit` rows of a share after the stretch `before`; None if there are none."""
    first, end = (BUCKETS * part // share.parts for part in (share.part, share.part + 1))
    after = before.last if before else {**_BEFORE_ALL, "bucket": first}
    given = {**after, "to_bucket": end - 1, "limit": limit}
    last = await (await conn.cursor(row_factory=dict_row).execute(SQL[f"find_last_{walk}"], given)).fetchone()
    return Stretch(walk, share, after, last, last.pop("nth")) if last else None


async def list_breaches(conn: Connection, stretch: Stretch, policy: Policy) -> list[Breach]:
    """The breaches of invariants in a stretch, at one moment."""
    values = {
        **verdict_values(policy),
        **stretch.share._asdict(),
        **stretch.after,
        **{f"to_{column}": value for column, value in stretch.last.items()},
        "statuses": [int(each) for each in Status],
        "reasons": [each.number for each in Reason],
    }
    rows = await conn.cursor(row_factory=dict_row).execute(SQL[f"list_{stretch.walk}"], values)
    breaches = [_breach(row) async for row in rows]
    if stretch.walk == "dead" and await has_scheme(conn):
        keys = await fetch_all(conn, UrlKey, REPAIRED_SQL["list_stretch"], values)
        wrong = await list_wrong(conn, keys)
        breaches += [
            Breach("repaired", each.key, each.wiki, each.page, _REPAIRED) for each in wrong if each.recorded is not None
        ]
    return breaches


def _breach(row: Mapping[str, Any]) -> Breach:
    key = UrlKey(row["bucket"], row["host_key"], row.get("url_key", 0))
    return Breach(row["invariant"], key, row.get("wiki", 0), row.get("page", 0), row)


async def confirm(
    conn: Connection, stretch: Stretch, suspects: Sequence[Breach], policy: Policy, *, locks: bool = True
) -> list[Breach]:
    """Those of the suspects of a stretch that are breaches while all that could end them is locked.

    The locks are those of all who write these rows, in their order. Not `locks`: the caller's transaction sees the
    store at one moment, and each transaction of a writer keeps the invariants. Raises StoreError if the keys are being
    moved (O-10).
    """
    if locks:
        await require_scheme(conn)
        if any(each.invariant in ("links", "orphan") for each in suspects):
            await begin_intake(conn)
        if stretch.walk in ("link", "page"):
            await conn.execute(SQL["lock_pages"], _columns(suspects))
        else:
            await lock_urls_and_hosts(conn, {each.key for each in suspects})
    suspected = {each[:4] for each in suspects}
    return [each for each in await list_breaches(conn, stretch, policy) if each[:4] in suspected]


async def list_names(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, str]:
    """For people: the known hosts of URLs with their paths."""
    return {key: name for key, (name,) in await fetch_by_key(conn, SQL["list_names"], keys)}


async def repair(conn: Connection, walk: str, breaches: Sequence[Breach], day: int, policy: Policy) -> list[Breach]:
    """Repairs confirmed breaches of one walk in the same transaction; returns those that could be."""
    if not breaches:
        return []

    def keys(*invariants: str) -> list[UrlKey]:
        return sorted({each.key for each in breaches if each.invariant in invariants})

    match walk:
        case "url":
            await _repair_verdicts(conn, breaches, day, policy)
            await conn.execute(SQL["record_orphaned"], {"day": day, **key_columns(keys("orphan"))})
            await record_wanted(conn, keys("queue"), day, Rank.DEAD)
        case "copies":
            await delete_copies(conn, keys("copy"))
            await delete_with_urls(conn, keys("copy"))
            await conn.execute(COPY_SQL["delete_copy_queue"], key_columns(keys("queue")))
        case "host":
            await delete_hosts(conn, sorted(hosts_of(keys("empty-host"))))
        case "dead":
            wrong = [each for each in breaches if each.invariant == "dead"]
            await conn.execute(SQL["delete_dead"], _columns(wrong))
            await record_repaired(conn, keys("repaired"))
        case _:
            await _repair_links(conn, breaches, day)
    await _repair_cited(conn, keys("cited"), day)
    await record_next_days(conn, sorted(hosts_of(keys("orphan", "cited", "empty-host", "next-day"))))
    # A URL without a host, or with a bad record, stays as it is.
    return [each for each in breaches if each.invariant not in ("no-host", "record")]


def _columns(breaches: Sequence[Breach]) -> Columns:
    return columns_of(breaches, "wiki page") | key_columns(each.key for each in breaches)


async def _repair_verdicts(conn: Connection, breaches: Sequence[Breach], day: int, policy: Policy) -> None:
    """Continues logs and completes dead links."""
    logged = {each.key: Verdict(each.row["logged"]) for each in breaches if each.invariant == "verdict"}
    dead = sorted({each.key for each in breaches if each.invariant == "dead"})
    known = await find_urls(conn, [*logged, *dead])
    found = {key: finding_of(url.record, url.host, policy) for key, url in known.items()}
    await record_changes(conn, [Change(key, day, before, *found[key]) for key, before in logged.items()])
    await conn.execute(CHANGE_SQL["record_dead"], {**key_columns(dead), "since": [found[key].since for key in dead]})
    await record_repaired(conn, dead)


async def _repair_cited(conn: Connection, keys: Sequence[UrlKey], day: int) -> None:
    """Records cited copies and takes them out of rounds; makes other URLs due."""
    urls = await list_plain_urls(conn, keys)
    copies = {key: copy for key, url in urls.items() if (copy := cited_copy_of(key, url, day))}
    others = key_columns(sorted(urls.keys() - copies.keys()))
    await conn.execute(CITED_SQL["record_never_due"], key_columns(sorted(copies)))
    await record_cited(conn, copies.values())
    await conn.execute(CITED_SQL["delete_cited"], others)
    await conn.execute(CITED_SQL["record_due_again"], {**others, "day": day})


async def _repair_links(conn: Connection, breaches: Sequence[Breach], day: int) -> None:
    """Makes pages name just their links; links without page or URL are deleted, with all that follows.

    Only the wiki knows the URLs that such a page really uses: it is read again.
    """
    gone: defaultdict[int, Differences] = defaultdict(Differences)
    for each in breaches:
        if each.row.get("is_pageless") or each.row.get("is_urlless"):
            gone[each.wiki].gone.append((each.page, each.key))
    await record_uses(conn, gone, {}, day)
    # If such a URL comes again, it is a new one.
    lost = {each.key for each in breaches if each.row.get("is_urlless")}
    await conn.execute(EXPIRY_SQL["delete_changes"], key_columns(sorted(lost)))
    await conn.execute(SQL["record_page_urls"], _columns(breaches))
