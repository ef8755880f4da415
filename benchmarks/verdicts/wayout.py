"""What a crawler needs next to an engine to get out into a simulated web: names, turns, and a time of its own.

One law: nothing here waits.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import NoReturn, cast

from pycares import errno as ares

from benchmarks.verdicts.simulated import ERROR_OF_NAME, SimulatedEngine, SimulatedWeb, elapsed
from weboid.checking.turns import QUEUE_S, LocalTurns, NotAsked
from weboid.config import NetConfig
from weboid.demo.world import HostState, Lost, address_of, host_state, outage_on
from weboid.net.dial import Dialer
from weboid.net.dns import LookupFailed, NameAnswer, Resolver
from weboid.net.guard import Guard
from weboid.net.outbound import Outbound, Seats


class SimulatedNames:
    """The addresses of hosts, for those who ask for nothing else."""

    queries = failures = 0

    def __init__(self, web: SimulatedWeb, engine: SimulatedEngine) -> None:
        self._web = web
        self.address_of = partial(address_of, web.world)
        self.find_address = engine.find_address

    async def addresses(self, host: str) -> tuple[str, ...]:
        """The address of a host of the world; raises LookupFailed for one that has none now."""
        state = host_state(self._web.world, host, self._web.day(), self._web.hour(host))
        if state in ERROR_OF_NAME or state is HostState.DNS_SILENT:
            raise LookupFailed(ERROR_OF_NAME.get(state, ares.ARES_ETIMEOUT))
        return (address_of(self._web.world, host, refusing=state is HostState.REFUSED),)

    async def look_up(self, name: str) -> NameAnswer:
        """What the name servers of the world say of a name now."""
        web = self._web
        outage = outage_on(web.world, name, web.day())
        if outage and outage.lost is Lost.CAPTIVE:
            return NameAnswer.ADDRESSES
        if outage and outage.lost is not Lost.SERVERS:
            return NameAnswer.NOTHING
        if name == ".":
            return NameAnswer.ADDRESSES
        match host_state(web.world, name, web.day(), web.hour(name)):
            case None | HostState.DNS_GONE:
                return NameAnswer.NO_NAME
            case HostState.DNS_EMPTY:
                return NameAnswer.NO_ADDRESS
            case HostState.DNS_SERVFAIL | HostState.DNS_SILENT:
                return NameAnswer.NOTHING
        return NameAnswer.ADDRESSES

    async def name_servers_of(self, domain: str) -> None:
        """None are known."""

    async def resolve(self, host: str, port: int = 0) -> NoReturn:
        """Nothing but HTTP is simulated."""
        raise LookupFailed(ares.ARES_ENOTFOUND)


@asynccontextmanager
async def open_simulated(web: SimulatedWeb, settings: NetConfig) -> AsyncIterator[Outbound]:
    """A way out into a simulated web, with a time of its own."""
    engine = SimulatedEngine(web, settings)
    names = cast(Resolver, SimulatedNames(web, engine))
    dialer = Dialer(settings, Guard(settings.deny, settings.permit), names)
    yield Outbound(settings, engine, Seats(settings.connections), names, dialer, now=elapsed.get)


class SimulatedTurns(LocalTurns):
    """Turns without waiting: each host has a clock of its own, which is as late as it must be."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self._now: dict[str, float] = {}
        self._free: dict[str, float] = {}

    async def turn(self, host: str) -> None:
        """Raises NotAsked if the wait would be too long."""
        now = self._now.get(host, 0.0)
        start = max(now, self._free.get(host, 0.0))
        if start - now > QUEUE_S:
            raise NotAsked(host)
        self._now[host] = start
        self._free[host] = start + self.delay_of(host)

    async def rest(self, host: str, seconds: float) -> None:
        """Sends no requests to the host for so many seconds."""
        self._free[host] = max(self._free.get(host, 0.0), self._now.get(host, 0.0) + seconds)

    async def close(self) -> None:
        """Nothing waits."""

    def slow(self, host: str, delay_s: float) -> None:
        """Sets a longer delay between requests to this host."""
        if delay_s > 0:
            self._slow[host] = delay_s

    def delay_of(self, host: str) -> float:
        """The seconds between two requests to a host."""
        return self._slow.get(host, 0.0)
