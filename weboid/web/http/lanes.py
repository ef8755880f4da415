"""Lanes: kinds of work that take turns of their own, so that no kind takes what the others need (O-8, W-9).

The lanes of routes are in ``web/request/route``, turns in ``mechanism/fair_slots``. A request enters at most one lane
and waits there a bounded time; one that would have to wait longer is refused.
"""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import randint
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.fair_slots import Capacity, FairSlots, Full, Gone, HeldSlot
from weboid.web.http.budget import MOST_AT_ONCE
from weboid.web.http.callers import account_of
from weboid.web.request.fields import Bodies
from weboid.web.request.problem import Problem
from weboid.web.request.route import Lane, lane_of, route_of
from weboid.web.request.work import FREE

log = logging.getLogger(__name__)

CAPACITIES: Final = {
    Lane.FILES: Capacity(slots=1, places=2_000, wait_s=0.25, aside=400),
    Lane.HEALTH: Capacity(slots=1, places=200, wait_s=1.0, aside=400),
    Lane.PAGES: Capacity(slots=2, aside=400, places=100, wait_s=5.0, spared=4),
    Lane.LARGE: Capacity(slots=1, places=32, wait_s=5.0, aside=8),
    Lane.SEARCH: Capacity(slots=2, places=8, wait_s=5.0, aside=8),
    Lane.LISTS: Capacity(slots=2, places=32, wait_s=2.0, aside=14),
    Lane.DATA: Capacity(slots=1, places=16, wait_s=5.0, aside=15),
    Lane.BULK: Capacity(slots=1, places=8, wait_s=5.0, aside=4),
    Lane.CARDS: Capacity(slots=1, places=64, wait_s=2.0, aside=400),
    Lane.CRAWLERS: Capacity(slots=2, places=64, wait_s=8.0, aside=2),
    Lane.FEEDERS: Capacity(slots=2, places=16, wait_s=8.0, aside=2),
    Lane.REPAIRS: Capacity(slots=2, places=32, wait_s=10.0, aside=14),
    Lane.PEOPLE: Capacity(slots=3, places=32, wait_s=5.0, aside=29),
}
"""More slots for pages would not answer more: their work is the processor's, and each one slows all others down
(D-172). Some are spared while it is the database that is slow."""

CONNECTIONS: Final = sum(each.slots + each.spared for each in CAPACITIES.values()) + MOST_AT_ONCE + 5
"""To the database, of one process: one for each slot, those that limits need, and some for all that takes no turn."""

_TURN: Final = web.RequestKey("turn", HeldSlot)
_BY_HANDLERS: Final = (Lane.PAGES, Lane.CRAWLERS, Lane.FEEDERS)
"""Lanes that handlers enter themselves."""
_CALM_S: Final = 10.0
"""Shedding is over once nobody has been refused for so long."""
RETRY_S: Final = (1, 4)
"""Seconds until the next attempt: at random, so that a crowd does not come again at once."""


class Lanes:
    """The lanes of one process; `shed` is called with the lane of each refusal."""

    def __init__(self, shed: Callable[[str], None] = lambda _: None) -> None:
        self.slots: Final = {lane: FairSlots(capacity) for lane, capacity in CAPACITIES.items()}
        self._shed = shed
        self._bodies = Bodies()
        self._full = {
            lane: Disturbance(log, f"too many requests wait for {lane.value}, some are refused", calm_s=_CALM_S)
            for lane in CAPACITIES
        }
        self._unread = Disturbance(log, "too many requests wait to be read, some are refused", calm_s=_CALM_S)

    @property
    def waiting(self) -> int:
        """The number of requests that wait in all lanes."""
        return sum(slots.waiting for slots in self.slots.values())

    @asynccontextmanager
    async def turn(self, request: web.Request, lane: Lane) -> AsyncIterator[None]:
        """Holds a slot of the lane until the block ends, or one for which that was left; raises Problem as `enter`.

        The middleware does so for all lanes but those into which handlers go once they have work to do. While others
        take their time (a wiki, a slow client), the slot is given back: `weboid.mechanism.fair_slots.aside`.
        """
        await self.enter(request, lane)
        try:
            yield
        finally:
            request[_TURN].end()

    @property
    def middleware(self) -> Middleware:
        """The middleware to install, inside of the limits. A form that is sent slowly takes no place meanwhile."""

        @web.middleware
        async def in_turn(request: web.Request, handler: Handler) -> web.StreamResponse:
            if route_of(request) is not None:
                await self._bodies.receive(request)
            lane = lane_of(request)
            if lane in _BY_HANDLERS:
                return await handler(request)
            async with self.turn(request, lane):
                return await handler(request)

        return in_turn

    def admit(self, request: web.Request) -> None:
        """Raises Problem 503 if the request would not get a slot of its lane in time."""
        if not self.slots[lane := lane_of(request)].has_place(account_of(request)):
            raise self.refusal(request, lane)

    async def enter(self, request: web.Request, lane: Lane) -> None:
        """Takes a slot of the lane, and leaves that of another; raises Problem 503 if there is none in time."""
        if left := request.get(_TURN):
            left.end()
        try:
            request[_TURN] = await self.slots[lane].enter(
                account_of(request), lambda: request.transport is None or request.transport.is_closing()
            )
        except Full:
            raise self.refusal(request, lane) from None
        except Gone:
            request[FREE] = True
            raise ConnectionResetError("the caller has gone") from None

    def note_unread(self) -> None:
        """Counts one that is refused before it is read, as too many of its range wait to be read."""
        self._shed("unread")
        self._unread.met()
        self._unread.passed()

    def refusal(self, request: web.Request, lane: Lane) -> Problem:
        """Counts one that is refused as too many wait for the lane; returns the Problem 503."""
        request[FREE] = True
        self._shed(lane.value)
        self._full[lane].met()
        self._full[lane].passed()
        return Problem(503, "busy", retry_s=randint(*RETRY_S))


LANES = web.AppKey("lanes", Lanes)
"""The lanes in an application."""


def lanes_of(request: web.Request) -> Lanes:
    """The lanes of the application that has got the request."""
    return request.config_dict[LANES]
