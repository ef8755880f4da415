"""Slots for work of several parties: no party takes them all, however slow its work is."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

_Queue = deque["asyncio.Future[bool]"]


class Bulkhead:
    """`most` slots in all; a party has at most `each`, and only `scarce` while less than half of all are free.

    Callers who wait get one in the order of coming, the parties by turns.
    """

    def __init__(self, most: int, *, each: int, scarce: int) -> None:
        self._most = most
        self._each = each
        self._scarce = scarce
        self._taken: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, _Queue] = {}

    @asynccontextmanager
    async def slot(self, party: Hashable, *, wait_s: float) -> AsyncIterator[bool]:
        """A slot while the block runs; False if there was none within `wait_s` seconds, or `refuse` was called."""
        has_slot = await self._take(party, wait_s)
        try:
            yield has_slot
        finally:
            if has_slot:
                self._give(party)

    def refuse(self, party: Hashable) -> None:
        """Callers who wait for a slot of this party get none."""
        for waiter in self._waiting.pop(party, ()):
            if not waiter.done():
                waiter.set_result(False)

    async def _take(self, party: Hashable, wait_s: float) -> bool:
        if party not in self._waiting and self._is_free(party):
            self._taken[party] += 1
            return True
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiting.setdefault(party, deque()).append(waiter)
        timer = loop.call_later(wait_s, self._end, party, waiter)
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
        # A free slot goes to the waiting party that got one the longest ago, which then is the last in the order.
        while (next_party := next(filter(self._is_free, self._waiting), None)) is not None:
            queue = self._waiting.pop(next_party)
            waiter = queue.popleft()
            if queue:
                self._waiting[next_party] = queue
            if not waiter.done():
                self._taken[next_party] += 1
                waiter.set_result(True)

    def _is_free(self, party: Hashable) -> bool:
        free = self._most - self._taken.total()
        return free > 0 and self._taken[party] < (self._each if 2 * free >= self._most else self._scarce)
