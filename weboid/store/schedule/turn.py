"""Turns at hosts, shared by all workers: when the next request to each may be sent (C-3, C-17).

One law: a turn is taken before it is waited for, by the clock of the database alone.
"""

from collections.abc import Mapping
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, host_key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("schedule/turn")


async def lease_slots(conn: Connection, delays_s: Mapping[HostKey, float], *, limit_s: float) -> dict[HostKey, float]:
    """Takes one turn at each host, followed by a pause of the given seconds; returns the seconds until the turn.

    Hosts whose turn would come only after `limit_s` seconds are missing: no turn was taken there.
    """
    keys = sorted(delays_s)
    row = {**host_key_columns(keys), "delay": [delays_s[key] for key in keys], "limit": limit_s}
    rows = await (await conn.execute(SQL["lease_slots"], row)).fetchall()
    waits = {HostKey(bucket, host): until_free for bucket, host, until_free in rows}
    return {key: max(0.0, waits[key] - delays_s[key]) for key in keys if key in waits}


async def record_rest(conn: Connection, host: HostKey, seconds: float) -> None:
    """Allows no request to the host for so many seconds (Retry-After)."""
    await conn.execute(SQL["record_rest"], {**host._asdict(), "seconds": seconds})


async def delete_past(conn: Connection) -> None:
    """Deletes the rows of hosts that have been free for a minute."""
    await conn.execute(SQL["delete_past"])
