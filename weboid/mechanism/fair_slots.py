"""Slots for work of one kind: callers who find none wait in a bounded queue, in fair turn with others.

Each is let in, refused, or gone within the longest wait; no account waits behind another's crowd.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

_REFUSING_S: Final = 0.002
_REFUSED_A_SECOND: Final = 200.0
_REFUSED_SHARE: Final = 0.45
_MOST_AT_ONCE: Final = 25
"""Callers who have waited too long are refused one by one, so many a second, or that share of all who wait if that is
more: so the end of a crowd's wait holds up nobody else, and those who ask again at once are slowed down by some 2 s."""
_CLEARED_S: Final = 0.1
"""A full queue is searched for callers who have gone at most as often as that."""


class Full(Exception):
    """There is no slot, and none in time."""


class Gone(Exception):
    """The caller went away while it waited."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """`slots` work at a time, and at most `aside` more have stepped aside. At most `places` wait, for `wait_s`."""

    slots: int
    places: int
    wait_s: float
    aside: int = 0


@dataclass(eq=False, slots=True)
class _Place:
    """Somebody who waits."""

    account: Hashable
    is_gone: Callable[[], bool]
    until_s: float
    let_in: asyncio.Future[None]


class _Ring:
    """Places by account; accounts take turns, and each account's own places are in the order in which they came."""

    def __init__(self) -> None:
        self.queues: dict[Hashable, deque[_Place]] = {}
        """In the order of their turns; places that were settled otherwise are dropped when they come first."""

    def add(self, place: _Place) -> None:
        self.queues.setdefault(place.account, deque()).append(place)

    def next(self) -> _Place | None:
        """Removes the place whose turn it is; None if nobody waits."""
        while self.queues:
            account = next(iter(self.queues))
            self.prune(account)
            if queue := self.queues.pop(account, None):
                place = queue.popleft()
                if queue:
                    self.queues[account] = queue
                return place
        return None

    def prune(self, account: Hashable) -> None:
        """Drops an account's first places that are settled."""
        if (queue := self.queues.get(account)) is None:
            return
        while queue and queue[0].let_in.done():
            queue.popleft()
        if not queue:
            del self.queues[account]

    def newest_of_longest(self, newcomer: Hashable) -> _Place | None:
        """The newest place of the account with most; None unless that has over one more than the newcomer's."""
        longest = max(self.queues.values(), key=len, default=None)
        own = self.queues.get(newcomer, ())
        if longest is None or len(longest) <= len(own) + 1:
            return None
        while longest:
            if not (place := longest.pop()).let_in.done():
                return place
        return None


class FairSlots:
    """The slots of one kind of work."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity: Final = capacity
        self.working = 0
        """The number of slots in use."""
        self.waiting = 0
        """The number of those who wait for their first slot; who comes back is never refused, and not counted."""
        self._aside = 0
        self._new, self._back = _Ring(), _Ring()
        self._is_backs_turn = True
        self._arrived: deque[_Place] = deque()
        self._clock: asyncio.TimerHandle | None = None
        self._cleared_s = 0.0
        self._refused_s = 0.0

    async def enter(self, account: Hashable, is_gone: Callable[[], bool]) -> "HeldSlot":
        """Takes a slot; raises Full, or Gone if `is_gone` says so when its turn has come."""
        if _TURN.get() is not None:
            raise RuntimeError("who has a slot may not wait for another: they could wait for each other")
        if self._may_enter and not self._new.queues and not self._back.queues:
            self.working += 1
        else:
            loop = asyncio.get_running_loop()
            if self.waiting >= self._capacity.places:
                self._make_place(account, loop.time())
            place = _Place(account, is_gone, loop.time() + self._capacity.wait_s, loop.create_future())
            self._arrived.append(place)
            self.waiting += 1
            if self._clock is None:
                self._clock = loop.call_at(place.until_s, self._refuse_late)
            await self._wait(self._new, place, self._stop_waiting)
        turn = HeldSlot(self, account)
        _TURN.set(turn)
        return turn

    async def _wait(self, ring: _Ring, place: _Place, withdraw: Callable[[], None]) -> None:
        ring.add(place)
        self._let_in()
        try:
            await place.let_in
        except asyncio.CancelledError:
            if place.let_in.cancelled():
                ring.prune(place.account)
                withdraw()
            elif place.let_in.exception() is None:
                self.leave()
            raise

    def _stop_waiting(self) -> None:
        self.waiting -= 1

    def leave(self) -> None:
        """Gives a slot back; the next one gets it."""
        self.working -= 1
        self._let_in()

    def step_aside(self) -> None:
        """Gives a slot back for a while."""
        self._aside += 1
        self.leave()

    def stay_away(self) -> None:
        """Leaves from aside."""
        self._aside -= 1
        self._let_in()

    async def come_back(self, account: Hashable) -> None:
        """Takes a slot again, in turn with others, however long that takes. Who is cancelled meanwhile has left."""
        if self.working < self._capacity.slots and not self._new.queues and not self._back.queues:
            self._aside -= 1
            self.working += 1
            return
        place = _Place(account, lambda: False, 0.0, asyncio.get_running_loop().create_future())
        await self._wait(self._back, place, self.stay_away)

    @property
    def _may_enter(self) -> bool:
        capacity = self._capacity
        return self.working < capacity.slots and self.working + self._aside < capacity.slots + capacity.aside

    def _let_in(self) -> None:
        while self.working < self._capacity.slots:
            if (place := self._next()) is None:
                return
            self.working += 1
            place.let_in.set_result(None)

    def _next(self) -> _Place | None:
        """The next to be let in: in turn one that comes back and a new one."""
        if self._is_backs_turn and (place := self._next_back()):
            self._is_backs_turn = False
            return place
        self._is_backs_turn = True
        while self._may_enter and (place := self._new.next()):
            self.waiting -= 1
            if not place.is_gone():
                return place
            place.let_in.set_exception(Gone())
        return self._next_back()

    def _next_back(self) -> _Place | None:
        if place := self._back.next():
            self._aside -= 1
        return place

    def _make_place(self, account: Hashable, now_s: float) -> None:
        """Makes a place in a full queue, at the cost of who has gone or of the account with most; raises Full."""
        if now_s >= self._cleared_s + _CLEARED_S:
            self._cleared_s = now_s
            for gone in [place for place in self._arrived if not place.let_in.done() and place.is_gone()]:
                self._refuse(gone, Gone())
        if self.waiting < self._capacity.places:
            return
        if (place := self._new.newest_of_longest(account)) is None:
            raise Full
        self._refuse(place, Full())

    def _refuse_late(self) -> None:
        """Refuses those who have waited for the longest time, some at a time, and sets the clock for the next."""
        loop = asyncio.get_running_loop()
        self._clock, now_s = None, loop.time()
        late = (now_s - self._refused_s) * max(_REFUSED_A_SECOND, self.waiting * _REFUSED_SHARE)
        left = min(max(1, int(late)), _MOST_AT_ONCE)
        self._refused_s = now_s
        while self._arrived:
            place = self._arrived[0]
            if not place.let_in.done():
                if place.until_s > now_s or left == 0:
                    self._clock = loop.call_at(max(place.until_s, now_s + _REFUSING_S), self._refuse_late)
                    return
                self._refuse(place, Full())
                left -= 1
            self._arrived.popleft()

    def _refuse(self, place: _Place, why: Full | Gone) -> None:
        if not place.let_in.done():
            self.waiting -= 1
            place.let_in.set_exception(why)
            self._new.prune(place.account)


@dataclass(slots=True)
class HeldSlot:
    """The slot of one caller; `end` must be called, by the task that has entered."""

    slots: FairSlots
    account: Hashable
    is_aside: bool = False
    is_over: bool = False

    def end(self) -> None:
        """Gives the slot back permanently."""
        _TURN.set(None)
        if not self.is_over:
            self.is_over = True
            if self.is_aside:
                self.slots.stay_away()
            else:
                self.slots.leave()


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
    turn.is_aside = True
    turn.slots.step_aside()
    try:
        yield
    except Exception:
        # A caller that handles it goes on working. (One that is cancelled does not, and leaves from aside.)
        await _return(turn)
        raise
    else:
        await _return(turn)


async def _return(turn: HeldSlot) -> None:
    try:
        await turn.slots.come_back(turn.account)
    except asyncio.CancelledError:
        turn.is_over = True
        raise
    turn.is_aside = False
