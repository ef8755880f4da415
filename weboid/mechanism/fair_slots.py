"""Slots for work of one kind: callers who find none wait in fair turn with others, or are refused before they wait.

How long a caller would wait is computed from how long turns took lately: who would wait too long is refused at once.
A slot that is given back is free from the next turn of the event loop on, so that work without any wait in it does not
all fall into one turn: in each, every kind does no more than its slots, and other work waits for no more than that.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Final

_LATEST: Final = 0.2
"""The weight of the latest turn in the mean of how long turns take."""
_FIRST_S: Final = 0.005
"""So long a turn is taken to last before there was one."""
_LONG_S: Final = 0.05
_LATE_S: Final = 0.01
"""Who holds a slot for `_LONG_S` while the loop is late by this at most waits for others, such as a slow database."""


class Full(Exception):
    """There is no slot, and none in time."""


class Gone(Exception):
    """The caller went away while it waited."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """`slots` work at a time, and at most `aside` more have stepped aside. Who waits does so for at most `wait_s`.

    Accounts that wait share `places` once all are taken; up to twice as many wait in all then. Of those who hold a slot
    for long though the loop is on time, `spared` take none from others: the processor is not what they wait for.
    """

    slots: int
    places: int
    wait_s: float
    aside: int = 0
    spared: int = 0


@dataclass(eq=False, slots=True)
class _Place:
    """Somebody who waits."""

    account: Hashable
    is_gone: Callable[[], bool]
    let_in: "asyncio.Future[float | type[Full | Gone]]"
    """The moment, by the monotonic clock, from which on it has a slot; or why it gets none: an error would hold it."""

    def refuse(self, why: type[Full | Gone]) -> None:
        if not self.let_in.done():
            self.let_in.set_result(why)


class _Ring:
    """Places by account; accounts take turns, and each account's own places are in the order in which they came.

    One that had no turn in this round goes first: who asks now and then does not wait for a round of those who always
    do.
    """

    def __init__(self) -> None:
        self.queues: dict[Hashable, deque[_Place]] = {}
        """In the order of their turns; one without places has had its turn in this round."""
        self.fresh: deque[Hashable] = deque()
        """Accounts without a turn in this round."""

    def add(self, place: _Place) -> None:
        if place.account not in self.queues:
            self.queues[place.account] = deque()
            self.fresh.append(place.account)
        self.queues[place.account].append(place)

    def next(self) -> _Place | None:
        """Removes the place whose turn it is; None if nobody waits."""
        while self.queues:
            account = self.fresh.popleft() if self.fresh else next(iter(self.queues))
            self.prune(account)
            if queue := self.queues.pop(account):
                self.queues[account] = queue
                return queue.popleft()
        return None

    def prune(self, account: Hashable) -> None:
        """Drops an account's first places that are settled, or whose callers have gone."""
        queue = self.queues.get(account, ())
        while queue and (queue[0].let_in.done() or queue[0].is_gone()):
            queue.popleft().refuse(Gone)


class FairSlots:
    """The slots of one kind of work."""

    def __init__(self, capacity: Capacity) -> None:
        self.capacity: Final = capacity
        self.working = 0
        """The number of slots in use."""
        self.waiting = 0
        """The number of those who wait for their first slot; who comes back is never refused, and not counted."""
        self.spared = 0
        """The number of those who have gone on without a slot."""
        self._aside = 0
        self._new, self._back = _Ring(), _Ring()
        self._is_backs_turn = True
        self._turn_s = _FIRST_S
        """How long it took late from giving a slot to having it free again, turns of the loop included."""

    async def enter(self, account: Hashable, is_gone: Callable[[], bool]) -> "HeldSlot":
        """Takes a slot; raises Full, before anything is awaited if that is known, or Gone if `is_gone` says so when its
        turn has come.
        """
        if _TURN.get() is not None:
            raise RuntimeError("who has a slot may not wait for another: they could wait for each other")
        loop, since_s = asyncio.get_running_loop(), monotonic()
        if self._may_enter and not self._new.queues and not self._back.queues:
            self.working += 1
        else:
            if not self.has_place(account):
                raise Full
            place = _Place(account, is_gone, loop.create_future())
            limit = loop.call_later(self.capacity.wait_s, place.refuse, Full)
            self.waiting += 1
            try:
                since_s = await self._wait(self._new, place)
            finally:
                self.waiting -= 1
                limit.cancel()
        turn = HeldSlot(self, account)
        turn.begin(since_s)
        _TURN.set(turn)
        return turn

    def has_place(self, account: Hashable) -> bool:
        """Returns whether a caller of this account may wait, and would not wait too long."""
        self._new.prune(account)
        capacity, own = self.capacity, len(self._new.queues.get(account, ()))
        accounts = len(self._new.queues) + (account not in self._new.queues)
        if self.waiting >= (capacity.places if own >= max(capacity.places // accounts, 1) else 2 * capacity.places):
            return False
        ahead = own * accounts + accounts - 1 if account in self._new.queues else len(self._new.fresh)
        ahead = min(self.waiting, ahead)
        ahead += min(ahead + 1, len(self._back.queues))  # who comes back has every second turn
        return ahead * self._turn_s <= capacity.wait_s * capacity.slots

    async def _wait(self, ring: _Ring, place: _Place) -> float:
        ring.add(place)
        self._let_in()
        try:
            if isinstance(since_s := await place.let_in, float):
                return since_s
            raise since_s
        except asyncio.CancelledError:
            if not place.let_in.cancelled() and isinstance(since_s := place.let_in.result(), float):
                self._aside += ring is self._back
                self._free(since_s)
            raise
        finally:
            ring.prune(place.account)

    def leave(self, since_s: float) -> None:
        """Gives a slot back that was held since then; the next one gets it in the next turn of the loop."""
        asyncio.get_running_loop().call_soon(self._free, since_s)

    def _free(self, since_s: float) -> None:
        # By the clock itself: the time of uvloop stands still within a turn of the loop.
        self._turn_s += _LATEST * (monotonic() - since_s - self._turn_s)
        self.working -= 1
        self._let_in()

    def step_aside(self, since_s: float) -> None:
        """Gives a slot back for a while that was held since then."""
        self._aside += 1
        self.leave(since_s)

    def stay_away(self) -> None:
        """Leaves from aside."""
        self._aside -= 1
        self._let_in()

    async def come_back(self, account: Hashable) -> float:
        """Takes a slot again, in turn, however long that takes; returns since when. Who is cancelled stays aside."""
        return await self._wait(self._back, _Place(account, lambda: False, asyncio.get_running_loop().create_future()))

    @property
    def _may_enter(self) -> bool:
        capacity = self.capacity
        return self.working < capacity.slots and self.working + self._aside < capacity.slots + capacity.aside

    def _let_in(self) -> None:
        while self.working < self.capacity.slots:
            if (place := self._next()) is None:
                return
            self.working += 1
            place.let_in.set_result(monotonic())

    def _next(self) -> _Place | None:
        """The next to be let in: in turn one that comes back and a new one."""
        for ring in (self._back, self._new) if self._is_backs_turn else (self._new, self._back):
            if (ring is self._back or self._may_enter) and (place := ring.next()):
                self._is_backs_turn = ring is self._new
                self._aside -= ring is self._back
                return place
        return None


@dataclass(slots=True)
class HeldSlot:
    """The slot of one caller; `end` must be called, by the task that has entered."""

    slots: FairSlots
    account: Hashable
    is_aside: bool = False
    is_over: bool = False
    _since_s: float = 0.0
    _is_spared: bool = False
    _look: asyncio.TimerHandle | None = None

    def begin(self, since_s: float) -> None:
        """Notes since when the slot is held."""
        self._since_s, self.is_aside = since_s, False
        self._look_later()

    def step_aside(self) -> None:
        """Gives the slot back for a while."""
        self.is_aside = True
        if not self._was_spared():
            self.slots.step_aside(self._since_s)

    async def come_back(self) -> None:
        """Takes a slot again, in turn."""
        self.begin(await self.slots.come_back(self.account))

    def end(self) -> None:
        """Gives the slot back permanently."""
        _TURN.set(None)
        if not self.is_over:
            self.is_over = True
            if self._was_spared() or self.is_aside:
                self.slots.stay_away()
            else:
                self.slots.leave(self._since_s)

    def _look_later(self) -> None:
        self._look = asyncio.get_running_loop().call_later(_LONG_S, self._spare, monotonic() + _LONG_S)

    def _spare(self, due_s: float) -> None:
        slots = self.slots
        if monotonic() - due_s > _LATE_S or slots.spared == slots.capacity.spared:
            self._look_later()
            return
        self._is_spared = True
        slots.spared += 1
        slots.step_aside(self._since_s)

    def _was_spared(self) -> bool:
        if self._look is not None:
            self._look.cancel()
            self._look = None  # it holds the context, which holds this
        was_spared, self._is_spared = self._is_spared, False
        self.slots.spared -= was_spared
        return was_spared


_TURN: ContextVar[HeldSlot | None] = ContextVar("turn", default=None)


@asynccontextmanager
async def aside() -> AsyncIterator[None]:
    """Gives back the slot that the caller has, if it has one, until the block ends: others work while it waits.

    For waiting on others: a wiki, a client that sends or reads slowly. Not while holding something that others need.
    """
    turn = _TURN.get()
    if turn is None or turn.is_aside or turn.is_over:
        yield
        return
    turn.step_aside()
    try:
        yield
    except Exception:
        # A caller that handles it goes on working. (One that is cancelled does not, and leaves from aside.)
        await turn.come_back()
        raise
    await turn.come_back()
