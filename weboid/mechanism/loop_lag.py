"""Measures by how much the event loop is late: what is due while it is busy with something else waits.

One law: a lag that has not ended yet counts already, and what is kept is bounded.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
    """How late the running loop wakes up, by the system's monotonic clock. Nothing is measured but in `open`."""

    def __init__(self) -> None:
        self._slots: deque[_Slot] = deque(maxlen=SLOTS)
        self._expected: float | None = None

    @contextmanager
    def open(self) -> Iterator[None]:
        """Measures the running loop until the block ends."""
        loop = asyncio.get_running_loop()
        ticking: asyncio.TimerHandle

        def tick() -> None:
            self.count(self._overdue_s())
            begin()

        def begin() -> None:
            nonlocal ticking
            self._expected = monotonic() + TICK_S
            ticking = loop.call_later(TICK_S, tick)

        begin()
        try:
            yield
        finally:
            ticking.cancel()
            self._expected = None

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
        worst_s = self._overdue_s()
        for slot in reversed(self._slots):
            if slot.ended < moment:
                break
            worst_s = max(worst_s, slot.worst_s)
        return worst_s

    def late_share(self, seconds: float) -> float:
        """The share of the last so many seconds that were lags of over `LATE_S`."""
        since = monotonic() - seconds
        overdue_s = self._overdue_s()
        late_s = overdue_s if overdue_s > LATE_S else 0.0
        for slot in reversed(self._slots):
            if slot.ended < since:
                break
            late_s += slot.late_s
        return min(late_s / seconds, 1.0)

    def _overdue_s(self) -> float:
        return 0.0 if self._expected is None else max(monotonic() - self._expected, 0.0)
