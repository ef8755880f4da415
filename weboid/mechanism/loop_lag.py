"""Measures by how much the event loop is late: calls that are due while it is busy with something else wait.

A lag that has not ended yet counts already.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic
from typing import Final

TICK_S: Final = 0.1
"""The loop is asked to wake up so often, in seconds."""
SLOT_S: Final = 1.0
SLOTS: Final = 300
"""So many slots are remembered, each with the worst of at least `SLOT_S` seconds: five minutes or more."""
LATE_S: Final = 1.0
"""Below so many seconds a loop is busy; beyond, it is late."""


@dataclass(slots=True)
class _Slot:
    begun: float
    ended: float
    worst_s: float = 0.0
    late_s: float = 0.0


class LoopLag:
    """The lateness of the running loop by the system's monotonic clock, measured only in `open`."""

    def __init__(self) -> None:
        self._slots: deque[_Slot] = deque(maxlen=SLOTS)
        self._expected: float | None = None

    @contextmanager
    def open(self) -> Iterator[None]:
        """Measures the running loop until the block ends."""
        self._expected = monotonic() + TICK_S
        ticking = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            ticking.cancel()
            self._expected = None

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self.count(self._overdue_s())
            self._expected = monotonic() + TICK_S

    def count(self, lag_s: float) -> None:
        """Takes a lag that has just ended."""
        now = monotonic()
        if not self._slots or now - self._slots[-1].begun >= SLOT_S:
            self._slots.append(_Slot(now, now))
        slot = self._slots[-1]
        slot.ended = now
        slot.worst_s = max(slot.worst_s, lag_s)
        slot.late_s += lag_s if lag_s > LATE_S else 0.0

    def worst_since(self, moment: float) -> float:
        """The most seconds that the loop was late at once, since a moment of the monotonic clock."""
        return max([self._overdue_s(), *(slot.worst_s for slot in self._since(moment))])

    def late_share(self, seconds: float) -> float:
        """The share of the last so many seconds that were lags of over `LATE_S`."""
        late_s = sum(slot.late_s for slot in self._since(monotonic() - seconds))
        overdue_s = self._overdue_s()
        return min((late_s + overdue_s if overdue_s > LATE_S else late_s) / seconds, 1.0)

    def _since(self, moment: float) -> Iterator[_Slot]:
        return takewhile(lambda slot: slot.ended >= moment, reversed(self._slots))

    def _overdue_s(self) -> float:
        return 0.0 if self._expected is None else max(monotonic() - self._expected, 0.0)
