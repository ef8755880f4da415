"""Turns at hosts: at least `delay_s` seconds between two requests to one host, across all workers (C-3, C-17).

`LocalTurns` is for one process; `SharedTurns` for all processes that share a store, and takes many turns at once.
One law: a slot is taken before it is waited for, so that simultaneous callers get different slots.
"""

import asyncio
import logging
from time import monotonic
from typing import Final, Protocol

from weboid.core.url.keys import bucket, host_key
from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.store.db.pool import Pool
from weboid.store.db.rows import HostKey
from weboid.store.schedule.turn import delete_past, lease_slots, record_rest

log = logging.getLogger(__name__)

QUEUE_S: Final = 120.0
"""Seconds that a turn is waited for at most; otherwise the check is made another day."""
_KEPT: Final = 100_000
"""Number of hosts remembered before those whose time has passed are forgotten."""
_GATHERING_S: Final = 0.005
"""Turns requested within so many seconds are taken together."""
_SLACK_S: Final = 0.05
"""Added to each delay, since processes do not wake up exactly on time."""
_RETRY_S: Final = 1.0
_FORGETTING_S: Final = 60.0


class NotAsked(Exception):
    """Nothing was requested, and no server failed: the wait for the host is too long, or we may not contact it now."""


class Turns(Protocol):
    """What a checker needs to schedule requests."""

    async def turn(self, host: str) -> None:
        """Returns when a request may go to the host; raises NotAsked if the wait is too long."""
        ...

    async def rest(self, host: str, seconds: float) -> None:
        """Sends no requests to the host for so many seconds (Retry-After)."""
        ...

    def slow(self, host: str, delay_s: float) -> None:
        """Sets a longer delay between requests to this host (robots.txt)."""
        ...

    def delay_of(self, host: str) -> float:
        """The seconds between two requests to a host."""
        ...


class LocalTurns:
    """Turns for one process: the next free moment of every host requested lately."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._free: dict[str, float] = {}
        self._slow: BoundedMap[str, float] = BoundedMap(_KEPT)

    def __len__(self) -> int:
        """How many hosts are remembered."""
        return len(self._free)

    def delay_of(self, host: str) -> float:
        """The seconds between two requests to a host."""
        return max(self._delay_s, self._slow.get(host) or 0.0)

    def slow(self, host: str, delay_s: float) -> None:
        """Sets a longer delay between requests to this host (robots.txt)."""
        if delay_s > self._delay_s:
            self._slow[host] = delay_s

    async def turn(self, host: str) -> None:
        """Returns when a request may go to the host; raises NotAsked if the wait is too long."""
        now = monotonic()
        start = max(now, self._free.get(host, now))
        if start - now > QUEUE_S:
            raise NotAsked(host)
        self._free[host] = start + self.delay_of(host)
        if len(self._free) > _KEPT:
            self._free = {name: free for name, free in self._free.items() if free > now}
        if start > now:
            await asyncio.sleep(start - now)

    async def rest(self, host: str, seconds: float) -> None:
        """Sends no requests to the host for so many seconds (Retry-After)."""
        self._free[host] = max(self._free.get(host, 0.0), monotonic() + seconds)


class SharedTurns:
    """Turns for all processes that share a store."""

    def __init__(self, pool: Pool, delay_s: float) -> None:
        self._pool = pool
        self._here = LocalTurns(delay_s)
        self._wanted: dict[str, list[asyncio.Future[float | None]]] = {}
        self._gathering: asyncio.Task[None] | None = None
        self._forgotten = monotonic()

    def slow(self, host: str, delay_s: float) -> None:
        """Sets a longer delay between requests to this host (robots.txt)."""
        self._here.slow(host, delay_s)

    def delay_of(self, host: str) -> float:
        """The seconds between two requests to a host."""
        return self._here.delay_of(host)

    async def turn(self, host: str) -> None:
        """Returns when a request may go to the host; raises NotAsked if the wait is too long."""
        # Without any delay, as in benchmarks and simulations, only requested pauses count, and in this process alone.
        if self._here.delay_of(host):
            taken: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
            self._wanted.setdefault(host, []).append(taken)
            if self._gathering is None or self._gathering.done():
                self._gathering = asyncio.create_task(self._gather())
            wait_s = await taken
            if wait_s is None:
                raise NotAsked(host)
            await asyncio.sleep(wait_s)
        await self._here.turn(host)

    async def rest(self, host: str, seconds: float) -> None:
        """Sends no requests to the host for so many seconds (Retry-After)."""
        await self._here.rest(host, seconds)
        try:
            async with self._pool.connection() as conn:
                await record_rest(conn, _key(host), seconds)
        except StoreError as error:
            log.warning("other workers do not know that %s requested a pause: %s", host, error)

    async def close(self) -> None:
        """Cancels the turns that are still waited for."""
        if self._gathering:
            self._gathering.cancel()
            await asyncio.gather(self._gathering, return_exceptions=True)

    async def _gather(self) -> None:
        """Takes turns, one per host at a time, until none is wanted."""
        await asyncio.sleep(_GATHERING_S)
        while self._wanted:
            first = {host: waiting.pop(0) for host, waiting in self._wanted.items()}
            self._wanted = {host: waiting for host, waiting in self._wanted.items() if waiting}
            waits = await self._taken(list(first))
            for host, taken in first.items():
                if not taken.done():  # its check may have been cancelled
                    taken.set_result(waits.get(host))
            await asyncio.sleep(_GATHERING_S)

    async def _taken(self, hosts: list[str]) -> dict[str, float]:
        delays = {_key(host): self._here.delay_of(host) + _SLACK_S for host in hosts}
        while True:
            try:
                async with self._pool.connection() as conn:
                    if monotonic() - self._forgotten > _FORGETTING_S:
                        self._forgotten = monotonic()
                        await delete_past(conn)
                    waits = await lease_slots(conn, delays, limit_s=QUEUE_S)
                return {host: waits[key] for host in hosts if (key := _key(host)) in waits}
            except StoreError as error:
                log.warning("turns wait for the database: %s; next try in %.0f s", error, _RETRY_S)
                await asyncio.sleep(_RETRY_S)


def _key(host: str) -> HostKey:
    return HostKey(bucket(host), host_key(host))
