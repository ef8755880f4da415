"""The units that callers may spend: accounts in the store, and what this process has bought of them (W-9).

Never more units are spent than were earned. They are bought from the store before they are spent, some at a
time, and what is not spent goes back; only what an answer turned out to cost in addition is paid afterwards.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, inf
from time import monotonic
from typing import Final

from aiohttp import web

from weboid.errors import StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.fair_slots import Full
from weboid.mechanism.slices import batches
from weboid.mechanism.tasks import in_background, to_the_end
from weboid.store.db.pool import Connection, Pool
from weboid.store.people.throttle import Rate, delete_past, find_day_key, key_of, settle, spend

log = logging.getLogger(__name__)

MOST_AT_ONCE: Final = 2
"""Purchases under way, each with a connection to the database of its own."""

_MOST_KEYS: Final = 10_000
"""Accounts that are remembered here as over the limit, and as many that have units here, or debts."""
_CREDIT_S: Final = 60.0
_TIDYING_S: Final = 60.0
_TIDIED: Final = 1_000
_SHARE: Final = 20
"""At most this fraction of a burst is bought at once: so little can lie unused in each of several processes."""
_LONGEST_S: Final = 1.0


@dataclass(slots=True)
class _Purchase:
    """One for an account: units that those who wait need, the fewest that help, how many wait by lane, its end."""

    units: int
    fewest: int
    waiting: Counter[Hashable] = field(default_factory=Counter)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Here:
    """Units of an account in this process, below 0 its debts; they go back to the store after `until_s`."""

    units: int = 0
    until_s: float = 0.0


class Budget:
    """The accounts of one process."""

    def __init__(self, pool: Pool, rate: Rate, today: Callable[[], int]) -> None:
        self._pool = pool
        self._rate = rate
        self._today = today
        self._day_key: tuple[int, bytes] = (-1, b"")
        self._buying = asyncio.Semaphore(MOST_AT_ONCE)
        self._purchases: dict[bytes, _Purchase] = {}
        self._wanted: dict[bytes, _Purchase] = {}
        """Those of them that nobody has begun."""
        self.over: BoundedMap[bytes, float] = BoundedMap(_MOST_KEYS)
        """By key that was refused: the moment at which its account is empty, from which on a cost must be earned."""
        self.here: BoundedMap[bytes, _Here] = BoundedMap(_MOST_KEYS)

    async def key(self, who: bytes) -> bytes:
        """The key of an account for today; raises StoreError, TimeoutError."""
        day = self._today()
        if self._day_key[0] != day:
            async with asyncio.timeout(2 * _LONGEST_S), self._buying:
                if self._day_key[0] != day:
                    async with self._pool.reading(_LONGEST_S) as conn:
                        self._day_key = day, await find_day_key(conn, day)
        return key_of(self._day_key[1], who)

    async def spend(self, key: bytes, cost: int, lane: Hashable = None, places: float = inf) -> float:
        """Spends units and returns 0; or spends nothing and returns the seconds to wait.

        Raises Full at once if so many for that lane wait already; StoreError; and TimeoutError if too many others buy
        units at this moment.
        """
        cost = min(cost, self._rate.burst)
        if self._spend_here(key, cost):
            return 0.0
        async with asyncio.timeout(_LONGEST_S) as limit:
            while not (wait_s := self._known_wait(key, cost)):
                purchase = self._purchases.get(key)
                if purchase is None:
                    is_first = not self._wanted
                    purchase = _Purchase(max(cost, self._rate.burst // _SHARE), cost)
                    self._purchases[key] = self._wanted[key] = purchase
                    if is_first:
                        await self._buy_wanted(limit)
                elif purchase.waiting[lane] >= places:
                    raise Full
                else:
                    purchase.units += cost
                    purchase.fewest = min(purchase.fewest, cost)
                    purchase.waiting[lane] += 1
                await purchase.ended.wait()
                if self._spend_here(key, cost):
                    return 0.0
        return wait_s

    async def _buy_wanted(self, limit: asyncio.Timeout) -> None:
        """Buys for all who wait by then: they need no statement of their own. The limit is for the time until then."""
        wanted = self._wanted
        try:
            async with self._buying:
                limit.reschedule(None)
                await asyncio.sleep(0)  # for those who come in the same turn of the loop
                self._wanted = {}
                await to_the_end(self._buy(wanted))
        finally:
            if self._wanted is wanted:
                self._wanted = {}
            for key, purchase in wanted.items():
                del self._purchases[key]
                purchase.ended.set()

    def give_back(self, key: bytes, cost: int) -> None:
        """Gives back units that were spent for a free answer: the next request with this key may need no query."""
        self._add(key, min(cost, self._rate.burst))

    def charge(self, key: bytes, cost: int) -> None:
        """Takes units for what an answer turned out to cost, also if there are none: they are debts then."""
        self._add(key, -cost)

    def _add(self, key: bytes, units: int) -> None:
        here = self.here.get(key) or _Here()
        here.units += units
        here.until_s = monotonic() + _CREDIT_S
        self.here[key] = here

    def _spend_here(self, key: bytes, cost: int) -> bool:
        here = self.here.use(key)
        if here is None or here.units < cost or monotonic() >= here.until_s:
            return False
        here.units -= cost
        return True

    async def _buy(self, purchases: Mapping[bytes, _Purchase]) -> None:
        """Buys units, fewer for an account that has not so many, or none; pays debts first."""
        debts = [key for key in purchases if (here := self.here.get(key)) and here.units < 0]
        asked = {key: min(each.units, self._rate.burst) for key, each in purchases.items()}
        async with self._pool.reading(_LONGEST_S) as conn:
            await self._settle(conn, debts)
            while asked:
                refused, fewer = await spend(conn, asked, self._rate), {}
                for key, units in asked.items():
                    if (wait_s := refused.get(key)) is None:
                        self._add(key, units)
                        continue
                    self.over[key] = monotonic() + wait_s - self._worth_s(units)
                    if units > (fewest := purchases[key].fewest):
                        fewer[key] = max(units - ceil(wait_s / self._rate.unit_s), fewest)
                asked = fewer

    def _known_wait(self, key: bytes, cost: int) -> float:
        """Seconds to wait at least: other processes can only empty the account further than is known here."""
        over = self.over.get(key)
        return 0.0 if over is None else max(0.0, over + self._worth_s(cost) - monotonic())

    def _worth_s(self, cost: int) -> float:
        return min(cost, self._rate.burst) * self._rate.unit_s

    async def tidying(self, _: web.Application) -> AsyncIterator[None]:
        """Tidies while the application runs, and brings back to the store what is here at its end."""
        async with in_background(self._tidy()):
            yield
        try:
            await self._settle_all(monotonic() + _CREDIT_S)
        except StoreError as error:
            log.debug("units could not be given back: %s", error)

    async def _tidy(self) -> None:
        """Once a minute: settles, and deletes from the store keys of past days and accounts without effect."""
        while True:
            await asyncio.sleep(_TIDYING_S)
            try:
                await self._settle_all(monotonic())
                async with self._pool.connection() as conn:
                    await delete_past(conn, self._today(), limit=_TIDIED)
            except StoreError as error:
                log.warning("old limits could not be deleted: %s", error)

    async def _settle_all(self, until_s: float) -> None:
        """Gives the store back what has not been spent until then, and pays debts."""
        due = [key for key, here in self.here.items() if here.until_s <= until_s or here.units < 0]
        for some in batches(due, _TIDIED):
            async with self._pool.reading() as conn:
                await self._settle(conn, some)

    async def _settle(self, conn: Connection, keys: Iterable[bytes]) -> None:
        """Gives the store back what accounts have here, or pays what they owe."""
        units = {key: here.units for key in keys if (here := self.here.take(key)) and here.units}
        try:
            if units:
                await settle(conn, {key: -some for key, some in units.items()}, self._rate)
        except BaseException:
            for key, some in units.items():
                self._add(key, some)
            raise
