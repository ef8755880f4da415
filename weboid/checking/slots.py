"""Slots: the turns at hosts as processes share them over a store (C-3, C-17); ``checking/turns`` schedules by them.

A note or a request that comes again changes nothing.
"""

from collections.abc import Mapping
from time import monotonic
from typing import Final, Protocol

from weboid.store.db.pool import Pool
from weboid.store.db.rows import HostKey
from weboid.store.db.transactions import all_repeated
from weboid.store.schedule.turn import (
    SlotNote,
    SlotState,
    WantedSlot,
    delete_past,
    lease_slots,
    record_rest,
    record_slots,
)

_FORGETTING_S: Final = 60.0


class Slots(Protocol):
    """The meeting point of the processes that share turns. Its methods raise StoreAway while it cannot be reached."""

    @property
    def is_far(self) -> bool:
        """Returns whether notes take so long that a turn must be held until its request is known to be sent."""
        ...

    async def exchange(
        self, notes: Mapping[HostKey, SlotNote], wanted: Mapping[HostKey, WantedSlot]
    ) -> dict[HostKey, SlotState]:
        """Writes the notes, then takes one turn at each wanted host that is free; returns the state of each."""
        ...

    async def rest(self, host: HostKey, seconds: float) -> None:
        """Keeps all workers from the host for so many seconds (Retry-After)."""
        ...


@all_repeated
class StoreSlots:
    """The slots in the store itself."""

    is_far = False

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._forgotten = monotonic()

    async def exchange(
        self, notes: Mapping[HostKey, SlotNote], wanted: Mapping[HostKey, WantedSlot], *, are_held: bool = False
    ) -> dict[HostKey, SlotState]:
        """As in `Slots`; `are_held`: others count the turns as requests that are on their way."""
        async with self._pool.reading() as conn:  # each statement by itself, so that none waits for another
            if notes:
                await record_slots(conn, notes)
            if monotonic() - self._forgotten > _FORGETTING_S:
                self._forgotten = monotonic()
                await delete_past(conn)
            return await lease_slots(conn, wanted, are_held=are_held) if wanted else {}

    async def rest(self, host: HostKey, seconds: float) -> None:
        async with self._pool.connection() as conn:
            await record_rest(conn, host, seconds)
