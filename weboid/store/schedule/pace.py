"""The pace of the crawl, and the hosts that have more URLs than can be checked in four weeks (C-3, C-4).

``core/record/pace`` decides what follows from it, ``maintain/pace`` does that once a day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Final, NamedTuple

from weboid.core.record.pace import BEHIND_DAYS, FEW, LATE_SHARE, Load, Pace
from weboid.store.db.rows import HostKey, columns_of, host_key_columns
from weboid.store.db.statements import Connection, fetch_one, fetch_value, statements

SQL: Final = statements("schedule/pace")
_WEEK: Final = 7
_KEPT_DAYS: Final = 60
_SMALL: Final = 200_000
"""A table with fewer rows is counted; of a larger one the estimates of ANALYZE are taken."""
BIG_HOSTS: Final = 100
"""Hosts that are looked at, at most: those with the most URLs."""
_MOST_URLS: Final = 50_000_000


class BigHost(NamedTuple):
    """A host with more URLs than fit, and in how many days all of them are checked once."""

    key: HostKey
    host: str
    urls: int
    days: int


async def record_checked(conn: Connection, days: Mapping[int, int]) -> None:
    """Adds to the number of URLs that were checked on each of these days."""
    for day, urls in sorted(days.items()):
        await conn.execute(SQL["record_checked"], {"day": day, "urls": urls})


async def delete_past_checked(conn: Connection, day: int) -> None:
    """Deletes the numbers of days long past."""
    await conn.execute(SQL["delete_checked"], {"before": day - _KEPT_DAYS})


async def find_checks_a_day(conn: Connection, day: int) -> int | None:
    """The number of URLs checked on a usual day of the week before `day`; None if nothing was."""
    return await fetch_value(conn, SQL["find_checked"], {"first": day - _WEEK, "day": day})


async def find_pace(conn: Connection) -> Pace | None:
    """The pace of the crawl, None before it was looked at first."""
    return await fetch_one(conn, Pace, SQL["find_pace"])


async def record_pace(conn: Connection, pace: Pace) -> None:
    """Writes the pace of the crawl."""
    await conn.execute(SQL["record_pace"], asdict(pace))


async def find_load(conn: Connection, day: int) -> Load:
    """The load of the crawl on `day`; hosts that are too big for it do not count as late."""
    row = await (await conn.execute(SQL["count_all"], {"limit": _SMALL})).fetchone()
    urls, hosts = row or (0, 0)
    bounds = {"before": day - BEHIND_DAYS, "limit": max(hosts // LATE_SHARE, FEW) + 1}
    late = await fetch_value(conn, SQL["count_late"], bounds) or 0
    return Load(urls, hosts, late, await find_checks_a_day(conn, day))


async def list_largest_hosts(conn: Connection, *, least: int, urls: int) -> dict[HostKey, int]:
    """The hosts with the most URLs, at most `BIG_HOSTS` and all with more than `least`; the store has about `urls`."""
    row = {"is_large": urls >= _SMALL, "least": least}
    candidates = [HostKey(*columns) async for columns in await conn.execute(SQL["list_candidates"], row)]
    bounds = {"most": _MOST_URLS, "hosts": BIG_HOSTS}
    rows = await (await conn.execute(SQL["list_sizes"], {**host_key_columns(candidates), **bounds})).fetchall()
    # Where the store is on several servers each gives so many.
    largest = sorted(rows, key=itemgetter(2), reverse=True)[:BIG_HOSTS]
    return {HostKey(bucket, host): size for bucket, host, size in largest if size > least}


async def record_big_hosts(conn: Connection, hosts: Sequence[BigHost]) -> None:
    """Makes these the hosts that are too big."""
    await conn.execute(SQL["delete_big_hosts"])
    ordered = sorted(hosts)
    columns = host_key_columns(host.key for host in ordered) | columns_of(ordered, "urls days")
    await conn.execute(SQL["record_big_hosts"], columns)


async def list_big_hosts(conn: Connection) -> list[BigHost]:
    """The hosts that are too big, those with the most URLs first."""
    rows = await conn.execute(SQL["list_big_hosts"])
    return [BigHost(HostKey(bucket, key), host, urls, days) async for bucket, key, host, urls, days in rows]
