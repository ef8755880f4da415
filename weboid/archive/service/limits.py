"""Limits and growing pauses of requests to archive services, for one process or all of a user (A-2).

``limits_file`` keeps them for the latter; ``shared_limits`` does the same for all workers of a store. In no minute are
there more requests of a kind than the service's limit, and none to a service that rests.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from math import inf
from time import monotonic
from typing import Final

from weboid.archive.service.client import Limiter, Resting
from weboid.archive.service.limits_file import LONGEST_NAMED_REST_S, LimitsFile, ServicePace
from weboid.core.archive.services import ArchiveService
from weboid.store.archives.service_limit import RequestKind

FIRST_REST_S: Final = 60.0
"""The first pause of a service that does not say how long."""
LONGEST_REST_S: Final = 6 * 3_600.0
PATIENCE_S: Final = 5.0
"""So long a pause is waited for with a request in hand; for a longer one the request is put off."""
_MOST_AT_ONCE: Final = 4
"""Requests of a kind that need not wait for each other, if none was sent before: those of one look-up."""
_SAVES_PER_MINUTE: Final = 5
"""Below the seven that archive.org allows an account."""
_NO_PACE: Final = ServicePace()


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


class LocalLimiter:
    """A `Limiter` for one process, or with a `file` for all of a user on this machine. `now` are seconds of any clock;
    with a file its own is used."""

    def __init__(
        self,
        file: LimitsFile | None = None,
        *,
        patience_s: float = PATIENCE_S,
        now: Callable[[], float] = monotonic,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._file = file
        self._patience_s = patience_s
        self._now = file.now if file else now
        self._wait = wait
        self._locks: defaultdict[tuple[str, RequestKind], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._services: dict[str, ServicePace] = {}

    async def turn(self, service: ArchiveService, kind: RequestKind) -> None:
        at_once, each_s = pace_of(service, kind)
        async with self._locks[service.base, kind]:
            while True:
                async with self._shared(service) as pace:
                    now, free = self._now(), pace.free.get(kind, -inf)
                    if pace.until - now > self._patience_s:
                        raise Resting(service, pace.until - now, pace.why)
                    if (wait_s := max(pace.until, free - (at_once - 1) * each_s) - now) <= 0:
                        if each_s:
                            pace.free[kind] = max(free, now) + each_s
                        return
                await self._wait(wait_s)

    async def rest(self, service: ArchiveService, why: str, wanted_s: float | None) -> float:
        """Pauses the service, for so many seconds. What was sent before a pause began makes the next one no longer."""
        async with self._shared(service) as pace:
            now = self._now()
            seconds = rest_after(0.0 if pace.until > now else pace.rest_s, wanted_s)
            if now + seconds > pace.until:
                pace.until, pace.rest_s, pace.why = now + seconds, seconds, why
            return pace.until - now

    async def failed(self, service: ArchiveService) -> int:
        async with self._shared(service) as pace:
            pace.failures += 1
            return pace.failures

    async def answered(self, service: ArchiveService, took_s: float) -> None:
        """Makes the next pause a short one, if the request was sent after the last one."""
        known = self._services.get(service.base, _NO_PACE)
        if known.rest_s or known.failures:
            async with self._shared(service) as pace:
                if pace.until <= self._now() - took_s:
                    pace.rest_s, pace.failures = 0.0, 0

    @asynccontextmanager
    async def _shared(self, service: ArchiveService) -> AsyncIterator[ServicePace]:
        """The pace of a service, which no other process changes until the end of the block."""
        async with self._file.shared(self._services) if self._file else nullcontext():
            yield self._services.setdefault(service.base, ServicePace())


class JointLimiter:
    """A `Limiter` that heeds two: this machine's, which other stores and commands share, and that of a store."""

    def __init__(self, machine: LocalLimiter, store: Limiter) -> None:
        self._machine = machine
        self._store = store

    async def turn(self, service: ArchiveService, kind: RequestKind) -> None:
        """Waits for the machine first, then for the store."""
        await self._machine.turn(service, kind)
        await self._store.turn(service, kind)

    async def rest(self, service: ArchiveService, why: str, wanted_s: float | None) -> float:
        """Pauses the service for all that share the store or the machine; returns for how many seconds."""
        return await self._machine.rest(service, why, await self._store.rest(service, why, wanted_s))

    async def failed(self, service: ArchiveService) -> int:
        """Counts it for the machine, whose processes share the count whatever their stores."""
        return await self._machine.failed(service)

    async def answered(self, service: ArchiveService, took_s: float) -> None:
        """Informs both, each of which knows its own last pause."""
        await self._machine.answered(service, took_s)
        await self._store.answered(service, took_s)
