"""Resolves names to addresses with c-ares on our own event loop and a bounded cache; only allowed addresses count.

IPv4 comes first; IPv6 is queried if there is no allowed IPv4 address, or if none can be connected to. Neither
``/etc/hosts`` nor search domains are used, and no name is ever passed to a system call.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from math import inf
from time import monotonic
from typing import Final, NamedTuple

import pycares
from aiohttp.abc import AbstractResolver, ResolveResult
from pycares import AAAARecordData, ARecordData, AresError, DNSResult, NSRecordData
from pycares import errno as ares

from weboid.core.url.hosts import is_ip
from weboid.errors import ConfigError
from weboid.mechanism.bounded import BoundedMap
from weboid.net.guard import Guard, NotPublic, address_of

NAMES: Final = 50_000
"""Names in the cache, at most."""
SHORTEST_TTL_S: Final = 5
LONGEST_TTL_S: Final = 3600
NO_NAME_TTL_S: Final = 300
ERROR_TTL_S: Final = 30
NAME_SERVERS: Final = 4
"""Name servers by which a domain is distinguished from others, at most."""
_LONGEST_NAME: Final = 253
"""Characters of a name (RFC 1035, 3.1)."""
ADDRESSES: Final = 32
"""Addresses of each family that are tried, at most."""
LOOKUPS_A_CHANNEL: Final = 20_000
"""Queries until a channel is replaced: c-ares keeps each answer, 1.4 KB, for up to an hour and without a bound."""

_TRY_S: Final = 3.0
_TRIES: Final = 3
_TICK_S: Final = 0.5
"""Seconds between two looks for queries that were not answered in time."""
_BURST: Final = 200
"""Queries sent at a time: a socket buffer of the usual size holds some 270 answers, and loses all others."""
_BURST_S: Final = 0.1
"""A query without an answer after so many seconds no longer counts as a part of the burst."""
_RECEIVE_BYTES: Final = 1 << 20

NO_NAME: Final = frozenset({ares.ARES_ENOTFOUND, ares.ARES_ENODATA, ares.ARES_EBADNAME, ares.ARES_ENONAME})
"""The name is unknown, cannot exist, or has no address: for people who follow a link it is the same."""
NO_SERVER: Final = frozenset(
    {
        ares.ARES_ECONNREFUSED,
        ares.ARES_ENOMEM,
        ares.ARES_EFILE,
        ares.ARES_EDESTRUCTION,
        ares.ARES_ECANCELLED,
        ares.ARES_ENOTINITIALIZED,
    }
)
"""Our own name servers or our own machine failed: nothing is known about the name (C-16)."""
_UNANSWERED: Final = NO_SERVER | {ares.ARES_ETIMEOUT, ares.ARES_EBADNAME}

_ADDRESS_DATA: Final = (ARecordData, AAAARecordData)
_Found = DNSResult | int
"""The result of one query: records, or c-ares' error code."""
_Query = tuple[str, int]


class LookupFailed(OSError):
    """No addresses were found for a name; `code` is c-ares' (see NO_NAME and NO_SERVER)."""

    def __init__(self, code: int) -> None:
        super().__init__(f"look-up failed with c-ares code {code}")
        self.code = code


class NameAnswer(Enum):
    """The answer of name servers for a name: NOTHING = none, or one that says nothing of the name."""

    NOTHING = "nothing"
    NO_NAME = "no-name"
    NO_ADDRESS = "no-address"
    ADDRESSES = "addresses"


class _Known(NamedTuple):
    """The cached answer for a name until `end` (monotonic seconds): its allowed addresses, or why there are none.

    `is_whole`: both families were queried.
    """

    end: float
    addresses: tuple[str, ...] = ()
    code: int = ares.ARES_ENODATA
    refusal: NotPublic | None = None
    """It has addresses, but none that is allowed."""
    is_whole: bool = True

    def allowed(self) -> tuple[str, ...]:
        """The addresses; raises LookupFailed or NotPublic if there are none."""
        if self.addresses:
            return self.addresses
        if self.refusal:
            raise NotPublic(addresses=self.refusal.addresses)  # a new one: each raised error has a trace of its own
        raise LookupFailed(self.code)


class Resolver(AbstractResolver):
    """Our resolver, also used by aiohttp. A query ends after `lookup_s`, whatever the name servers do."""

    def __init__(self, guard: Guard, name_servers: tuple[str, ...], lookup_s: float) -> None:
        self.lookup_s = lookup_s
        self._guard = guard
        self._name_servers = name_servers
        self._loop = asyncio.get_running_loop()
        self._known: BoundedMap[str, _Known] = BoundedMap(NAMES)
        self._addresses: BoundedMap[str, str] = BoundedMap(NAMES)
        """The last address of each name, also while it has none any more."""
        self._served_by: BoundedMap[str, tuple[float, str]] = BoundedMap(NAMES)
        self.queries = self.failures = 0
        """Queries sent since the start, and those that no name server answered."""
        self._answered_at = self._silent_at = float("-inf")
        self._probing = asyncio.Lock()
        self._waiting: dict[_Query, list[asyncio.Future[_Found]]] = {}
        self._wanted: deque[tuple[_Query, float]] = deque()
        self._crowd: dict[_Query, float] = {}
        """The burst: queries under way, with the times at which they were sent, the oldest first."""
        self._sending: asyncio.Handle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._channels = [self._new_channel()]

    async def addresses(self, host: str) -> tuple[str, ...]:
        """The allowed addresses of a name: of IPv4 if it has any, else of IPv6.

        Raises LookupFailed, or NotPublic if the name has only addresses that are not allowed.
        """
        return (await self._known_of(host, whole=False)).allowed()

    async def more_addresses(self, host: str) -> tuple[str, ...]:
        """The IPv6 addresses of a name of which `addresses` returned those of IPv4; never fails."""
        return tuple(each for each in (await self._known_of(host, whole=True)).addresses if ":" in each)

    def name(self, host: str, addresses: Sequence[str]) -> None:
        """Takes the addresses of a host from the caller; the guard still sees them before a connection is made."""
        self._known[host] = _Known(inf, tuple(addresses))

    def address_of(self, host: str) -> str | None:
        """The first address that a host had when one was last found, without a new look-up; None if none is known.

        One that is out of date counts, too: it shows in which network the host is.
        """
        host = host.lower().rstrip(".")
        return host if is_ip(host) else self._addresses.get(host)

    async def find_address(self, host: str) -> str | None:
        """The address that a host is requested at first, after a look-up if needed; None if there is none."""
        if is_ip(host):
            return host
        return next(iter((await self._known_of(host, whole=False)).addresses), None)

    async def name_servers_of(self, domain: str) -> str | None:
        """The first of a domain's name servers by name, with a space between them; None if they are unknown."""
        kept = self._served_by.use(domain)
        if kept is None or kept[0] < monotonic():
            found = await self._queried(domain, pycares.QUERY_TYPE_NS, self.lookup_s)
            data = [] if isinstance(found, int) else [record.data for record in found.answer]
            names = {each.nsdname.lower().rstrip(".") for each in data if isinstance(each, NSRecordData)}
            # One of escaped bytes may be four times as long; who has it takes part in no group, and ends no round.
            named = sorted(name for name in names if len(name) <= _LONGEST_NAME)
            kept = monotonic() + LONGEST_TTL_S, " ".join(named[:NAME_SERVERS])
            self._served_by[domain] = kept
        return kept[1] or None

    async def look_up(self, name: str) -> NameAnswer:
        """Asks name servers now, past all caches: for a name's IPv4 addresses, or for the root's own name servers."""
        kind = pycares.QUERY_TYPE_NS if name == "." else pycares.QUERY_TYPE_A
        anew = Resolver(self._guard, self._name_servers, self.lookup_s)
        try:
            found = await anew._queried(name, kind, self.lookup_s)
        finally:
            await anew.close()
        match found:
            case ares.ARES_ENODATA:
                return NameAnswer.NO_ADDRESS
            case ares.ARES_ENOTFOUND | ares.ARES_EREFUSED:
                return NameAnswer.NO_NAME
            case int():
                return NameAnswer.NOTHING
            case _:
                return NameAnswer.ADDRESSES if found.answer else NameAnswer.NO_ADDRESS

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of both families, for aiohttp; raises like `addresses`."""
        known = await self._known_of(host, whole=True)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in known.allowed()
        ]

    async def close(self) -> None:
        """Cancels all look-ups."""
        self._wanted.clear()
        for waiter in [each for waiting in self._waiting.values() for each in waiting]:
            waiter.cancel()
        for channel in self._channels:
            channel.close()

    async def _known_of(self, host: str, *, whole: bool) -> _Known:
        """The name servers' answer for a name, cached unless there was no answer at all."""
        host = host.lower().rstrip(".")
        known, begun = self._known.use(host), monotonic()
        if known is not None and known.end > begun and (known.is_whole or not whole):
            return known
        found = [await self._queried(host, pycares.QUERY_TYPE_A, self.lookup_s)]
        known = self._known_from(found)
        if (whole or not known.addresses) and known.code != ares.ARES_ETIMEOUT:
            found.append(await self._queried(host, pycares.QUERY_TYPE_AAAA, self.lookup_s))
            known = self._known_from(found)
        if known.code == ares.ARES_ETIMEOUT and not await self._is_served(begun):
            return _Known(begun, code=ares.ARES_ECONNREFUSED)
        if known.code not in NO_SERVER:
            self._known[host] = known
        if known.addresses:
            self._addresses[host] = known.addresses[0]
        return known

    def _queried(self, host: str, kind: int, limit_s: float) -> asyncio.Future[_Found]:
        """The answer to one query, for all who wait for it; ETIMEOUT if there is none `limit_s` after it is sent."""
        waiter: asyncio.Future[_Found] = self._loop.create_future()
        waiting = self._waiting.setdefault(query := (host, kind), [])
        waiting.append(waiter)
        if len(waiting) == 1:
            self._wanted.append((query, limit_s))
            self._send()
        return waiter

    def _send(self) -> None:
        """Sends queries, as many as have room in the burst: those that were sent long ago are no part of it."""
        now, crowd, self._sending = self._loop.time(), self._crowd, None
        try:
            while self._wanted and (len(crowd) < _BURST or next(iter(crowd.values())) <= now - _BURST_S):
                if len(crowd) == _BURST:
                    del crowd[next(iter(crowd))]
                if self._channels[-1].begun >= LOOKUPS_A_CHANNEL:
                    self._channels[-1].retire()
                    self._channels = [*(each for each in self._channels if not each.is_closed), self._new_channel()]
                query, limit_s = self._wanted.popleft()
                crowd[query] = now
                self._channels[-1].ask(query, now + limit_s, partial(self._answered, query))
        finally:  # also if no channel can be opened now
            if self._wanted and self._later is None:
                self._later = self._loop.call_later(_BURST_S, self._send_late)

    def _send_late(self) -> None:
        self._later = None
        self._send()

    def _answered(self, query: _Query, found: _Found) -> None:
        self._crowd.pop(query, None)
        if self._wanted and self._sending is None:
            self._sending = self._loop.call_soon(self._send)  # not within c-ares, and once for all answers of a moment
        self.queries += 1
        if isinstance(found, int) and found in _UNANSWERED:
            self.failures += 1
        else:
            self._answered_at = monotonic()
        for waiter in self._waiting.pop(query):
            if not waiter.done():
                waiter.set_result(found)

    async def _is_served(self, since: float) -> bool:
        """Returns whether our name servers have answered any query since then; in doubt the root is queried (C-16)."""
        async with self._probing:
            if self._answered_at < since and self._silent_at < since:
                found = await self._queried(".", pycares.QUERY_TYPE_NS, _TRY_S)
                if isinstance(found, int) and found in _UNANSWERED:
                    self._silent_at = monotonic()
            return self._answered_at >= since

    def _known_from(self, found: Sequence[_Found]) -> _Known:
        """Combines answers: any address counts, else "no such name", else the first failure."""
        addresses: list[str] = []
        ttl_s = LONGEST_TTL_S
        codes: list[int] = []
        for answer in found:
            if isinstance(answer, int):
                codes.append(answer)
                continue
            addresses += [each.data.addr for each in answer.answer if isinstance(each.data, _ADDRESS_DATA)][:ADDRESSES]
            ttl_s = min([ttl_s, *[each.ttl for each in answer.answer]])
        if addresses:
            allowed = tuple([each for each in addresses if self._guard.allows(address_of(each))])
            refusal = None if allowed else self._guard.refusal(addresses)
            end = monotonic() + max(ttl_s, SHORTEST_TTL_S)
            return _Known(end, allowed, refusal=refusal, is_whole=len(found) > 1)
        if ares.ARES_ENOTFOUND in codes:
            return _Known(monotonic() + NO_NAME_TTL_S, code=ares.ARES_ENOTFOUND)
        if failures := [code for code in codes if code not in NO_NAME]:
            return _Known(monotonic() + ERROR_TTL_S, code=failures[0])
        return _Known(monotonic() + NO_NAME_TTL_S)

    def _new_channel(self) -> "_Channel":
        try:
            return _Channel(self._name_servers)
        except AresError as wrong:
            raise ConfigError(f"The name servers {', '.join(self._name_servers)} cannot be used: {wrong}") from wrong


class _Channel:
    """One c-ares channel on the running loop: c-ares' own thread would cost as much as the look-ups."""

    def __init__(self, name_servers: tuple[str, ...]) -> None:
        self.begun = 0
        self.is_closed = self._is_retired = False
        self._open: dict[Callable[[_Found], None], float] = {}
        """Whom to tell the answers of open queries, and when it is too late for each, by the loop's time."""
        self._loop = asyncio.get_running_loop()
        self._watched: set[int] = set()
        self._ticking: asyncio.TimerHandle | None = None
        self._ares = pycares.Channel(
            servers=name_servers or None,
            timeout=_TRY_S,
            tries=_TRIES,
            socket_receive_buffer_size=_RECEIVE_BYTES,
            sock_state_cb=self._watch,
        )

    def ask(self, query: _Query, end_at: float, answered: Callable[[_Found], None]) -> None:
        """Calls `answered` with the answer to a query; with ETIMEOUT if there is none at `end_at` or soon after it."""
        self.begun += 1
        self._open[answered] = end_at
        self._tick_soon()
        try:
            self._ares.query(*query, callback=partial(self._end, answered))
        except (AresError, UnicodeError) as wrong:
            self._end(answered, None, wrong.args[0] if isinstance(wrong, AresError) else ares.ARES_EBADNAME)

    def _end(self, answered: Callable[[_Found], None], result: DNSResult | None, code: int | None) -> None:
        if self._open.pop(answered, None) is not None:
            answered(code or result or ares.ARES_EBADRESP)

    def retire(self) -> None:
        """Closes the channel once it has no open query."""
        self._is_retired = True
        self._tick_soon()

    def close(self) -> None:
        """Ends open queries with ECANCELLED. c-ares frees the channel in a thread, which must not use the loop."""
        if self.is_closed:
            return
        self._ares.cancel()
        self.is_closed = True
        for fd in self._watched:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
        if self._ticking:
            self._ticking.cancel()
        self._ares.close()

    def _watch(self, fd: int, readable: bool, writable: bool) -> None:
        if self.is_closed:
            return
        (self._watched.add if readable or writable else self._watched.discard)(fd)
        self._loop.remove_reader(fd)
        self._loop.remove_writer(fd)
        if readable:
            self._loop.add_reader(fd, self._ares.process_fd, fd, pycares.ARES_SOCKET_BAD)
        if writable:
            self._loop.add_writer(fd, self._ares.process_fd, pycares.ARES_SOCKET_BAD, fd)

    def _tick_soon(self) -> None:
        if self._ticking is None:
            self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        self._ticking = None
        self._ares.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
        now = self._loop.time()
        for answered in [each for each, end_at in self._open.items() if end_at <= now]:
            self._end(answered, None, ares.ARES_ETIMEOUT)
        if self._open:
            self._tick_soon()
        elif self._is_retired:
            self.close()
