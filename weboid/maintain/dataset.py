"""Making the public data set: once a week the statuses of all hosts of each wiki, as one file per farm (W-13).

Storing its parts belongs to ``store/lists/dataset``. The data of one farm are never in another's file (P-1).
After a run that was killed the next one continues where it was; written parts are not counted again.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final

from weboid.core.record.status import Status
from weboid.core.verdict.report_json import state_word
from weboid.store.db.pool import Pool
from weboid.store.lists.dataset import PARTS, HostStatus, delete_sets, find_progress, list_statuses, record_part
from weboid.store.pages.wiki import list_wikis

PERIOD_DAYS: Final = 7
KEPT_DAYS: Final = 28
COLUMNS: Final = ("wiki", "host", "status", "state", "urls", "uses", "dead")


async def publish(pool: Pool, day: int, *, show: Callable[[int], None] = lambda parts: None) -> bool:
    """Makes the set of `day` unless the newest one is younger than a week; returns whether it did."""
    async with pool.connection() as conn:
        progress = await find_progress(conn)
        farms = sorted({wiki.farm for wiki in await list_wikis(conn)})
    day, start = _next(progress, day)
    if start == PARTS or not farms:
        return False
    for part in range(start, PARTS):
        async with pool.connection() as conn:
            lines = {farm: list(some) for farm, some in groupby(await list_statuses(conn, part), lambda row: row.farm)}
            for farm in farms:
                own = lines.get(farm, [])
                await record_part(conn, day, farm, part, lines=len(own), body=_member(own, has_head=part == 0))
        show(part + 1)
    async with pool.connection() as conn:
        await delete_sets(conn, day - KEPT_DAYS)
    return True


def _next(progress: tuple[int, int] | None, day: int) -> tuple[int, int]:
    """The day of the set and the part with which to go on; `PARTS` = there is nothing to do."""
    if progress is None:
        return day, 0
    begun, parts = progress
    if parts < PARTS:
        return begun, parts
    return (day, 0) if day - begun >= PERIOD_DAYS else (begun, PARTS)


def _member(rows: Iterable[HostStatus], *, has_head: bool) -> bytes:
    """Lines of CSV (RFC 4180) as a complete gzip file; the same bytes whenever it is made."""
    text = io.StringIO()
    writer = csv.writer(text)
    if has_head:
        writer.writerow(COLUMNS)
    for row in rows:
        state = state_word(Status(row.status))
        writer.writerow((row.dbname, row.host, row.status, state, row.urls, row.uses, row.dead))
    return gzip.compress(text.getvalue().encode(), compresslevel=6, mtime=0)
