"""Leases: which worker may check and write which bucket, until when (architecture §3).

Worker and epoch decide. A worker whose lease was taken over finds another epoch and may not write any more, and nobody
renews, ends, reads or writes under a lease of another worker, whatever epoch is named.
"""

import secrets
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from weboid.core.record.moment import HOURS, Moment
from weboid.store.db.statements import Connection, fetch_all, fetch_one, fetch_value, statements

SQL: Final = statements("schedule/lease")

Held = Mapping[int, int]
"""Buckets held, each with the epoch under which it was leased."""
TOGETHER: Final = 8
"""Crawlers of one token, or of one machine next to the database, that count in a share (D-480)."""
_ASKING_S: Final = 20.0
"""Seconds for which a worker that wanted buckets counts: several times as long as it is silent while it works."""


class FairShare(NamedTuple):
    """Numbers of buckets with due hosts: a worker's fair share (`most`), those that nobody holds, and its own."""

    most: int
    free: int
    own: int


class _Counted(NamedTuple):
    most: int
    free: int
    own: int
    room: int
    excess: int


async def lease_buckets(
    conn: Connection, worker: str, *, until: Moment, limit: int, lease_s: float, rest_s: float
) -> dict[int, int]:
    """Leases at most `limit` buckets with hosts due by then, free for at least `rest_s` seconds, for `lease_s`.

    Those with the hosts that have been due for longest are taken (C-3). Returns the epoch of each, which is random.
    """
    row = {"worker": worker, "epoch": secrets.randbits(63), **due_values(until), "limit": limit}
    row |= {"seconds": lease_s, "rest": rest_s}
    return {bucket: epoch async for bucket, epoch in await conn.execute(SQL["lease_buckets"], row)}


async def find_share(conn: Connection, worker: str, until: Moment) -> FairShare:
    """The share of a worker in buckets with due hosts, which so says that it wants some (D-472)."""
    counted = await _count(conn, worker, until)
    row = {"worker": worker, "asking": _ASKING_S}
    await conn.execute(SQL["record_asking" if counted.most else "delete_asking"], row)
    return FairShare(*counted[:3])


async def find_room(conn: Connection, worker: str, until: Moment) -> int:
    """The number of buckets that a worker may still lease while others want some, and those of its token (D-480)."""
    counted = await _count(conn, worker, until)
    return min(counted.most - counted.own, counted.room)


async def find_excess(conn: Connection, worker: str, until: Moment) -> int:
    """The number of buckets that those of a worker's token hold above their part while nothing is free for others."""
    return max((await _count(conn, worker, until)).excess, 0)


async def _count(conn: Connection, worker: str, until: Moment) -> _Counted:
    row = {"worker": worker, **due_values(until), "asking": _ASKING_S, "together": TOGETHER}
    return await fetch_one(conn, _Counted, SQL["find_share"], row) or _Counted(0, 0, 0, 0, 0)


async def is_alone(conn: Connection, worker: str) -> bool:
    """Notes that a worker wants buckets; returns whether it alone does: counting shares costs more."""
    return not await fetch_value(conn, SQL["find_others"], {"worker": worker, "asking": _ASKING_S})


async def delete_past_wishes(conn: Connection) -> None:
    """Deletes the wishes of workers that are gone."""
    await conn.execute(SQL["delete_asking"], {"worker": "", "asking": _ASKING_S})


async def find_free_day(conn: Connection, until: Moment, *, rest_s: float) -> int | None:
    """The day since when a host has been due in the buckets that could be leased, the earliest; None if none is due."""
    return await fetch_value(conn, SQL["find_free_day"], {**due_values(until), "rest": rest_s})


async def is_due(conn: Connection, until: Moment) -> bool:
    """Returns whether any bucket, leased or not, has a host due by then."""
    return bool(await fetch_value(conn, SQL["find_due"], due_values(until)))


async def record_renewal(conn: Connection, worker: str, held: Held, *, lease_s: float) -> set[int]:
    """Renews leases of a worker for `lease_s` seconds; returns the buckets that are still its own."""
    row = {**_columns(worker, held), "seconds": lease_s}
    return {bucket async for (bucket,) in await conn.execute(SQL["record_renewal"], row)}


async def record_release(conn: Connection, worker: str, held: Held) -> None:
    """Ends leases of a worker at once."""
    await conn.execute(SQL["record_release"], _columns(worker, held))


async def list_held(conn: Connection, worker: str, held: Held) -> set[int]:
    """Those of these buckets that are still the worker's, locked until the transaction ends."""
    return set(await fetch_all(conn, int, SQL["list_held"], _columns(worker, held)))


async def list_foreign(conn: Connection, worker: str, held: Held) -> set[int]:
    """Those of these leases, by their present epochs, that are another worker's."""
    return {bucket async for (bucket,) in await conn.execute(SQL["list_foreign"], _columns(worker, held))}


async def list_own(conn: Connection, worker: str, buckets: Collection[int]) -> set[int]:
    """Those of these buckets that this worker has leased, and nobody since."""
    row = {"worker": worker, "buckets": list(buckets)}
    return set(await fetch_all(conn, int, SQL["list_own"], row))


async def count_due_buckets(conn: Connection, until: Moment) -> int:
    """The number of buckets with hosts due by then, leased or not."""
    return await fetch_value(conn, SQL["count_due_buckets"], due_values(until)) or 0


def due_values(until: Moment) -> dict[str, int]:
    """The parameters of a statement that finds the hosts due by then; hour None = at any hour of the day."""
    return {"day": until.day, "hour": HOURS if until.hour is None else until.hour}


def _columns(worker: str, held: Held) -> dict[str, str | list[int]]:
    return {"worker": worker, "bucket": list(held), "epoch": list(held.values())}
