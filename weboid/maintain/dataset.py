"""Making the public data set: once a week, per farm, the statuses of all hosts of each wiki, and all URLs (W-13).

It is compressed CSV alone (D-496); storing its parts belongs to ``store/lists/dataset``. The data of one farm are never
in another's file (P-1). After a run that was killed the next one continues where it was; written parts are not counted
again.
"""

import csv
import gzip
import hashlib
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from weboid.core.record.days import iso
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.status import Status
from weboid.core.verdict.report_json import state_word
from weboid.core.verdict.verdict import finding_of
from weboid.store.db.pool import Connection, Pool
from weboid.store.lists import dataset
from weboid.store.pages.wiki import list_wikis
from weboid.store.upkeep.expiry import BEFORE_ALL

PERIOD_DAYS: Final = 7
KEPT_DAYS: Final = 28
URLS: Final = 5_000
"""URLs in one piece: what is in memory at a time."""
COLUMNS: Final[dict[dataset.SetKind, tuple[str, ...]]] = {
    dataset.SetKind.HOSTS: ("wiki", "host", "status", "state", "urls", "uses", "dead"),
    dataset.SetKind.URLS: ("url", "verdict", "reason", "since", "checked", "uses", "wikis"),
}


async def publish(
    pool: Pool, day: int, *, policy: Policy = DEFAULT, show: Callable[[int], None] = lambda parts: None
) -> bool:
    """Makes the sets of `day`, each unless the newest of its kind is younger than a week; returns whether it did.

    `show` gets the number of parts that are there, of `PARTS` for each kind.
    """
    made = [await _publish(pool, day, kind, policy, show) for kind in dataset.SetKind]
    async with pool.connection() as conn:
        for whole in await dataset.list_whole(conn):
            await _record_whole(conn, *whole)
        if any(made):
            await dataset.delete_sets(conn, day - KEPT_DAYS)
    return any(made)


async def _publish(pool: Pool, day: int, kind: dataset.SetKind, policy: Policy, show: Callable[[int], None]) -> bool:
    async with pool.connection() as conn:
        progress = await dataset.find_progress(conn, kind)
        farms = sorted({wiki.farm for wiki in await list_wikis(conn)})
    day, start = _next(progress, day)
    if start == dataset.PARTS or not farms:
        return False
    for part in range(start, dataset.PARTS):
        async with pool.connection() as conn:
            if kind is dataset.SetKind.HOSTS:
                await _record_hosts(conn, day, farms, part)
            else:
                await _record_urls(conn, day, farms, part, policy)
        show(kind * dataset.PARTS + part + 1)
    return True


def _next(progress: tuple[int, int] | None, day: int) -> tuple[int, int]:
    """The day of the set and the part with which to go on; `PARTS` = there is nothing to do."""
    if progress is None:
        return day, 0
    begun, parts = progress
    if parts < dataset.PARTS:
        return begun, parts
    return (day, 0) if day - begun >= PERIOD_DAYS else (begun, dataset.PARTS)


async def _record_hosts(conn: Connection, day: int, farms: Sequence[int], part: int) -> None:
    rows = {farm: list(some) for farm, some in groupby(await dataset.list_statuses(conn, part), lambda row: row.farm)}
    for farm in farms:
        own = rows.get(farm, [])
        body = _member(map(_host_line, own), dataset.SetKind.HOSTS, has_head=part == 0)
        await dataset.record_piece(conn, day, farm, dataset.SetKind.HOSTS, part, lines=len(own), body=body)


async def _record_urls(conn: Connection, day: int, farms: Sequence[int], part: int, policy: Policy) -> None:
    """Records a part piece by piece, as a domain may have millions of URLs in one bucket."""
    pieces = dict.fromkeys(farms, 0)
    last = BEFORE_ALL
    while True:
        urls, after = await dataset.list_urls(conn, part, last, limit=URLS)
        lines: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for url in urls:
            lines[url.farm].append(_url_line(url, policy))
        for farm in farms:
            own = lines[farm]
            if own or (after is None and not pieces[farm]):
                body = _member(own, dataset.SetKind.URLS, has_head=not part and not pieces[farm])
                await dataset.record_piece(
                    conn, day, farm, dataset.SetKind.URLS, part, pieces[farm], lines=len(own), body=body
                )
                pieces[farm] += 1
        if after is None:
            return
        last = after


def _host_line(row: dataset.HostStatus) -> tuple[Any, ...]:
    return row.dbname, row.host, row.status, state_word(Status(row.status)), row.urls, row.uses, row.dead


def _url_line(used: dataset.UsedUrl, policy: Policy) -> tuple[Any, ...]:
    found = finding_of(used.record, used.host, policy)
    days = ("" if day is None else iso(day) for day in (found.since, used.record.checked))
    return str(used.url), found.verdict.word, found.reason.word if found.reason else "", *days, used.uses, used.wikis


def _member(lines: Iterable[Sequence[Any]], kind: dataset.SetKind, *, has_head: bool) -> bytes:
    """Lines of CSV (RFC 4180) as a complete gzip file; the same bytes whenever it is made."""
    text = io.StringIO()
    writer = csv.writer(text)
    if has_head:
        writer.writerow(COLUMNS[kind])
    writer.writerows(lines)
    return gzip.compress(text.getvalue().encode(), compresslevel=6, mtime=0)


async def _record_whole(conn: Connection, day: int, farm: int, kind: int) -> None:
    """Lists a file with its sums, once all of its parts are there."""
    digest, lines, size = hashlib.sha256(), 0, 0
    for piece in await dataset.list_pieces(conn, day, farm, kind):
        digest.update(await dataset.find_piece(conn, day, farm, kind, piece) or b"")
        lines += piece.lines
        size += piece.size
    await dataset.record_file(conn, dataset.DataSet(day, farm, "", kind, lines, size, digest.digest()))
