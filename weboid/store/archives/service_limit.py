"""The rate of requests to an archive's service, shared by all workers, and its rests (A-1).

All moments are of the database's clock. A request is sent only in a place of its own, and no place is given while the
service rests.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from weboid.store.db.statements import Connection, statements

SQL: Final = statements("archives/service_limit")
_SHORTEST_S: Final = 0.01
"""The shortest wait that is returned, where another worker has just taken the place."""


class RequestKind(IntEnum):
    """The kinds of requests that services limit separately. The numbers are stored and never change their meaning."""

    INDEX = 0
    """Lists of copies: CDX, TimeMap, and the second voice."""
    REPLAY = 1
    """One copy, played."""
    SAVE = 2
    """Saving, and asking how it goes."""


class RequestPlace(NamedTuple):
    """`wait_s` 0 = the request may be sent now; otherwise ask again after so many seconds.

    `rest_s` = how long the rest under way is or the newest was, 0 if a request was answered since: the next rest should
    be longer.
    """

    wait_s: float
    rest_s: int


@dataclass(frozen=True, slots=True)
class ServiceState:
    """One kind of requests to an archive. `requests` were sent on `day`.

    `resting_s` = seconds until its rest ends, 0 = it does not rest. `rest_s` = how long the newest rest was, and `why`;
    0 and empty since a request was answered.
    """

    archive: int
    kind: RequestKind
    resting_s: float
    rest_s: int
    why: str
    day: int
    requests: int


async def lease_request(
    conn: Connection, archive: int, kind: RequestKind, gap_s: float, day: int, *, requests: int = 1
) -> RequestPlace:
    """Takes the place of the next request if it is free now; to be committed before the request is sent.

    Places are `gap_s` seconds apart, in bursts of one; 0 = no limit, but rests are kept and requests counted: so many.
    """
    row = {"archive": archive, "kind": int(kind), "gap_s": gap_s, "day": day, "requests": requests}
    found = await (await conn.execute(SQL["lease_request"], row)).fetchone()
    if found is None:
        return RequestPlace(_SHORTEST_S, 0)
    wait_s, rest_s = found
    return RequestPlace(0.0 if wait_s == 0 else max(wait_s, _SHORTEST_S), rest_s)


async def record_rest(conn: Connection, archive: int, rest_s: float, why: str) -> None:
    """Lets a service rest for all workers and all kinds of requests, from now on; a longer rest under way stays."""
    row = {"archive": archive, "kinds": [int(kind) for kind in RequestKind], "rest_s": rest_s, "why": why}
    await conn.execute(SQL["record_rest"], row)


async def record_answered(conn: Connection, archive: int, *, took_s: float) -> bool:
    """Records that a request was answered which was sent `took_s` seconds ago: the next rest is a short one again.

    Changes nothing if the request was sent before the newest rest ended; returns whether it did. To be called where
    `rest_s` was not 0 (D-135).
    """
    return (await conn.execute(SQL["record_answered"], {"archive": archive, "took_s": took_s})).rowcount > 0


async def record_rests_over(conn: Connection, day: int) -> None:
    """Ends the rests of services that were not asked on `day` yet: where days are simulated, a rest of one day must not
    last into the next ones. Each rest after that is as long as if it had not been ended."""
    await conn.execute(SQL["record_rests_over"], {"day": day})


async def list_services(conn: Connection) -> list[ServiceState]:
    """All services that were ever asked, by archive and kind."""
    return [
        ServiceState(archive, RequestKind(kind), *rest)
        async for archive, kind, *rest in await conn.execute(SQL["list_services"])
    ]
