"""The queue of URLs whose copies are to be looked up (A-1): newly dead ones first, then doubtful ones, then those whose
look-ups have become old; of each the newest first.

It follows the log of verdict changes by its place in it. Changes get their numbers before they are committed, so only
settled ones are read (``store/urls/check``); of each URL the newest change counts. Afterwards exactly the URLs
that are doubtful or dead by the log are queued, waiting or done.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from weboid.core.record.status import Status
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import Finding, finding_of
from weboid.store.archives.cited_copy import UNUSED_DAYS, CitedCopy, find_cited, record_known_as_snapshots
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import KnownUrl, key_columns
from weboid.store.db.statements import Connection, fetch_value, statements
from weboid.store.urls.check import find_settled
from weboid.store.urls.url import find_urls

SQL: Final = statements("archives/copy_queue")


class Rank(IntEnum):
    """The order of URLs in the queue. The numbers are stored and never change their meaning."""

    DEAD = 0
    DOUBTFUL = 1
    AGAIN = 2


@dataclass(frozen=True, slots=True)
class WantedCopy:
    """A URL whose copies are to be looked up, with the cited copies of it, the newest first.

    `day` is that of the change by which it was queued, or on which its look-up had become old.
    """

    known: KnownUrl
    rank: Rank
    day: int
    cited: tuple[tuple[CitedCopy, Url], ...] = ()

    @property
    def key(self) -> UrlKey:
        """The key of the URL."""
        return self.known.key

    @property
    def url(self) -> Url:
        """The URL."""
        return self.known.url

    @property
    def finding(self) -> Finding:
        """The finding of now."""
        return finding_of(self.known.record, self.known.host)

    @property
    def last_alive(self) -> int | None:
        """The newest remembered day on which a server sent something for it; None if none is remembered."""
        return max((each.last for each in self.known.record.history if _is_alive(each.status)), default=None)

    @property
    def first_checked(self) -> int | None:
        """The oldest day that is remembered of it: it was cited by then."""
        return min((each.first for each in self.known.record.history), default=None)


@dataclass(frozen=True, slots=True)
class QueueLength:
    """The number of URLs of a rank that wait, and their oldest day; `is_more` = counting stopped at the limit."""

    count: int
    is_more: bool
    oldest: int | None


async def follow_changes(conn: Connection, *, limit: int = 5_000) -> int:
    """Queues the URLs in the log since it was last followed, at most `limit` lines; returns how many were read.

    In a transaction of its own, one worker at a time. Raises StoreError if the log is being written for unusually long,
    or if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    await conn.execute(SQL["record_first_position"])
    place: int | None = await fetch_value(conn, SQL["lock_position"])
    if place is None:
        return 0
    until = await find_settled(conn)
    row = {"since": place, "until": until, "limit": limit}
    lines = await (await conn.execute(SQL["list_log"], row)).fetchall()
    if kept := await lock_kept(conn, {UrlKey(*line[1:4]) for line in lines}, waits=True):
        # Copies that were cited before the URL itself was watched are its snapshots from now on. These come before the
        # queue, as for all who write both.
        urls = await list_plain_urls(conn, kept)
        await record_known_as_snapshots(conn, urls.values(), max(line[4] for line in lines))
        columns = key_columns(await _locked(conn, kept))
        await conn.execute(SQL["record_by_log"], columns)
        await conn.execute(SQL["delete_by_log"], columns)
    position = lines[-1][0] if len(lines) == limit else max(until, place)
    if position != place:
        await conn.execute(SQL["record_position"], {"change": position})
    return len(lines)


async def record_wanted(conn: Connection, keys: Iterable[UrlKey], day: int, rank: Rank = Rank.AGAIN) -> int:
    """Lets URLs wait again that are doubtful or dead, such as those whose snapshot was withdrawn; returns how many."""
    kept = await lock_kept(conn, keys)
    if not kept:
        return 0
    # What is in the queue is locked before anything is added, as when the log is followed.
    row = {**key_columns(await _locked(conn, kept)), "day": day, "rank": int(rank)}
    return (await conn.execute(SQL["record_wanted"], row)).rowcount


async def record_due_again(conn: Connection, day: int, *, limit: int = 5_000) -> int:
    """Lets URLs wait again whose look-ups have become old by `day`, at most `limit`; returns how many."""
    row = {"day": day, "rank": int(Rank.AGAIN), "limit": limit}
    return (await conn.execute(SQL["record_due_again"], row)).rowcount


async def lease_wanted(conn: Connection, day: int, *, limit: int, lease_s: float) -> list[WantedCopy]:
    """Takes the next URLs of the queue for this worker alone, until they are done or `lease_s` seconds are over.

    In the order in which they are to be looked up. URLs that no page uses are put off for four weeks, so there may be
    fewer than `limit`; none only if no more wait. Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    leased: dict[UrlKey, tuple[int, int]] = {}
    used: dict[UrlKey, KnownUrl] = {}
    while not used:
        rows = await conn.execute(SQL["lease_wanted"], {"limit": limit, "lease_s": lease_s})
        leased = {UrlKey(*row[:3]): (row[3], row[4]) async for row in rows}
        if not leased:
            return []
        known = await find_urls(conn, sorted(leased))
        used = {key: known[key] for key in leased if key in known and known[key].orphaned is None}
        await record_done(conn, {key: day + UNUSED_DAYS for key in leased if key not in used})
    cited = await find_cited(conn, [each.url for each in used.values()])
    return [
        WantedCopy(used[key], Rank(rank), since, tuple(cited.get(key, ())))
        for key, (rank, since) in sorted(leased.items(), key=lambda item: (item[1][0], -item[1][1], item[0]))
        if key in used
    ]


async def list_citing(conn: Connection, keys: Sequence[UrlKey], wikis: Collection[int]) -> list[tuple[UrlKey, int]]:
    """Each URL with each of these wikis that cites it."""
    if not keys or not wikis:
        return []
    rows = await conn.execute(SQL["list_citing"], {"wiki": list(wikis), **key_columns(keys)})
    return [(UrlKey(*key), wiki) async for *key, wiki in rows]


async def record_done(conn: Connection, days: Mapping[UrlKey, int]) -> None:
    """Records that URLs were looked up, and on which days they are due again; the queue may have them no more."""
    if keys := await _locked(conn, days):
        await conn.execute(SQL["record_done"], {**key_columns(keys), "due": [days[key] for key in keys]})


async def record_released(conn: Connection, keys: Iterable[UrlKey]) -> None:
    """Gives leased URLs back that were not looked up, as their services rest or the worker ends."""
    if locked := await _locked(conn, keys):
        await conn.execute(SQL["record_released"], key_columns(locked))


async def count_queue(conn: Connection, *, limit: int = 100_000) -> dict[Rank, QueueLength]:
    """The URLs that wait, by rank; of each no more than `limit` are counted."""
    rows = await conn.execute(SQL["count_queue"], {"ranks": [int(rank) for rank in Rank], "limit": limit})
    return {Rank(rank): QueueLength(count, count >= limit, oldest) async for rank, count, oldest in rows}


async def _locked(conn: Connection, keys: Iterable[UrlKey]) -> Sequence[UrlKey]:
    """Locks the rows of these URLs in the order of their keys; returns the keys in this order."""
    ordered = sorted(set(keys))
    if ordered:
        await conn.execute(SQL["lock_rows"], key_columns(ordered))
    return ordered


def _is_alive(status: Status) -> bool:
    return Status.UNTRIED < status < Status.SYNTAX_OR_SERVER_ERROR or status is Status.SCHEME_SWITCHED
