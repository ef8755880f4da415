"""Turns at hosts: at least `delay_s` seconds between two requests to one host, across all workers (C-3, C-17).

`LocalTurns` is for one process; `SharedTurns` for all processes that share slots (``checking/slots``), and takes many
turns at once.
The pause counts from the moment at which the last request was sent, not from its turn: while one is on its way, no
other has its turn.
"""

import asyncio
import logging
from collections.abc import Mapping
from math import inf
from secrets import randbits
from time import monotonic
from typing import Final

from weboid.checking.slots import Slots
from weboid.core.url.keys import bucket, host_key
from weboid.errors import StoreAway
from weboid.mechanism.patience import is_stopped_within
from weboid.mechanism.pauses import GrowingPause
from weboid.net.exchange import Sending
from weboid.store.db.rows import HostKey
from weboid.store.schedule.turn import SlotNote, SlotState, WantedSlot

log = logging.getLogger(__name__)

QUEUE_S: Final = 120.0
"""Seconds that a turn is waited for at most, as far as that is known beforehand; otherwise the check is made another
day. A request on its way may make it twice as long."""
_KEPT: Final = 100_000
"""Number of hosts remembered before those whose time has passed are forgotten."""
_GATHERING_S: Final = 0.005
"""Turns requested within so many seconds are taken together."""
_SLACK_S: Final = 0.05
"""Added to each delay that is shared, since processes do not wake up exactly on time."""
_LATE_S: Final = 0.02
"""A request that is sent so soon after its turn keeps the pause that was taken with the turn, slack included."""
_HELD_S: Final = 60.0
"""So long is a host kept from other workers by a request on its way; renewed while it is, so only a crash matters."""
_LOOK_S: Final = 0.2
"""Seconds between two looks whether the request of another worker has been sent."""
_RETRY_S: Final = 1.0
_RETRY_LIMIT_S: Final = 15.0
_LAST_S: Final = 2.0
_CLAIM_BITS: Final = 63


class NotAsked(Exception):
    """Nothing was requested, and no server failed: the wait for the host is too long, or we may not contact it now."""


class Queue:
    """The requests to one host: when the last was sent, whether one is on its way, and those that wait (in order)."""

    __slots__ = ("claim", "estimate", "last", "lock", "on_its_way", "rest", "waiting")

    def __init__(self) -> None:
        self.claim = 0
        """Of the last turn that was shared."""
        self.estimate = -inf
        """The earliest time of the next turn, if all requests are sent at their turns."""
        self.last = -inf
        self.rest = -inf
        self.on_its_way: asyncio.Future[None] | None = None
        self.lock: asyncio.Lock | None = None
        self.waiting = 0

    def is_past(self, now: float) -> bool:
        return not self.waiting and self.on_its_way is None and max(self.estimate, self.rest) <= now


class _InFlight:
    """A request on its way to a host (D-106)."""

    __slots__ = ("_done", "_host", "_queue", "_timer", "_turns", "begun", "is_held", "is_sent")

    def __init__(self, turns: "LocalTurns", host: str, queue: Queue) -> None:
        self._turns = turns
        self._host = host
        self._queue = queue
        self.begun = queue.last
        self.is_held = self.is_sent = False
        loop = asyncio.get_running_loop()
        self._done = queue.on_its_way = loop.create_future()
        self._timer = loop.call_later(turns.delay_of(host) / 2, self._hold)

    def sent(self) -> None:
        self.is_sent = True
        self._queue.last = max(self._queue.last, monotonic())
        self._turns.note_sent(self._host, self)
        self._finish()

    def end(self) -> None:
        if not self.is_sent:
            self._turns.note_unsent(self._host, self)
        self._finish()

    def _finish(self) -> None:
        self._timer.cancel()
        if not self._done.done():
            self._done.set_result(None)
            self._queue.on_its_way = None

    def _hold(self) -> None:
        self.is_held = True
        self._turns.note_held(self._host)
        self._timer = asyncio.get_running_loop().call_later(_HELD_S / 2, self._hold)


class LocalTurns:
    """The scheduling of requests in one process: a queue for every host requested lately."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._queues: dict[str, Queue] = {}
        self._slow: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._queues)

    def delay_of(self, host: str) -> float:
        """The seconds between two requests to a host."""
        return max(self._delay_s, self._slow.get(host, 0.0))

    def slow(self, host: str, delay_s: float) -> None:
        """Sets a longer delay between requests to this host (robots.txt), also for those that wait already."""
        if delay_s > self._delay_s:
            self._slow.pop(host, None)
            self._slow[host] = delay_s
            if len(self._slow) > _KEPT:
                del self._slow[next(iter(self._slow))]

    async def turn(self, host: str) -> Sending | None:
        """Returns when a request may go to the host; raises NotAsked if the wait is too long.

        The next one has its turn a delay after the Sending is `sent`, or after this turn if it ends without. None where
        only requested pauses count, as in benchmarks and simulations.
        """
        queue, now = self.queue_of(host), monotonic()
        start = max(now, queue.estimate, queue.rest)
        if start - now > QUEUE_S:
            raise NotAsked(host)
        delay_s = self.delay_of(host)
        queue.estimate = start + delay_s
        if not delay_s:
            if start > now:
                await asyncio.sleep(start - now)
            queue.last = monotonic()
            return None
        queue.waiting += 1
        try:
            async with asyncio.timeout(2 * QUEUE_S):
                queue.lock = queue.lock or asyncio.Lock()
                async with queue.lock:
                    await self._wait(host, queue)
                    await self._take(host)
                    queue.last = monotonic()
        except TimeoutError:
            raise NotAsked(host) from None
        finally:
            queue.waiting -= 1
        return _InFlight(self, host, queue)

    async def rest(self, host: str, seconds: float) -> None:
        """Sends no requests to the host for so many seconds (Retry-After)."""
        queue = self.queue_of(host)
        queue.rest = max(queue.rest, monotonic() + seconds)

    async def close(self) -> None:
        """Ends the waiting for turns."""

    def note_sent(self, host: str, flight: _InFlight) -> None:
        """A request was sent."""

    def note_unsent(self, host: str, flight: _InFlight) -> None:
        """A request has ended before it was sent: the pause counts from its turn."""

    def note_held(self, host: str) -> None:
        """A request is still on its way."""

    async def _take(self, host: str) -> None:
        """Returns when others have left the turn to us."""

    async def _wait(self, host: str, queue: Queue) -> None:
        """Returns when no request is on its way, and the last one was sent long enough ago."""
        while True:
            if queue.on_its_way is not None:
                await asyncio.wait([queue.on_its_way])
                continue
            wait_s = max(queue.last + self.delay_of(host), queue.rest) - monotonic()
            if wait_s <= 0:
                return
            if wait_s > QUEUE_S:
                raise NotAsked(host)
            await asyncio.sleep(wait_s)

    def queue_of(self, host: str) -> Queue:
        if (queue := self._queues.get(host)) is None:
            if len(self._queues) >= _KEPT:
                now = monotonic()
                self._queues = {name: queue for name, queue in self._queues.items() if not queue.is_past(now)}
            queue = self._queues[host] = Queue()
        return queue


class SharedTurns(LocalTurns):
    """Turns for all processes that share slots.

    A request that is not sent soon after its turn keeps its host from the others until it is; where slots are far, each
    request does.
    """

    def __init__(self, slots: Slots, delay_s: float) -> None:
        super().__init__(delay_s)
        self._slots = slots
        self._wanted: dict[str, asyncio.Future[SlotState]] = {}
        self._notes: dict[str, SlotNote] = {}
        self._gathering: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def slow(self, host: str, delay_s: float) -> None:
        """Also shows it to other workers at once if we just sent one."""
        super().slow(host, delay_s)
        queue = self.queue_of(host)
        if queue.on_its_way is None and (left_s := queue.last + self._pause_of(host) - monotonic()) > 0:
            self._note(host, left_s)

    async def rest(self, host: str, seconds: float) -> None:
        await super().rest(host, seconds)
        try:
            await self._slots.rest(_key(host), seconds)
        except StoreAway as error:
            log.debug("other workers do not know that %s requested a pause: %s", host, error)

    async def close(self) -> None:
        """Also publishes what others still have to know of the last requests, within `_LAST_S`.

        Where the store is away it is tried once more only.
        """
        self._closing.set()
        for wanted in self._wanted.values():
            wanted.cancel()
        if self._gathering:
            await asyncio.wait([self._gathering], timeout=_LAST_S)
            self._gathering.cancel()
            await asyncio.gather(self._gathering, return_exceptions=True)

    def note_sent(self, host: str, flight: _InFlight) -> None:
        """Lets the pause of a request that was sent late begin now, for other workers, too."""
        if self._is_held(flight) or monotonic() - flight.begun > _LATE_S:
            flight.is_held = False
            self._note(host, self._pause_of(host))

    def note_unsent(self, host: str, flight: _InFlight) -> None:
        """Gives back a host that was held for a request that was not sent."""
        if self._is_held(flight):
            self._note(host, max(0.0, flight.begun + self._pause_of(host) - monotonic()))

    def note_held(self, host: str) -> None:
        """Keeps the host from other workers."""
        self._note(host, _HELD_S, is_held=True)

    def _is_held(self, flight: _InFlight) -> bool:
        return flight.is_held or self._slots.is_far

    def _pause_of(self, host: str) -> float:
        return self.delay_of(host) + _SLACK_S

    def _note(self, host: str, seconds: float, *, is_held: bool = False) -> None:
        """Lets others know that a host is free in so many seconds, or held for so long."""
        self._notes[host] = SlotNote(seconds, is_held, self.queue_of(host).claim)
        self._gather_soon()

    def _gather_soon(self) -> None:
        if self._gathering is None or self._gathering.done():
            self._gathering = asyncio.create_task(self._gather())

    async def _take(self, host: str) -> None:
        self.queue_of(host).claim = randbits(_CLAIM_BITS)
        while True:
            # One task of this process at a time: the others wait in the host's queue.
            wanted = self._wanted[host] = asyncio.get_running_loop().create_future()
            asked = monotonic()
            self._gather_soon()
            state = await wanted
            if state.is_ours:
                if self._slots.is_far and monotonic() - asked > _HELD_S / 2:
                    continue  # It may soon be another's; if it is still ours, it is again.
                return
            if state.free_s > QUEUE_S:
                raise NotAsked(host)
            await asyncio.sleep(min(state.free_s, _LOOK_S) if state.is_held else state.free_s)

    async def _gather(self) -> None:
        """Takes turns and writes notes, all that have come up at a time, until there are none."""
        await asyncio.sleep(_GATHERING_S)
        while self._wanted or self._notes:
            wanted, self._wanted = self._wanted, {}
            notes, self._notes = self._notes, {}
            slots = {
                host: WantedSlot(_HELD_S if self._slots.is_far else self._pause_of(host), self.queue_of(host).claim)
                for host, taken in wanted.items()
                if not taken.done()
            }
            states = await self._written(notes, slots)
            for host, slot in slots.items():
                if not wanted[host].done():
                    wanted[host].set_result(states[host])
                elif self._slots.is_far and states[host].is_ours:  # Its check was cancelled: nothing will be sent.
                    self._notes.setdefault(host, SlotNote(self._pause_of(host), False, slot.claim))
            await asyncio.sleep(_GATHERING_S)

    async def _written(self, notes: Mapping[str, SlotNote], wanted: Mapping[str, WantedSlot]) -> dict[str, SlotState]:
        pause = GrowingPause(_RETRY_S, _RETRY_LIMIT_S)
        while True:
            is_last = self._closing.is_set()
            try:
                states = await self._slots.exchange(
                    {_key(host): note for host, note in notes.items()},
                    {_key(host): slot for host, slot in wanted.items()},
                )
                return {host: states[_key(host)] for host in wanted}
            except StoreAway as error:
                log.debug("turns are not shared yet: %s", error)
                if is_last:
                    raise
                await is_stopped_within(self._closing, pause.grown_s())


def _key(host: str) -> HostKey:
    return HostKey(bucket(host), host_key(host))
