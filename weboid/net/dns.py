"""Names to addresses: both families through c-ares, a bounded cache in front, only addresses that may be asked.

Neither ``/etc/hosts`` nor search domains are looked at, and no system call ever sees a name.
One law: a name is looked up once at a time, however many ask; what is remembered is bounded in number and in time.
"""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from time import monotonic
from typing import Final

import aiodns
from aiodns import error
from aiohttp.abc import AbstractResolver, ResolveResult
from pycares import AAAARecordData, ARecordData, AresError, DNSResult

from weboid.errors import ConfigError
from weboid.net.guard import Guard, NotPublic

NAMES: Final = 50_000
"""Names remembered at most."""
SHORTEST_TTL_S: Final = 5
LONGEST_TTL_S: Final = 3600
NO_NAME_TTL_S: Final = 300
ERROR_TTL_S: Final = 30
ADDRESSES: Final = 4
"""Addresses of each family that are tried at most."""
LOOKUPS_A_CHANNEL: Final = 20_000
"""c-ares keeps each answer for up to an hour, 1.4 KB apiece and without a bound: a channel is not used for ever."""

_TRY_S: Final = 3.0
_TRIES: Final = 3

NO_NAME: Final = frozenset({error.ARES_ENOTFOUND, error.ARES_ENODATA, error.ARES_EBADNAME, error.ARES_ENONAME})
"""The name is unknown, cannot exist, or has no address: to somebody who follows a link it is all the same."""
NO_SERVER: Final = frozenset(
    {
        error.ARES_ECONNREFUSED,
        error.ARES_ENOMEM,
        error.ARES_EFILE,
        error.ARES_EDESTRUCTION,
        error.ARES_ECANCELLED,
        error.ARES_ENOTINITIALIZED,
    }
)
"""Our own name servers or our own machine failed: nothing is known of the name (C-16)."""
_SILENCE: Final = NO_SERVER | {error.ARES_ETIMEOUT}


class LookupFailed(OSError):
    """A name without addresses; `code` is c-ares', see NO_NAME and NO_SERVER."""

    def __init__(self, code: int) -> None:
        super().__init__(f"look-up failed with c-ares code {code}")
        self.code = code


@dataclass(frozen=True, slots=True)
class _Known:
    """What is remembered of a name: its addresses, or the code of the failure, until `end` (monotonic seconds)."""

    end: float
    addresses: tuple[str, ...] = ()
    code: int = error.ARES_SUCCESS


@dataclass(slots=True)
class _Channel:
    """One c-ares channel, the look-ups begun on it and those still open."""

    dns: aiodns.DNSResolver
    begun: int = 0
    open: int = 0


class Resolver(AbstractResolver):
    """aiohttp's resolver with our cache. A look-up ends after `lookup_s`, whatever the name servers do."""

    def __init__(self, guard: Guard, name_servers: tuple[str, ...], lookup_s: float) -> None:
        self._guard = guard
        self._name_servers = name_servers
        self._lookup_s = lookup_s
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[_Known]] = {}
        self._answered_at = self._silent_at = float("-inf")
        self._probing = asyncio.Lock()
        self._channel = self._new_channel()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a name that may be asked; raises LookupFailed, or NotPublic if it has only others."""
        known = await self._known_of(host.lower().rstrip("."))
        if known.code != error.ARES_SUCCESS:
            raise LookupFailed(known.code)
        allowed = [address for address in known.addresses if self._guard.allows(ip_address(address))]
        if not allowed:
            raise NotPublic
        return [_result(host, address, port) for address in allowed]

    async def close(self) -> None:
        """Ends all look-ups."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._channel.dns.close()

    async def _known_of(self, host: str) -> _Known:
        known = self._known.get(host)
        if known is not None and known.end > monotonic():
            self._known.move_to_end(host)
            return known
        task = self._asking.get(host)
        if task is None:
            task = self._asking[host] = asyncio.create_task(self._asked(host))
            task.add_done_callback(lambda _: self._asking.pop(host, None))
        # Shielded: whoever gives up must not end the look-up for the others.
        return await asyncio.shield(task)

    async def _asked(self, host: str) -> _Known:
        begun = monotonic()
        known = await self._answer(host)
        if known.code == error.ARES_ETIMEOUT and not await self._is_served(begun):
            return _Known(begun, code=error.ARES_ECONNREFUSED)
        if known.code not in NO_SERVER:
            self._known[host] = known
            self._known.move_to_end(host)
            if len(self._known) > NAMES:
                self._known.popitem(last=False)
        return known

    async def _answer(self, host: str) -> _Known:
        if self._channel.begun >= LOOKUPS_A_CHANNEL:
            await self._change_channel()
        channel = self._channel
        channel.begun += 1
        channel.open += 1
        try:
            async with asyncio.timeout(self._lookup_s):
                found = await asyncio.gather(
                    channel.dns.query_dns(host, "A"), channel.dns.query_dns(host, "AAAA"), return_exceptions=True
                )
            if not all(isinstance(each, error.DNSError) and each.args[0] in _SILENCE for each in found):
                self._answered_at = monotonic()
        except TimeoutError:
            return _Known(monotonic() + ERROR_TTL_S, code=error.ARES_ETIMEOUT)
        finally:
            channel.open -= 1
            if channel is not self._channel and not channel.open:
                await channel.dns.close()
        return _known(found)

    async def _is_served(self, since: float) -> bool:
        """Whether our name servers have answered anything since then, if need be a question for the root (C-16)."""
        async with self._probing:
            if self._answered_at < since and self._silent_at < since:
                try:
                    async with asyncio.timeout(_TRY_S):
                        await self._channel.dns.query_dns(".", "NS")
                    self._answered_at = monotonic()
                except (TimeoutError, error.DNSError) as wrong:
                    if isinstance(wrong, TimeoutError) or wrong.args[0] in _SILENCE:
                        self._silent_at = monotonic()
                    else:
                        self._answered_at = monotonic()
            return self._answered_at >= since

    async def _change_channel(self) -> None:
        old, self._channel = self._channel, self._new_channel()
        if not old.open:
            await old.dns.close()

    def _new_channel(self) -> _Channel:
        try:
            return _Channel(aiodns.DNSResolver(nameservers=self._name_servers or None, timeout=_TRY_S, tries=_TRIES))
        except AresError as wrong:
            raise ConfigError(f"The name servers {', '.join(self._name_servers)} cannot be used: {wrong}") from wrong


def _known(found: Sequence[DNSResult | BaseException]) -> _Known:
    """What both answers together say: any address counts; else that there is no such name; else the worse failure."""
    addresses: list[str] = []
    ttl_s = LONGEST_TTL_S
    codes: list[int] = []
    for answer in found:
        if isinstance(answer, error.DNSError):
            codes.append(answer.args[0])
        elif isinstance(answer, BaseException):
            raise answer
        else:
            data = [record.data for record in answer.answer]
            addresses += [each.addr for each in data if isinstance(each, ARecordData | AAAARecordData)][:ADDRESSES]
            ttl_s = min([ttl_s, *(record.ttl for record in answer.answer)])
    if addresses:
        return _Known(monotonic() + max(ttl_s, SHORTEST_TTL_S), tuple(addresses))
    if error.ARES_ENOTFOUND in codes:
        return _Known(monotonic() + NO_NAME_TTL_S, code=error.ARES_ENOTFOUND)
    if failures := [code for code in codes if code not in NO_NAME]:
        return _Known(monotonic() + ERROR_TTL_S, code=failures[0])
    return _Known(monotonic() + NO_NAME_TTL_S, code=error.ARES_ENODATA)


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
