"""Ends what takes too long: one timer of the event loop for thousands of limits of which few are ever reached."""

import asyncio
from heapq import heappop, heappush
from typing import Final, Protocol

PER_S: Final = 20
"""Slots a second: a limit is noticed so much later, at most."""


class Limited(Protocol):
    """A wait that ends at its limit."""

    def expire(self) -> None:
        """Called when the limit has passed."""
        ...


class Deadlines:
    """Limits of the running loop, in slots of time; a limit that is changed is removed and added anew."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._slots: dict[int, set[Limited]] = {}
        self._order: list[int] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, limited: Limited, at: float) -> int:
        """Adds a limit at a time of the loop; returns its slot, never 0."""
        slot = int(at * PER_S) + 1
        if (found := self._slots.get(slot)) is None:
            found = self._slots[slot] = set()
            heappush(self._order, slot)
            if self._order[0] == slot:
                self._set_timer()
        found.add(limited)
        return slot

    def remove(self, limited: Limited, slot: int) -> None:
        """Removes a limit by its slot; one that has passed is no error."""
        if found := self._slots.get(slot):
            found.discard(limited)

    def close(self) -> None:
        """Forgets all limits."""
        self._slots.clear()
        self._order.clear()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._order[0] / PER_S, self._expire) if self._order else None

    def _expire(self) -> None:
        now = self._loop.time() * PER_S
        passed: list[Limited] = []
        while self._order and self._order[0] <= now:
            passed += self._slots.pop(heappop(self._order))
        for limited in passed:
            try:
                limited.expire()
            except Exception as error:
                self._loop.call_exception_handler({"message": "a limit has passed", "exception": error})
        self._set_timer()
