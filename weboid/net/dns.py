"""Resolves names to addresses with c-ares on our own event loop and a bounded cache; only allowed addresses count.

IPv4 comes first; IPv6 is queried if there is no allowed IPv4 address, or if none can be connected to. Neither
``/etc/hosts`` nor search domains are used, and no name is ever passed to a system call.
"""

import asyncio
import socket
from collections.abc import Sequence
from enum import Enum
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

import pycares
from aiohttp.abc import AbstractResolver, ResolveResult
from pycares import AAAARecordData, ARecordData, NSRecordData
from pycares import errno as ares

from weboid.core.url.hosts import is_ip
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.deadlines import Deadlines
from weboid.mechanism.single_flight import SingleFlight
from weboid.net.guard import Guard, NotPublic, address_of
from weboid.net.queries import NO_SERVER, TRY_S, UNANSWERED, Found, Queries

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
NO_NAME: Final = frozenset({ares.ARES_ENOTFOUND, ares.ARES_ENODATA, ares.ARES_EBADNAME, ares.ARES_ENONAME})
"""The name is unknown, cannot exist, or has no address: for people who follow a link it is the same."""


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


class _Waiting:
    """One caller that waits for a name's IPv4 addresses."""

    __slots__ = ("answer",)

    def __init__(self, answer: "asyncio.Future[_Known | Found]") -> None:
        self.answer = answer

    def expire(self) -> None:
        if not self.answer.done():
            self.answer.set_exception(TimeoutError())


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
        self._asked: dict[str, list[_Waiting]] = {}
        """Names whose IPv4 addresses are being asked for, each with all who wait."""
        self._lookups: SingleFlight[_Known] = SingleFlight()
        self._served_by: BoundedMap[str, tuple[float, str]] = BoundedMap(NAMES)
        self._silent_at = float("-inf")
        self._probing = asyncio.Lock()
        self._deadlines = Deadlines()
        self._queries = Queries(name_servers)

    @property
    def queries(self) -> int:
        """Queries sent since the start."""
        return self._queries.sent

    @property
    def failures(self) -> int:
        """Queries that no name server answered."""
        return self._queries.failures

    async def addresses(self, host: str) -> tuple[str, ...]:
        """The allowed addresses of a name: of IPv4 if it has any, else of IPv6.

        Raises LookupFailed, or NotPublic if the name has only addresses that are not allowed.
        """
        return (await self._known_of(host, whole=False)).allowed()

    async def more_addresses(self, host: str) -> tuple[str, ...]:
        """The IPv6 addresses of a name of which `addresses` returned those of IPv4; never fails."""
        known = await self._known_of(host, whole=True)
        return tuple(each for each in known.addresses if ":" in each)

    def address_of(self, host: str) -> str | None:
        """The first address that a host had when one was last found, without a new look-up; None if none is known.

        One that is out of date counts, too: it shows in which network the host is.
        """
        host = host.lower().rstrip(".")
        return host if is_ip(host) else self._addresses.get(host)

    async def find_address(self, host: str, limit_s: float | None = None) -> str | None:
        """The address that a host is requested at first, after a look-up if needed; None if there is none.

        None as well if it is not known after `limit_s`; the look-up goes on.
        """
        if is_ip(host):
            return host
        try:
            known = await self._known_of(host, whole=False, limit_s=limit_s)
        except TimeoutError:
            return None
        return known.addresses[0] if known.addresses else None

    async def name_servers_of(self, domain: str) -> str | None:
        """The first of a domain's name servers by name, with a space between them; None if they are unknown."""
        kept = self._served_by.use(domain)
        if kept is None or kept[0] < monotonic():
            found = await self._queries.result(domain, pycares.QUERY_TYPE_NS, self.lookup_s)
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
        queries = Queries(self._name_servers)
        try:
            found = await queries.result(name, kind, self.lookup_s)
        finally:
            queries.close()
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
        for waiting in self._asked.values():
            for each in waiting:
                each.answer.cancel()
        await self._lookups.close()
        self._queries.close()
        self._deadlines.close()

    async def _known_of(self, host: str, *, whole: bool, limit_s: float | None = None) -> _Known:
        host = host.lower().rstrip(".")
        known = self._known.use(host)
        if known is not None and known.end > monotonic() and (known.is_whole or not whole):
            return known
        begun, first = monotonic(), None
        if not whole and (host, whole) not in self._lookups:
            answer = await self._first_of(host, limit_s)
            if isinstance(answer, _Known):
                return answer
            first = answer
        return await self._lookups.result((host, whole), lambda: self._found(host, whole, begun, first), limit_s)

    async def _first_of(self, host: str, limit_s: float | None) -> "_Known | Found":
        """The known answer of a name with allowed IPv4 addresses, as nearly all have, else the answer that has none.

        TimeoutError after `limit_s`, as in SingleFlight; ValueError for what is no name.
        """
        waiting = _Waiting(self._loop.create_future())
        if (others := self._asked.get(host)) is not None:
            others.append(waiting)
        else:
            self._asked[host] = [waiting]
            self._queries.ask(host, pycares.QUERY_TYPE_A, self.lookup_s, partial(self._take_first, host))
        if limit_s is None:
            return await waiting.answer
        slot = self._deadlines.add(waiting, self._loop.time() + limit_s)
        try:
            return await waiting.answer
        finally:
            self._deadlines.remove(waiting, slot)

    def _take_first(self, host: str, found: Found | ValueError) -> None:
        result: _Known | Found | ValueError = found
        if not isinstance(found, ValueError) and (known := self._known_from([found])).addresses:
            result = known._replace(is_whole=False)
            self._keep(host, result)
        for waiting in self._asked.pop(host):
            if waiting.answer.done():
                continue
            if isinstance(result, ValueError):
                waiting.answer.set_exception(result)
            else:
                waiting.answer.set_result(result)

    async def _found(self, host: str, whole: bool, begun: float, first: Found | None) -> _Known:
        """The name servers' answer for a name, cached unless there was no answer at all."""
        asked, limit_s = self._queries.result, self.lookup_s
        found = [await asked(host, pycares.QUERY_TYPE_A, limit_s) if first is None else first]
        known = self._known_from(found)
        if known.code != ares.ARES_ETIMEOUT:
            found.append(await asked(host, pycares.QUERY_TYPE_AAAA, limit_s))
            known = self._known_from(found)
        if known.code == ares.ARES_ETIMEOUT and not await self._is_served(begun):
            return _Known(begun, code=ares.ARES_ECONNREFUSED)
        self._keep(host, known)
        return known

    def _keep(self, host: str, known: _Known) -> None:
        if known.code not in NO_SERVER:
            self._known[host] = known
        if known.addresses:
            self._addresses[host] = known.addresses[0]

    async def _is_served(self, since: float) -> bool:
        """Returns whether our name servers have answered any query since then; in doubt the root is queried (C-16)."""
        async with self._probing:
            if self._queries.answered_at < since and self._silent_at < since:
                found = await self._queries.result(".", pycares.QUERY_TYPE_NS, TRY_S)
                if isinstance(found, int) and found in UNANSWERED:
                    self._silent_at = monotonic()
            return self._queries.answered_at >= since

    def _known_from(self, found: Sequence[Found]) -> _Known:
        """Combines answers: any address counts, else "no such name", else the first failure."""
        addresses: list[str] = []
        ttl_s = LONGEST_TTL_S
        codes: list[int] = []
        for answer in found:
            if isinstance(answer, int):
                codes.append(answer)
                continue
            data = [record.data for record in answer.answer]
            addresses += [each.addr for each in data if isinstance(each, ARecordData | AAAARecordData)][:ADDRESSES]
            ttl_s = min([ttl_s, *(record.ttl for record in answer.answer)])
        if addresses:
            allowed = tuple(each for each in addresses if self._guard.allows(address_of(each)))
            refusal = None if allowed else self._guard.refusal(addresses)
            return _Known(monotonic() + max(ttl_s, SHORTEST_TTL_S), allowed, refusal=refusal)
        if ares.ARES_ENOTFOUND in codes:
            return _Known(monotonic() + NO_NAME_TTL_S, code=ares.ARES_ENOTFOUND)
        if failures := [code for code in codes if code not in NO_NAME]:
            return _Known(monotonic() + ERROR_TTL_S, code=failures[0])
        return _Known(monotonic() + NO_NAME_TTL_S)
