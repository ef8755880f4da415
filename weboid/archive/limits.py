"""When requests may go to archive services, for one process: limits and growing pauses (A-2).

``archive/shared_limits`` does the same for all workers of a store.
One law: between two requests of a kind lies the service's gap, and nothing is sent to a service that rests.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Final

from weboid.archive.client import RequestKind, Resting
from weboid.core.archive.services import ArchiveService

FIRST_REST_S: Final = 60.0
"""The first pause of a service that does not say how long."""
LONGEST_REST_S: Final = 6 * 3_600.0
LONGEST_WISH_S: Final = 24 * 3_600.0
"""So long a pause is granted to a service that says how long; what it says of more counts as this."""
PATIENCE_S: Final = 5.0
"""So long a pause is waited for with a request in hand; for a longer one the request is put off."""
_SAVES_PER_MINUTE: Final = 5
"""Below the seven that archive.org allows an account."""


def gap_s(service: ArchiveService, kind: RequestKind) -> float:
    """Seconds between two requests of a kind to a service, for all workers together; 0 = no limit."""
    match kind:
        case RequestKind.INDEX:
            per_minute = service.per_minute
        case RequestKind.REPLAY:
            per_minute = service.replay_per_minute
        case RequestKind.SAVE:
            per_minute = _SAVES_PER_MINUTE
    return 60 / per_minute if per_minute else 0.0


def rest_after(last_s: float, wanted_s: float | None) -> float:
    """How long a service rests: as long as it wants, twice as long as the last time if that was in vain, bounded.

    `last_s` is the pause before which it answered no more, 0 if it has answered since.
    """
    grown_s = min(2 * last_s, LONGEST_REST_S)
    if wanted_s is None:
        return max(grown_s, FIRST_REST_S)
    return max(min(wanted_s, LONGEST_WISH_S), grown_s, 1.0)


@dataclass(slots=True)
class _Lane:
    """The requests of one kind to one service. Moments are those of ``monotonic``."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free: float = -inf
    rest_until: float = -inf
    rest_s: float = 0.0
    why: str = ""


class LocalLimiter:
    """A `Limiter` for one process; `now` are seconds of any clock, for tests."""

    def __init__(self, *, patience_s: float = PATIENCE_S, now: Callable[[], float] = monotonic) -> None:
        self._patience_s = patience_s
        self._now = now
        self._lanes: dict[tuple[int, RequestKind], _Lane] = {}

    async def turn(self, service: ArchiveService, kind: RequestKind) -> None:
        """Returns when a request may be sent; raises Resting where the service rests for too long to wait."""
        lane = self._lane(service, kind)
        gap = gap_s(service, kind)
        async with lane.lock:
            while True:
                now = self._now()
                if (rest_s := lane.rest_until - now) > self._patience_s:
                    raise Resting(service, rest_s, lane.why)
                if (wait_s := max(rest_s, lane.free - now)) <= 0:
                    break
                await asyncio.sleep(wait_s)
            lane.free = self._now() + gap

    async def rest(
        self, service: ArchiveService, kinds: Sequence[RequestKind], why: str, wanted_s: float | None
    ) -> None:
        """Pauses these kinds; one that rests already rests no longer for it unless the service wants so."""
        now = self._now()
        for kind in kinds:
            lane = self._lane(service, kind)
            seconds = rest_after(0.0 if lane.rest_until > now else lane.rest_s, wanted_s)
            if now + seconds > lane.rest_until:
                lane.rest_until, lane.rest_s, lane.why = now + seconds, seconds, why

    async def answered(self, service: ArchiveService, kind: RequestKind) -> None:
        """The next pause is a short one again."""
        lane = self._lane(service, kind)
        if lane.rest_until <= self._now():
            lane.rest_s = 0.0

    def _lane(self, service: ArchiveService, kind: RequestKind) -> _Lane:
        return self._lanes.setdefault((service.archive.number, kind), _Lane())
