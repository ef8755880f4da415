"""Slots for work of several parties: no party takes them all, however slow its work is.

One law: a party has at most `each` slots, and only `scarce` while less than half of all are free.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

_Queue = deque["asyncio.Future[bool]"]


class Bulkhead:
    """`most` slots in all. Who waits gets one in the order of coming, the parties by turns."""

    def __init__(self, most: int, *, each: int, scarce: int) -> None:
        self._most = most
        self._each = each
        self._scarce = scarce
        self._taken: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, _Queue] = {}

    @asynccontextmanager
    async def taken(self, party: Hashable, *, wait_s: float) -> AsyncIterator[bool]:
        """A slot while the block runs; False if there was none within `wait_s` seconds, or `refuse` was called."""
        is_taken = await self._take(party, wait_s)
        try:
            yield is_taken
        finally:
            if is_taken:
                self._give(party)

    def refuse(self, party: Hashable) -> None:
        """Whoever waits for a slot of this party gets none."""
        for waiter in self._waiting.pop(party, ()):
            if not waiter.done():
                waiter.set_result(False)

    async def _take(self, party: Hashable, wait_s: float) -> bool:
        if party not in self._waiting and self._is_free(party):
            self._taken[party] += 1
            return True
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(party, deque()).append(waiter)
        timer = asyncio.get_running_loop().call_later(wait_s, self._end, party, waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.result():
                self._give(party)
            self._end(party, waiter)
            raise
        finally:
            timer.cancel()

    def _end(self, party: Hashable, waiter: "asyncio.Future[bool]") -> None:
        """Ends the waiting of one."""
        if not waiter.done():
            waiter.set_result(False)
        queue = self._waiting.get(party)
        if queue is not None and waiter in queue:
            queue.remove(waiter)
            if not queue:
                del self._waiting[party]

    def _give(self, party: Hashable) -> None:
        self._taken[party] -= 1
        if not self._taken[party]:
            del self._taken[party]
        while self._hand_on():
            pass

    def _hand_on(self) -> bool:
        """Gives a free slot to the party that waits for one and got one the longest ago; returns whether there was."""
        for party, queue in self._waiting.items():
            if not self._is_free(party):
                continue
            waiter = queue.popleft()
            # To the end of the order.
            del self._waiting[party]
            if queue:
                self._waiting[party] = queue
            if not waiter.done():
                self._taken[party] += 1
                waiter.set_result(True)
            return True
        return False

    def _is_free(self, party: Hashable) -> bool:
        free = self._most - self._taken.total()
        return free > 0 and self._taken[party] < (self._each if 2 * free >= self._most else self._scarce)
