"""Tasks that administrators order (R-7): their orders, state and progress, and the places of links in their last run.

A task is named by its first start, so that each run knows what the one before it found; one run waits or runs at a
time. Places are kept apart from the entries of a task, as these do not say where they are linked: those at fault in
groups by host, reason and state, all others as they came, and each row has so many that a reader takes one at a time.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from weboid.store.db.rows import columns_of, storable
from weboid.store.db.statements import Connection, fetch_all, fetch_one, fetch_value, statements

SQL: Final = statements("site/ordered")
MOST_WAITING: Final = 100
PLACES_DAYS: Final = 30
"""Days after its end for which the places of a run are kept."""
_LEVEL: Final = 1
_LISTED: Final = 100


class TaskState(StrEnum):
    """The states of the run of a task that was ordered last; the values are stored."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


class OrderedTask(NamedTuple):
    """A task that was ordered `age_s` seconds ago; `wanted` and `progress` as their writers have them."""

    task: int
    name: str
    starts: list[str]
    wanted: Mapping[str, Any]
    state: str
    ordered: datetime
    age_s: float
    ended: datetime | None
    is_to_stop: bool
    progress: Mapping[str, Any]

    @property
    def is_active(self) -> bool:
        """True if its run waits or is under way."""
        return self.state in (TaskState.WAITING, TaskState.RUNNING)


class PlacesRow(NamedTuple):
    """Some places of one kind; without a host those that are not at fault."""

    number: int
    host: str | None
    reason: str | None
    state: str | None
    size: int
    places: bytes


class FaultGroup(NamedTuple):
    """The number of places whose targets have a host, and a fault, in common."""

    host: str
    reason: str
    state: str
    size: int


class Branch(NamedTuple):
    """All URLs that go on alike; `http` is the least status among them."""

    name: str
    urls: int
    broken: int
    http: int | None


async def record_order(conn: Connection, starts: Sequence[str], wanted: Mapping[str, Any], day: int) -> int | None:
    """Orders a run of the task of these starts; None if one waits or runs, 0 if too many wait."""
    await conn.execute(SQL["lock_orders"])
    waiting: int = await fetch_value(conn, SQL["count_waiting"]) or 0
    if waiting >= MOST_WAITING:
        return 0
    row = {"name": starts[0], "starts": list(starts), "wanted": json.dumps(wanted), "day": day}
    return await fetch_value(conn, SQL["record_order"], row)


async def record_stop(conn: Connection, task: int) -> str | None:
    """Has the run of a task stopped; returns the task's name, None if that was done before or it has ended."""
    return await fetch_value(conn, SQL["record_stop"], {"task": task})


async def list_ordered(conn: Connection, *, is_active: bool = False) -> list[OrderedTask]:
    """The tasks whose runs wait or are under way, in order; then the newest others, unless `is_active`."""
    return await fetch_all(
        conn, OrderedTask, SQL["list_ordered"], {"task": None, "active": is_active, "limit": MOST_WAITING + _LISTED}
    )


async def find_ordered(conn: Connection, task: int) -> OrderedTask | None:
    """The task of a number; None if none was ordered."""
    return await fetch_one(conn, OrderedTask, SQL["list_ordered"], {"task": task, "active": False, "limit": 1})


async def record_state(conn: Connection, task: int, state: TaskState, progress: Mapping[str, Any]) -> bool:
    """Records how far a run has come; returns whether it is to stop."""
    row = {"task": task, "state": state.value, "progress": storable(json.dumps(progress))}
    return bool(await fetch_value(conn, SQL["record_state"], row))


def packed_places(places: Sequence[tuple[Any, ...]]) -> bytes:
    """The stored form of places: MessagePack, compressed."""
    return zlib.compress(msgspec.msgpack.encode(places), _LEVEL)


async def record_places(conn: Connection, task: int, rows: Sequence[PlacesRow]) -> None:
    """Writes rows of places."""
    await conn.execute(SQL["record_places"], {"task": task, **columns_of(rows, "number host reason state size places")})


async def delete_places(conn: Connection, task: int) -> None:
    """Deletes the places of a task, for a run that begins."""
    await conn.execute(SQL["delete_places"], {"task": task})


async def expire_places(conn: Connection, *, limit: int) -> int:
    """Deletes at most `limit` rows of places of runs that ended long ago; returns how many."""
    return (await conn.execute(SQL["delete_past_places"], {"days": PLACES_DAYS, "limit": limit})).rowcount


async def list_places(
    conn: Connection, task: int, after: int, *, limit: int, group: tuple[str, str, str] | None = None
) -> list[tuple[int, list[list[Any]]]]:
    """At most `limit` rows after a number, each with its number and its places: of all, or of one group of faults."""
    host, reason, state = map(storable, group) if group else (None, None, None)
    row = {"task": task, "after": after, "limit": limit, "host": host, "reason": reason, "state": state}
    found = await (await conn.execute(SQL["list_places"], row)).fetchall()
    return [(number, msgspec.msgpack.decode(zlib.decompress(places))) for number, places in found]


async def list_faults(conn: Connection, task: int, *, limit: int) -> list[FaultGroup]:
    """At most `limit` groups of places at fault, the largest first."""
    return await fetch_all(conn, FaultGroup, SQL["list_faults"], {"task": task, "limit": limit})


async def list_branches(conn: Connection, task: int, at: str, after: str, *, limit: int) -> list[Branch]:
    """The ways in which URLs go on that begin with `at`, by name; one of another server than the start's is whole."""
    return await fetch_all(
        conn, Branch, SQL["list_branches"], {"task": task, "at": storable(at), "after": storable(after), "limit": limit}
    )
