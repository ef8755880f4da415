"""When the next request to an archive's service may be sent, for all workers (A-1): its rate, and its rests.

All moments are of the database's clock. One law: a request is sent only in a place of its own, and no place is given
while the service rests.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from weboid.store.db.pool import Connection


class RequestKind(IntEnum):
    """What services limit apart. The numbers are stored and never change their meaning."""

    INDEX = 1
    """Which copies there are: CDX, TimeMap, and the second voice."""
    REPLAY = 2
    """One copy, played."""
    SAVE = 3
    """Saving, and asking how it goes."""


class RequestPlace(NamedTuple):
    """`wait_s` 0 = the request may be sent now; otherwise ask again after so many seconds. `rest_s` = how long the newest
    rest was, 0 if a request was answered since: the next rest should be longer."""

    wait_s: float
    rest_s: int


@dataclass(frozen=True, slots=True)
class ServiceState:
    """One kind of requests to an archive. `resting_s` = seconds until its rest ends, 0 = it does not rest; `why` is the
    reason of the newest rest, empty since a request was answered. `requests` were sent on `day`."""

    archive: int
    kind: RequestKind
    resting_s: float
    rest_s: int
    why: str
    day: int
    requests: int


async def lease_request(conn: Connection, archive: int, kind: RequestKind, gap_s: float, day: int) -> RequestPlace:
    """Takes the place of the next request if it is free now: one round trip, to be committed before the request is sent.

    Places are `gap_s` seconds apart; 0 = no limit, but rests are kept and requests counted.
    """
    raise NotImplementedError


async def record_rest(conn: Connection, archive: int, rest_s: float, why: str) -> None:
    """Lets a service rest for all workers and all kinds of requests, from now on; a longer rest under way stays."""
    raise NotImplementedError


async def record_answered(conn: Connection, archive: int, *, took_s: float) -> None:
    """Records that a request was answered which was sent `took_s` seconds ago: the next rest is a short one again.

    Changes nothing if the request was sent before the newest rest ended. Need be called only where `rest_s` was not 0.
    """
    raise NotImplementedError


async def list_services(conn: Connection) -> list[ServiceState]:
    """All services that were ever asked, by archive and kind."""
    raise NotImplementedError
