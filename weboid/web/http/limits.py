"""Rate limits: every range of addresses spends units, which are earned again with time (W-9).

This module finds out who sends a request and whether they are over the limit. The costs of routes are in
``web/request/route``, the accounts in ``store/people/throttle``, shared by all processes.
One law: units are spent before the work is done, and units that are given back stay in this process, so that never are
more spent than earned.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from math import ceil
from time import monotonic
from typing import Final

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from weboid.config import Network, WebConfig
from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.store.db.pool import Pool
from weboid.store.people.throttle import Rate, delete_past, find_day_key, key_of, spend
from weboid.web.http.cache import FREE
from weboid.web.http.tokens import TrustedClients
from weboid.web.request.parameters import MOST_PAGES
from weboid.web.request.problem import Problem
from weboid.web.request.route import COST, FORM_COST, route_of

log = logging.getLogger(__name__)

_PAGES: Final = ("pageid", "curid", "title")

_MOST_HOPS: Final = 16
_MOST_KEYS: Final = 10_000
"""Ranges that are remembered here as over the limit, and as many that have units left."""
_CREDIT_S: Final = 60.0
_TIDYING_S: Final = 60.0
_TIDIED: Final = 1_000
_NOBODY: Final = b"-"

Address = IPv4Address | IPv6Address


def cost_of(request: web.Request) -> int:
    """What a request costs, in units: by its route and, if it names pages, by their number."""
    route, is_form = route_of(request), request.method not in (hdrs.METH_GET, hdrs.METH_HEAD)
    if route is None:
        return FORM_COST if is_form else COST
    if request.method == hdrs.METH_OPTIONS:
        return 0
    cost = route.form_cost if is_form else route.cost
    if route.counts_pages:
        named = max((value.count("|") for name in _PAGES for value in request.query.getall(name, ())), default=0)
        cost += min(named + 1, MOST_PAGES)
    # All values are looked at, as a handler ignores empty ones and may read any of them.
    more = route.surcharge
    if more is not None and any(more.word in value for value in request.query.getall(more.name, ())):
        cost += more.units
    return cost


def caller_range(peer: str, forwarded: Sequence[str], proxies: Collection[Network]) -> bytes:
    """The range of addresses of the caller: /24 of IPv4, /48 of IPv6; the proxy's if it does not say the caller's.

    `forwarded` are the headers ``X-Forwarded-For``. They are read from the right: what a configured proxy has added is
    believed, and nothing to the left of the first sender that is not such a proxy, or of what is not an address.
    """
    address = _address(peer)
    senders = ",".join(forwarded).rsplit(",", _MOST_HOPS)[-_MOST_HOPS:] if forwarded else []
    while address is not None and senders and any(address in network for network in proxies):
        before = _address(senders.pop().strip())
        if before is None:
            break
        address = before
    if address is None:
        return _NOBODY
    prefix = 24 if address.version == 4 else 48
    return str(ip_network((address, prefix), strict=False)).encode()


def _address(text: str) -> Address | None:
    """The address in a text, with or without a port; an IPv4-mapped IPv6 address is taken as IPv4."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or IPv6Address(int(address))
    return address


class Budget:
    """What ranges of addresses may spend, by the accounts in the store and by what this process remembers of them."""

    def __init__(self, pool: Pool, rate: Rate, today: Callable[[], int]) -> None:
        self._pool = pool
        self._rate = rate
        self._today = today
        self._day_key: tuple[int, bytes] = (-1, b"")
        self.over: BoundedMap[bytes, float] = BoundedMap(_MOST_KEYS)
        """By key that was refused: the moment at which its account is empty, from which on a cost must be earned."""
        self.credit: BoundedMap[bytes, tuple[int, float]] = BoundedMap(_MOST_KEYS)
        """By key: units that were given back, and until when they can be spent here instead of those in the store."""

    async def key(self, who: bytes) -> bytes:
        """The key of a range of addresses for today; raises StoreError."""
        day = self._today()
        if self._day_key[0] != day:
            async with self._pool.connection() as conn:
                self._day_key = day, await find_day_key(conn, day)
        return key_of(self._day_key[1], who)

    async def spend(self, key: bytes, cost: int) -> float:
        """Spends units and returns 0; or spends nothing and returns the seconds to wait. Raises StoreError."""
        if self._spend_credit(key, cost):
            return 0.0
        if wait_s := self._known_wait(key, cost):
            return wait_s
        async with self._pool.connection() as conn:
            # While this request waited for the connection, others may have been refused: that saves it the query.
            if wait_s := self._known_wait(key, cost):
                return wait_s
            refused_s = await spend(conn, key, cost, self._rate)
        if refused_s is None:
            return 0.0
        self.over[key] = monotonic() + refused_s - self._worth_s(cost)
        return max(refused_s, self._rate.unit_s / 1000)

    def give_back(self, key: bytes, cost: int) -> None:
        """Gives back units that were spent for a free answer: the next request with this key may need no query."""
        units, until = self.credit.get(key) or (0, 0.0)
        now = monotonic()
        self.credit[key] = (units if now < until else 0) + cost, now + _CREDIT_S

    def _spend_credit(self, key: bytes, cost: int) -> bool:
        units, until = self.credit.get(key) or (0, 0.0)
        if units < cost or monotonic() >= until:
            return False
        self.credit[key] = units - cost, until
        return True

    def _known_wait(self, key: bytes, cost: int) -> float:
        """Seconds to wait at least: other processes can only empty the account further than is known here."""
        over = self.over.get(key)
        return 0.0 if over is None else max(0.0, over + self._worth_s(cost) - monotonic())

    def _worth_s(self, cost: int) -> float:
        return min(cost, self._rate.burst) * self._rate.unit_s

    async def tidy(self) -> None:
        """Deletes from the store, once a minute, keys of past days and accounts without effect; never returns."""
        while True:
            await asyncio.sleep(_TIDYING_S)
            try:
                async with self._pool.connection() as conn:
                    await delete_past(conn, self._today(), limit=_TIDIED)
            except StoreError as error:
                log.warning("old limits could not be deleted: %s", error)


class Limits:
    """The limits of one web process. Without a rate (0) nobody is limited."""

    def __init__(self, config: WebConfig, clients: TrustedClients, pool: Pool, today: Callable[[], int]) -> None:
        self._proxies = config.proxies
        self._clients = clients
        self._budget = Budget(pool, Rate(config.rate, max(config.burst, 1)), today) if config.rate else None

    async def tidying(self, _: web.Application) -> AsyncIterator[None]:
        """Runs the tidying of the budget while the application runs."""
        task = asyncio.create_task(self._budget.tidy()) if self._budget else None
        yield
        if task:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    @property
    def middleware(self) -> Middleware:
        """The middleware to install, inside of what turns exceptions into answers."""

        @web.middleware
        async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
            trusted = self._clients.note(request) is not None
            cost = 0 if trusted else cost_of(request)
            if self._budget is None or cost == 0:
                return await handler(request)
            try:
                key = await self._spend(self._budget, request, cost)
            except StoreError as error:
                # What needs no database is answered all the same; everything else fails with its own error.
                log.warning("limits cannot be kept: %s", error)
                return await handler(request)
            response = await handler(request)
            if request.get(FREE):
                self._budget.give_back(key, cost)
            return response

        return limited

    async def _spend(self, budget: Budget, request: web.Request, cost: int) -> bytes:
        """Spends units of the caller and returns the key of the account. Raises Problem 429, StoreError."""
        who = caller_range(request.remote or "", request.headers.getall(hdrs.X_FORWARDED_FOR, []), self._proxies)
        key = await budget.key(who)
        if wait_s := await budget.spend(key, cost):
            raise Problem(429, "too-many-requests", retry_s=ceil(wait_s))
        return key
