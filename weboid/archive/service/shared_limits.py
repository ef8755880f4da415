"""Limits, pauses and alarms of requests to archive services, for all workers that share a store (A-1, A-2).

No request is sent before its place was committed to the store, unless the service has no limit; and a pause that one
worker begins holds for all of them.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Final

from weboid.archive.service.client import Limiter, Resting
from weboid.archive.service.limits import PATIENCE_S, gap_s, rest_after
from weboid.core.archive.services import ArchiveService
from weboid.errors import StoreAway
from weboid.store.archives.service_limit import (
    RequestKind,
    RequestPlace,
    lease_request,
    list_services,
    record_answered,
    record_rest,
)
from weboid.store.db.pool import Pool
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm

log = logging.getLogger(__name__)

_SAME_S: Final = 5.0
"""A pause that would end so little later is the one under way."""
_LOOK_S: Final = 0.5
"""The state of a service without a limit is read from the store again after so long."""


@dataclass(slots=True)
class _Lane:
    """The requests of one kind to one service. `looked` is the moment when the store was asked last."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    looked: float = -inf
    uncounted: int = 0
    """Requests that the store does not know of yet."""


@dataclass(slots=True)
class _KnownRest:
    """A service that rests or rested last, as far as this process knows; `rest_s` 0 = it has answered since."""

    until: float = -inf
    rest_s: float = 0.0


class SharedLimiter(Limiter):
    """A `Limiter` for all processes that share a store; `today` is called with each request."""

    def __init__(self, pool: Pool, today: Callable[[], int], *, patience_s: float = PATIENCE_S) -> None:
        self._pool = pool
        self._today = today
        self._patience_s = patience_s
        self._lanes: dict[tuple[int, RequestKind], _Lane] = {}
        self._known_rests: dict[int, _KnownRest] = {}

    async def turn(self, service: ArchiveService, kind: RequestKind) -> None:
        lane = self._lanes.setdefault((service.archive.number, kind), _Lane())
        lane.uncounted += 1
        gap = gap_s(service, kind)
        if not gap and monotonic() - lane.looked < _LOOK_S:
            return
        async with lane.lock:
            while gap or monotonic() - lane.looked >= _LOOK_S:
                place = await self._place(service, kind, gap, lane)
                if place.wait_s <= 0:
                    return
                if place.wait_s > max(self._patience_s, 2 * gap):
                    raise Resting(service, place.wait_s, await self._why(service))
                await asyncio.sleep(place.wait_s)

    async def rest(self, service: ArchiveService, why: str, wanted_s: float | None) -> float:
        """Pauses the service for all workers, with an alarm; returns for how many seconds."""
        known = self._rest_of(service)
        now = monotonic()
        seconds = rest_after(0.0 if known.until > now else known.rest_s, wanted_s)
        if now + seconds <= known.until + _SAME_S:
            return known.until - now  # it was sent before the pause began
        known.until, known.rest_s = now + seconds, seconds
        for (number, _), lane in self._lanes.items():
            if number == service.archive.number:
                lane.looked = -inf
        detail = f"it is not asked for {seconds:.0f} s: {why}"
        log.warning("%s rests: %s", service.name, detail)
        try:
            async with self._pool.connection() as conn:
                await record_rest(conn, service.archive.number, seconds, why)
                await raise_alarm(conn, AlarmKind.ARCHIVE_RESTS, service.name, self._today(), detail)
        except StoreAway as error:
            log.debug("other workers do not know that %s rests: %s", service.name, error)
        return seconds

    async def answered(self, service: ArchiveService, took_s: float) -> None:
        """Makes the next pause a short one and lowers the alarm, if the request was sent after the last pause."""
        known = self._known_rests.get(service.archive.number)
        if known is None or not known.rest_s or known.until > monotonic() - took_s:
            return
        known.rest_s = 0.0
        async with self._pool.connection() as conn:
            if await record_answered(conn, service.archive.number, took_s=took_s):
                await lower_alarm(conn, AlarmKind.ARCHIVE_RESTS, service.name)

    async def _place(self, service: ArchiveService, kind: RequestKind, gap: float, lane: _Lane) -> RequestPlace:
        async with self._pool.reading() as conn:  # one statement, committed at once
            uncounted, lane.uncounted = lane.uncounted, 0
            place = await lease_request(
                conn, service.archive.number, kind, gap, self._today(), requests=1 if gap else uncounted
            )
        known = self._rest_of(service)
        known.rest_s = max(float(place.rest_s), known.rest_s if known.until > monotonic() else 0.0)
        if place.wait_s <= 0:
            lane.looked = monotonic()
        return place

    async def _why(self, service: ArchiveService) -> str:
        async with self._pool.reading() as conn:
            states = await list_services(conn)
        return next((state.why for state in states if state.archive == service.archive.number and state.why), "")

    def _rest_of(self, service: ArchiveService) -> _KnownRest:
        return self._known_rests.setdefault(service.archive.number, _KnownRest())
