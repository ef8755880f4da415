"""A time of its own for tests that play servers and their client on one event loop.

One law: limits pass only while nothing is to be done, so that a busy machine makes nobody late; and then they pass
sooner than by the clock.
"""

import asyncio
from selectors import DefaultSelector, SelectorKey
from time import monotonic
from typing import Final

_FASTER: Final = 4
_STEP_S: Final = 0.02
"""A wait counts in so short steps: a process that gets no processor for a second has waited for one of them."""


class IdleTime(asyncio.SelectorEventLoop):
    """A loop whose time is what it has spent waiting, times four; what others do meanwhile, such as PostgreSQL, is
    waiting, too."""

    def __init__(self) -> None:
        self._waits = _Waits()
        super().__init__(self._waits)

    def time(self) -> float:
        """The seconds by which all limits of asyncio go."""
        return self._waits.passed_s


class _Waits(DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.passed_s = monotonic()

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        step_s = _STEP_S if timeout is None else min(max(timeout, 0) / _FASTER, _STEP_S)
        if not (events := super().select(step_s)):
            self.passed_s += step_s * _FASTER
        return events
