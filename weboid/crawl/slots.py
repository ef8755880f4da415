"""Whose turn it is: at least `delay_s` between two requests to one host, from any part of this process (C-3, C-17).

One law: a slot is taken before it is waited for, so that callers at the same moment get different ones.
"""

import asyncio
from time import monotonic
from typing import Final

_KEPT: Final = 100_000
"""Hosts remembered before those whose time has passed are forgotten."""


class Slots:
    """The next free moment of every host asked lately."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._free: dict[str, float] = {}

    def __len__(self) -> int:
        """How many hosts are remembered."""
        return len(self._free)

    async def turn(self, host: str) -> None:
        """Returns when a request may go to the host."""
        now = monotonic()
        start = max(now, self._free.get(host, now))
        self._free[host] = start + self._delay_s
        if len(self._free) > _KEPT:
            self._free = {name: free for name, free in self._free.items() if free > now}
        if start > now:
            await asyncio.sleep(start - now)
