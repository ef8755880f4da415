"""Limits and growing pauses of requests to archive services, for one process (A-2).

``shared_limits`` does the same for all workers of a store. In no minute are there more requests of a kind than the
service's limit, and none to a service that rests.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Final

from weboid.archive.service.client import Resting
from weboid.core.archive.services import ArchiveService
from weboid.store.archives.service_limit import RequestKind

FIRST_REST_S: Final = 60.0
"""The first pause of a service that does not say how long."""
LONGEST_REST_S: Final = 6 * 3_600.0
LONGEST_NAMED_REST_S: Final = 24 * 3_600.0
"""So long a pause is granted to a service that says how long; a longer one counts as this."""
PATIENCE_S: Final = 5.0
"""So long a pause is waited for with a request in hand; for a longer one the request is put off."""
_MOST_AT_ONCE: Final = 4
"""Requests of a kind that need not wait for each other, if none was sent before: those of one look-up."""
_SAVES_PER_MINUTE: Final = 5
"""Below the seven that archive.org allows an account."""


def gap_s(service: ArchiveService, kind: RequestKind) -> float:
    """Seconds between two requests of a kind to a service, for all workers together; 0 = no limit."""
    per_minute = _per_minute(service, kind)
    return 60 / per_minute if per_minute else 0.0


def _per_minute(service: ArchiveService, kind: RequestKind) -> int:
    match kind:
        case RequestKind.INDEX:
            return service.per_minute
        case RequestKind.REPLAY:
            return service.replay_per_minute
        case RequestKind.SAVE:
            return _SAVES_PER_MINUTE if service.per_minute else 0


def pace_of(service: ArchiveService, kind: RequestKind) -> tuple[int, float]:
    """The requests of a kind that may be sent at once, and the seconds that each adds to the wait of those after them:
    together never more in a minute than the limit. (1, 0) = no limit."""
    per_minute = _per_minute(service, kind)
    at_once = 1 if kind is RequestKind.SAVE else min(_MOST_AT_ONCE, 1 + per_minute // 6)
    return (at_once, 60 / (per_minute - at_once + 1)) if per_minute else (1, 0.0)


def rest_after(last_s: float, wanted_s: float | None) -> float:
    """The seconds of a pause: as the service wants, twice the last one if that was in vain, bounded.

    `last_s` is the pause before which it answered no more, 0 if it has answered since.
    """
    grown_s = min(2 * last_s, LONGEST_REST_S)
    if wanted_s is None:
        return max(grown_s, FIRST_REST_S)
    return max(min(wanted_s, LONGEST_NAMED_REST_S), grown_s, 1.0)


@dataclass(slots=True)
class _Lane:
    """The requests of one kind to one service: when all that were sent will have had their time, by the limiter's
    clock."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free: float = -inf


@dataclass(slots=True)
class _Rest:
    """The pause of one service, over or not; `seconds` 0 = it has answered since."""

    until: float = -inf
    seconds: float = 0.0
    why: str = ""


class LocalLimiter:
    """A `Limiter` for one process; `now` are seconds of any clock."""

    def __init__(
        self,
        *,
        patience_s: float = PATIENCE_S,
        now: Callable[[], float] = monotonic,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._patience_s = patience_s
        self._now = now
        self._wait = wait
        self._lanes: dict[tuple[int, RequestKind], _Lane] = {}
        self._rests: dict[int, _Rest] = {}

    async def turn(self, service: ArchiveService, kind: RequestKind) -> None:
        at_once, each_s = pace_of(service, kind)
        lane = self._lanes.setdefault((service.archive.number, kind), _Lane())
        rest = self._rests.setdefault(service.archive.number, _Rest())
        async with lane.lock:
            while True:
                now = self._now()
                if rest.until - now > self._patience_s:
                    raise Resting(service, rest.until - now, rest.why)
                if (wait_s := max(rest.until, lane.free - (at_once - 1) * each_s) - now) <= 0:
                    break
                await self._wait(wait_s)
            lane.free = max(lane.free, now) + each_s

    async def rest(self, service: ArchiveService, why: str, wanted_s: float | None) -> float:
        """Pauses the service, for so many seconds. What was sent before a pause began makes the next one no longer."""
        now = self._now()
        rest = self._rests.setdefault(service.archive.number, _Rest())
        seconds = rest_after(0.0 if rest.until > now else rest.seconds, wanted_s)
        if now + seconds > rest.until:
            rest.until, rest.seconds, rest.why = now + seconds, seconds, why
        return rest.until - now

    async def answered(self, service: ArchiveService, took_s: float) -> None:
        """Makes the next pause a short one, if the request was sent after the last one."""
        rest = self._rests.get(service.archive.number)
        if rest is not None and rest.until <= self._now() - took_s:
            rest.seconds = 0.0
