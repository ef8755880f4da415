"""Rate limits: every account spends units, which are earned again with time (W-9).

`callers` finds the account, `budget` its units. The costs of routes are in ``web/request/route``, the accounts in
``store/people/throttle``, shared by all processes. Units are spent before the work is done, except for the number of
links, which only the answer shows.
"""

import asyncio
import logging
from math import ceil
from typing import Final

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from weboid.config import WebConfig
from weboid.errors import StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.fair_slots import Full
from weboid.web.http.budget import Budget
from weboid.web.http.callers import note_account
from weboid.web.http.lanes import CAPACITIES, Lanes
from weboid.web.http.tokens import TrustedClients
from weboid.web.identity.session import Sessions
from weboid.web.request.parameters import MOST_PAGES
from weboid.web.request.problem import Problem
from weboid.web.request.route import COST, FORM_COST, lane_of, route_of
from weboid.web.request.work import FREE, LINKS, PAGES

log = logging.getLogger(__name__)

_PAGES: Final = ("pageid", "curid", "title")
_LINKS_INCLUDED: Final = 100
"""Links of an answer that its usual cost includes; as many more cost one unit each time."""
_FAILING_S: Final = 1.0
"""For so long the store is left alone after it did not answer."""


def cost_of(request: web.Request) -> int:
    """The cost of a request in units: by its route and, if its address names pages, by their number.

    Of a form the first page; the others are charged when they are known (`PAGES`).
    """
    route, is_form = route_of(request), request.method not in (hdrs.METH_GET, hdrs.METH_HEAD)
    if route is None:
        return FORM_COST if is_form else COST
    if request.method == hdrs.METH_OPTIONS:
        return 0
    cost = route.form_cost if is_form else route.cost
    if route.counts_pages and is_form:
        cost += 1
    elif route.counts_pages:
        named = max((value.count("|") for name in _PAGES for value in request.query.getall(name, ())), default=0)
        named = max(named, request.match_info.get("title", "").count("|"))
        cost += min(named + 1, MOST_PAGES)
    # All values are looked at, as a handler ignores empty ones and may read any of them.
    more = route.surcharge
    if more is not None and any(more.word in value for value in request.query.getall(more.name, ())):
        cost += more.units
    return cost


def cost_of_links(links: int) -> int:
    """The additional cost of so many links in an answer."""
    return max(0, ceil((links - _LINKS_INCLUDED) / _LINKS_INCLUDED))


class Limits:
    """The limits of one web process, and what `lanes` admit. Without a budget nobody is limited."""

    def __init__(
        self, config: WebConfig, clients: TrustedClients, sessions: Sessions, lanes: Lanes, budget: Budget | None
    ) -> None:
        self._proxies = config.proxies
        self._clients = clients
        self._sessions = sessions
        self._lanes = lanes
        self._budget = budget
        self._failing_until_s = 0.0
        self._failing = Disturbance(log, "limits cannot be kept")

    @property
    def middleware(self) -> Middleware:
        """The middleware to install, inside of what turns exceptions into answers."""

        @web.middleware
        async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
            client = self._clients.note(request)
            account = note_account(request, self._proxies, client=client, person=self._sessions.subject(request))
            self._lanes.admit(request)
            cost = cost_of(request) if client is None else 0
            if self._budget is None or cost == 0:
                return await handler(request)
            key = await self._spend(self._budget, request, account, cost)
            try:
                return await handler(request)
            finally:
                if key is not None:
                    _settle(self._budget, request, key, cost)

        return limited

    async def _spend(self, budget: Budget, request: web.Request, account: bytes, cost: int) -> bytes | None:
        """Spends units of an account and returns its key; None if the store does not answer. Raises Problem 429, and
        503 if as many of it as have places in the lane wait for units.
        """
        lane = lane_of(request)
        if asyncio.get_running_loop().time() < self._failing_until_s:
            return None
        try:
            key = await budget.key(account)
            wait_s = await budget.spend(key, cost, lane, CAPACITIES[lane].places)
        except Full:
            raise self._lanes.refusal(request, lane) from None
        except (StoreError, TimeoutError) as error:
            # What needs no database is answered all the same; everything else fails with its own error.
            self._failing.met(error if str(error) else "the store is too slow")
            self._failing_until_s = asyncio.get_running_loop().time() + _FAILING_S
            return None
        self._failing.passed()
        if wait_s:
            raise Problem(429, "too-many-requests", retry_s=ceil(wait_s))
        return key


def _settle(budget: Budget, request: web.Request, key: bytes, cost: int) -> None:
    """Gives back what was spent for nothing, or takes what the answer cost in addition, also a `304` (D-48)."""
    if request.get(FREE):
        budget.give_back(key, cost)
    # One page has been paid for already.
    elif more := cost_of_links(request.get(LINKS, 0)) + request.get(PAGES, 1) - 1:
        budget.charge(key, more)
