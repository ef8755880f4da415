"""Turns at hosts, shared by all workers: when the next request to each may be sent (C-3, C-17).

A turn is taken by one worker, by the clock of the database alone. One statement takes many: every request of every
worker needs one, redirects and robots.txt included.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from weboid.store.db.rows import HostKey, columns_of, host_key_columns
from weboid.store.db.statements import Connection, statements

SQL: Final = statements("schedule/turn")
_MOMENT_S: Final = 0.03
"""A host that is free in so many seconds counts as free: less than what workers add to each pause."""


class SlotState(NamedTuple):
    """The answer to a wanted turn at a host: it is ours, or a request of another worker is still on its way there (its
    end is not known); and the seconds until the host is free at the latest."""

    is_ours: bool
    is_held: bool
    free_s: float


class SlotNote(NamedTuple):
    """A note for others on a turn that was taken: the host is free in so many seconds, or held for so long."""

    seconds: float
    is_held: bool
    claim: int


class WantedSlot(NamedTuple):
    """A request for a turn, and the pause after it, in seconds.

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
    slots = [wanted[key] for key in keys]
    row = {"delay": [slot.delay_s for slot in slots], "claim": [slot.claim for slot in slots], "moment": _MOMENT_S}
    rows = await conn.execute(SQL["lease_slots"], host_key_columns(keys) | row | {"held": are_held})
    return {HostKey(bucket, host): SlotState(*state) async for bucket, host, *state in rows}


async def record_slots(conn: Connection, notes: Mapping[HostKey, SlotNote]) -> None:
    """Writes for hosts whose turn was ours the seconds until the next one, and whether our request is on its way."""
    keys = sorted(notes)
    held = {"held": [notes[key].is_held for key in keys]}
    row = host_key_columns(keys) | columns_of((notes[key] for key in keys), "seconds claim") | held
    await conn.execute(SQL["record_slots"], row)


async def record_rest(conn: Connection, host: HostKey, seconds: float) -> None:
    """Keeps all requests from the host for so many seconds (Retry-After)."""
    await conn.execute(SQL["record_rest"], {**host._asdict(), "seconds": seconds})


async def delete_past(conn: Connection) -> None:
    """Deletes the rows of hosts that have been free for a minute."""
    await conn.execute(SQL["delete_past"])
