"""The robots.txt of each origin of a run: what may be loaded, how fast, and which sitemaps there are."""

import asyncio
from dataclasses import replace
from typing import Final, NamedTuple

from weboid.core.observe.observation import RawResponse
from weboid.core.observe.robots import EVERYTHING, FILE_BYTES, Robots, named_delay_of, robots_of, sitemaps_of
from weboid.core.url.urls import Url
from weboid.net.exchange import Sending
from weboid.net.fetch import Single, Turn, fetch_answer
from weboid.net.outbound import Outbound

_Origin = tuple[str, str, int]

WEB: Final = ("http://", "https://")
_HOPS: Final = 6
"""Requests for one file: RFC 9309 has at least five redirects followed."""


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
    """Asks each origin once, in its turn."""

    def __init__(self, turn: Turn = at_once) -> None:
        self._turn = turn
        self._tasks: dict[_Origin, asyncio.Task[SiteRules]] = {}

    def known(self, url: Url) -> SiteRules | None:
        """The rules for a URL, if they are there."""
        task = self._tasks.get(url[:3])
        return task.result() if task and task.done() and not task.exception() else None

    async def of(self, url: Url, session: Outbound, single: Single) -> SiteRules:
        """The rules for a URL; raises errors of our own."""
        origin = url[:3]
        if origin not in self._tasks:
            self._tasks[origin] = asyncio.create_task(_fetched(str(url._replace(path="")), session, single, self._turn))
        return await asyncio.shield(self._tasks[origin])


async def fetch_file(session: Outbound, url: str, single: Single, turn: Turn = at_once) -> RawResponse | None:
    """The answer for a file that is for robots, behind a few redirects; None if they lead nowhere in the web."""
    for _ in range(_HOPS):
        answer = await fetch_answer(session, url, turn=turn, get_only=True, single=single)
        if not answer.hops:
            return answer
        url, single = answer.hops[0].location, replace(single, headers={})  # what is secret goes no further
        if not url.startswith(WEB):
            break
    return None


async def _fetched(origin: str, session: Outbound, single: Single, turn: Turn) -> SiteRules:
    terms = Single(single.headers, lambda _: FILE_BYTES + 1, single.most_s)
    if (answer := await fetch_file(session, f"{origin}/robots.txt", terms, turn)) is None:
        return SiteRules(EVERYTHING)
    robots = robots_of(answer.code, answer.body, is_cut=len(answer.body) > FILE_BYTES)
    body = answer.body if answer.code and 200 <= answer.code <= 299 else b""
    return SiteRules(robots, named_delay_of(body), sitemaps_of(body))
