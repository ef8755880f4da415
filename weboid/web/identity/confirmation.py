"""Confirms, before somebody does something, that their account on the provider's wiki is still what it was (A-4).

Without an answer of the wiki that is understood nothing is done; the acts of one person cause at most one request an
hour in one process.
"""

import logging
from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import Final

import aiohttp
from aiohttp import hdrs

from weboid.config import PeopleConfig
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.fair_slots import aside
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.single_flight import SingleFlight
from weboid.web.identity.member import Confirmed, Member, api_of, member_in, query_of
from weboid.web.identity.provider_request import FAILURES, failure_words, send_request
from weboid.web.request.problem import Problem

log = logging.getLogger(__name__)

FRESH_S: Final = 3600
"""So long an answer of the wiki counts (D-190)."""
_TIMEOUT_S: Final = 5.0
_FIRST_PAUSE_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 300.0
_MOST_KEPT: Final = 10_000
_CLOCKS_S: Final = 60

_Account = tuple[str, str]


@dataclass(slots=True)
class _Trouble:
    """A failure of the wiki to answer in a way that is understood: no request before `until` (monotonic)."""

    pause: GrowingPause = field(default_factory=lambda: GrowingPause(_FIRST_PAUSE_S, _LONGEST_PAUSE_S))
    until: float = 0.0


class Confirmations:
    """The confirmed accounts that this process knows. `client` connects to the wiki."""

    def __init__(
        self,
        people: PeopleConfig,
        client: aiohttp.ClientSession | None,
        user_agent: str,
        *,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:
        self._api = api_of(people)
        self._client = client
        self._user_agent = user_agent
        self._timeout_s = timeout_s
        self._known: BoundedMap[_Account, Confirmed] = BoundedMap(_MOST_KEPT)
        self._flights: SingleFlight[Confirmed] = SingleFlight()
        self._away = _Trouble()
        self._odd: BoundedMap[_Account, _Trouble] = BoundedMap(_MOST_KEPT)
        name = f"accounts cannot be confirmed at {self._api}, so nobody can act of whom it was asked"
        self._failing = Disturbance(log, name, calm_s=0)

    async def newest(self, member: Member, moment: int, now: int) -> Confirmed:
        """The account of a member that was confirmed at `moment`; asks the wiki again if that is over an hour ago.

        Both moments are in Unix time. Raises Problem if the wiki does not answer.
        """
        known = self._known.get(_account(member))
        newest = known if known is not None and known.moment >= moment else Confirmed(member, moment)
        if -_CLOCKS_S <= now - newest.moment <= FRESH_S:
            return newest
        return await self._asked(member, now)

    async def at_sign_in(self, member: Member, now: int) -> Member:
        """The member who signs in, as to be kept. OAuth calls people blocked who are so on some wiki only; the API
        knows better, if it answers."""
        # The answer of OAuth is newer than what is known of them here.
        self._known.take(_account(member))
        if not member.blocked:
            return member
        try:
            return (await self._asked(member, now)).member or member
        except Problem:
            return member

    async def close(self) -> None:
        """Breaks off what is under way."""
        await self._flights.close()

    async def _asked(self, member: Member, now: int) -> Confirmed:
        async with aside():
            return await self._flights.result(_account(member), lambda: self._ask(member, now))

    async def _ask(self, member: Member, now: int) -> Confirmed:
        if not self._api or self._client is None:
            return Confirmed(None, now)
        odd = self._odd.get(_account(member)) or _Trouble()
        self._require_pause_over(self._away)
        self._require_pause_over(odd)
        try:
            reply = await send_request(
                self._client,
                hdrs.METH_GET,
                self._api,
                params=query_of(member),
                user_agent=self._user_agent,
                timeout_s=self._timeout_s,
            )
        except FAILURES as error:
            raise self._failed(self._away, failure_words(error)) from None
        if reply.is_busy:
            raise self._failed(self._away, f"status {reply.status}", least_s=reply.retry_s)
        try:
            confirmed = Confirmed(member_in(reply.as_object(), member), now)
        except ValueError as error:
            # Perhaps of this account alone: the questions about others go on.
            self._odd[_account(member)] = odd
            raise self._failed(odd, str(error)) from None
        self._succeeded(member)
        self._known[_account(member)] = confirmed
        return confirmed

    def _require_pause_over(self, trouble: _Trouble) -> None:
        if (wait_s := trouble.until - monotonic()) > 0:
            raise Problem(503, "provider", retry_s=ceil(wait_s))

    def _failed(self, trouble: _Trouble, why: str, *, least_s: float = 0.0) -> Problem:
        pause_s = max(trouble.pause.grown_s(), min(least_s, _LONGEST_PAUSE_S))
        trouble.until = monotonic() + pause_s
        self._failing.met(why)
        return Problem(503, "provider", retry_s=ceil(pause_s))

    def _succeeded(self, member: Member) -> None:
        self._away = _Trouble()
        self._odd.take(_account(member))
        self._failing.passed()


def _account(member: Member) -> _Account:
    """The key of a request to the wiki: an old name of the same person is another account."""
    return member.subject, member.name
