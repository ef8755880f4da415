"""Turns at hosts, shared by all workers: when the next request to each may be sent (C-3, C-17).

One law: a turn is taken by one worker, by the clock of the database alone.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, host_key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("schedule/turn")
_MOMENT_S: Final = 0.03
"""A host that is free in so many seconds counts as free: less than what workers add to each pause."""


class SlotState(NamedTuple):
    """Whether we have got the turn at a host; if not, whether a request of another worker is still on its way there
    (its end is not known), and in how many seconds the host is free at the latest."""

    is_ours: bool
    is_held: bool
    free_s: float


async def lease_slots(conn: Connection, delays_s: Mapping[HostKey, float]) -> dict[HostKey, SlotState]:
    """Takes one turn at each host that is free, followed by a pause of the given seconds."""
    keys = sorted(delays_s)
    row = {**host_key_columns(keys), "delay": [delays_s[key] for key in keys], "moment": _MOMENT_S}
    rows = await conn.execute(SQL["lease_slots"], row)
    return {HostKey(bucket, host): SlotState(*state) async for bucket, host, *state in rows}


async def record_slots(conn: Connection, slots: Mapping[HostKey, tuple[float, bool]]) -> None:
    """Writes for hosts whose turn was ours the seconds until the next one, and whether our request is on its way."""
    keys = sorted(slots)
    row = {
        **host_key_columns(keys),
        "seconds": [slots[key][0] for key in keys],
        "held": [slots[key][1] for key in keys],
    }
    await conn.execute(SQL["record_slots"], row)


async def record_rest(conn: Connection, host: HostKey, seconds: float) -> None:
    """Allows no request to the host for so many seconds (Retry-After)."""
    await conn.execute(SQL["record_rest"], {**host._asdict(), "seconds": seconds})


async def delete_past(conn: Connection) -> None:
    """Deletes the rows of hosts that have been free for a minute."""
    await conn.execute(SQL["delete_past"])
