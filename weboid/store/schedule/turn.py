"""Turns at hosts, shared by all workers: when the next request to each may be sent (C-3, C-17).

One law: a turn is taken by one worker, by the clock of the database alone.
Many turns are taken by one statement: every request of every worker takes one, redirects and robots.txt included.
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


class SlotNote(NamedTuple):
    """What others have to know of a turn that was taken: the host is free in so many seconds, or held for so long."""

    seconds: float
    is_held: bool
    claim: int


class WantedSlot(NamedTuple):
    """A turn that is wanted, and the pause after it, in seconds.

    `claim` is a random number of this turn alone: while the host is held by it, to ask again takes the same turn
    (D-388).
    """

    delay_s: float
    claim: int


async def lease_slots(
    conn: Connection, wanted: Mapping[HostKey, WantedSlot], *, are_held: bool = False
) -> dict[HostKey, SlotState]:
    """Takes one turn at each host that is free, or that is held by the same claim.

    `are_held`: the host is held for the given seconds, until a note says otherwise.
    """
    keys = sorted(wanted)
    row = {
        **host_key_columns(keys),
        "delay": [wanted[key].delay_s for key in keys],
        "claim": [wanted[key].claim for key in keys],
        "moment": _MOMENT_S,
        "held": are_held,
    }
    rows = await conn.execute(SQL["lease_slots"], row)
    return {HostKey(bucket, host): SlotState(*state) async for bucket, host, *state in rows}


async def record_slots(conn: Connection, notes: Mapping[HostKey, SlotNote]) -> None:
    """Writes for hosts whose turn was ours the seconds until the next one, and whether our request is on its way."""
    keys = sorted(notes)
    row = {
        **host_key_columns(keys),
        "seconds": [notes[key].seconds for key in keys],
        "held": [notes[key].is_held for key in keys],
        "claim": [notes[key].claim for key in keys],
    }
    await conn.execute(SQL["record_slots"], row)


async def record_rest(conn: Connection, host: HostKey, seconds: float) -> None:
    """Allows no request to the host for so many seconds (Retry-After)."""
    await conn.execute(SQL["record_rest"], {**host._asdict(), "seconds": seconds})


async def delete_past(conn: Connection) -> None:
    """Deletes the rows of hosts that have been free for a minute."""
    await conn.execute(SQL["delete_past"])
