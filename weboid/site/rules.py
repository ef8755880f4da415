"""The robots.txt of each origin of a run: what may be loaded, how fast, and which sitemaps there are."""

import asyncio
from typing import Final, NamedTuple

from weboid.core.observe.robots import EVERYTHING, FILE_BYTES, Robots, named_delay_of, robots_of, sitemaps_of
from weboid.core.url.urls import Url
from weboid.net.exchange import Sending
from weboid.net.fetch import Single, fetch_answer
from weboid.net.outbound import Outbound

_Origin = tuple[str, str, int]


WEB: Final = ("http://", "https://")


class SiteRules(NamedTuple):
    """The rules of one robots.txt."""

    robots: Robots
    named_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """True if a URL may be loaded; who does not answer at all has forbidden nothing."""
        return not self.robots.is_reached or self.robots.allows(url)


async def at_once(host: str) -> Sending | None:
    """A turn for requests whose pauses are kept by the robot."""


class RulesOfOrigins:
    """Asks each origin once."""

    def __init__(self) -> None:
        self._tasks: dict[_Origin, asyncio.Task[SiteRules]] = {}
        self._known: dict[_Origin, SiteRules] = {}

    def known(self, url: Url) -> SiteRules | None:
        """The rules for a URL, if they are there."""
        return self._known.get(url[:3])

    async def of(self, url: Url, session: Outbound, single: Single) -> SiteRules:
        """The rules for a URL; raises errors of our own."""
        origin = url[:3]
        if (known := self._known.get(origin)) is None:
            if origin not in self._tasks:
                self._tasks[origin] = asyncio.create_task(_fetched(str(url._replace(path="")), session, single))
            known = self._known[origin] = await asyncio.shield(self._tasks[origin])
        return known


async def _fetched(origin: str, session: Outbound, single: Single) -> SiteRules:
    terms = Single(single.headers, lambda _: FILE_BYTES + 1, single.most_s)
    answer = await fetch_answer(session, f"{origin}/robots.txt", turn=at_once, get_only=True, single=terms)
    if answer.hops:  # what is secret goes no further
        if not answer.hops[0].location.startswith(WEB):
            return SiteRules(EVERYTHING)
        answer = await fetch_answer(session, answer.hops[0].location, turn=at_once, get_only=True)
    robots = robots_of(answer.code, answer.body, is_cut=len(answer.body) > FILE_BYTES)
    is_file = answer.code is not None and 200 <= answer.code <= 299
    body = answer.body if is_file else b""
    return SiteRules(robots, named_delay_of(body), sitemaps_of(body))
