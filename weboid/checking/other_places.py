"""Compares an answer with those of other places of its host: its front page, or a made-up URL (C-11, D-2)."""

from collections.abc import Awaitable, Callable, Collection
from typing import Final

from weboid.core.observe.failing_codes import FrontPage, calls_for_front, front_of, front_suspicion, is_other, may_show
from weboid.core.observe.observation import RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.url.made_up import probes_of
from weboid.core.url.urls import Url, front_page, parse_again
from weboid.mechanism.bounded import BoundedMap

_FRONTS: Final = 1_000
"""Front pages that are kept, …"""
_FRONT_S: Final = 600.0
"""… and for so long: they must show how the host answers now."""
_TINY: Final = 1_024
"""A document of fewer bytes is the picture of a wall, or of nothing."""


class OtherPlaces:
    """Front pages as they were answered lately. `ask` gives the answer of a URL as browsers ask, None if it cannot be
    asked now; with True whatever its certificate is. `may_look` says whether robots.txt permits a look at a URL.
    """

    def __init__(
        self,
        ask: Callable[[str, bool], Awaitable[RawResponse | None]],
        may_look: Callable[[str], Awaitable[bool]],
        now: Callable[[], float],
    ) -> None:
        self._ask = ask
        self._may_look = may_look
        self._now = now
        self._fronts: BoundedMap[tuple[str, bool], tuple[float, FrontPage]] = BoundedMap(_FRONTS)

    async def suspicion(
        self, answer: RawResponse, shown: RawResponse | None, others: Collection[int], *, trusting: bool
    ) -> Suspicion | None:
        """The suspicion against a failing code, by other places of the host that answered; None = it counts.

        `shown` is the answer to a browser's headers, None if there is none: a 404 is what counts then. `others`
        are the codes of watched URLs of the host that was asked, `trusting` whether it was asked whatever its
        certificate is.
        """
        if shown is not None and await self._is_page(shown, trusting):
            return Suspicion(Reason.SOFT_404, ("document",))
        if shown is not None and shown.code == 404:
            answer = shown
        if not calls_for_front(answer):
            return None
        place = parse_again(answer.final)
        root = front_page(place)
        if place.host != parse_again(answer.url).host:
            others = ()
        return front_suspicion(answer, None if root == place else await self._front(str(root), trusting), others)

    async def _is_page(self, answer: RawResponse, trusting: bool) -> bool:
        """True if the document of a failing code is the page itself: a made-up URL next to it has another one."""
        if not may_show(answer) or not await self._may_look(answer.final):
            return False
        place = parse_again(answer.final)
        if (probes := probes_of(place)) is None or not _is_next_to(place, probes.near.url):
            return False
        other = await self._ask(str(probes.near.url), trusting)
        return other is not None and is_other(answer, other)

    async def _front(self, *root: *tuple[str, bool]) -> FrontPage | None:
        known = self._fronts.use(root)
        if known and self._now() - known[0] <= _FRONT_S:
            return known[1]
        if (asked := await self._ask(*root)) is None:
            return None
        front = front_of(asked, observation_of(asked, read_body=False))
        self._fronts[root] = self._now(), front
        return front

    async def is_own(self, url: Url, answer: RawResponse) -> bool:
        """True if the document of a refusal is that of the URL: another place of the host has another one (U-5)."""
        if len(answer.body) < _TINY:
            return False
        probes = probes_of(url)
        other = await self._ask(str(probes.near.url if probes else front_page(url)), False)
        return other is not None and other.body != answer.body


def _is_next_to(place: Url, other: Url) -> bool:
    """True if two URLs are in the same part of a site, which may have a page of its own for what is missing."""
    one, two = place.path.split("/"), other.path.split("/")
    return len(one) == 2 or one[1] == two[1]
