"""Fetches the robots.txt of origins and caches its rules for a day (C-15, RFC 9309 §2.4).

``core/observe/robots`` parses the files.
"""

from functools import partial
from operator import attrgetter
from time import monotonic
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from weboid.core.observe.robots import NOTHING, UNREACHED, Robots, robots_of
from weboid.core.observe.scheme_switch import BAD_CERTIFICATES
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.single_flight import SingleFlight
from weboid.net.fetch import Turn, fetch_answer
from weboid.net.outbound import Outbound

KEPT_S: Final = 86_400.0
KEPT_SILENT_S: Final = 3_600.0
"""An origin that could not answer is requested again sooner: our own connection may have been down."""
ORIGINS: Final = 50_000
"""Origins in the cache, at most; the least recently used are dropped first. A real one takes a kilobyte or two …"""
CHARS: Final = 2**25
"""… and all together this many characters of rules, if files are as large as allowed."""


class _Known(NamedTuple):
    robots: Robots
    end: float
    weight: int
    """At least an origin's share of the memory, so that the number of origins is bounded, too."""


async def fetch_robots(session: Outbound, url: str, *, turn: Turn) -> Robots:
    """The rules of the origin of an http or https URL, by the first `body_bytes` of its file; redirects are followed.

    They hold behind a bad certificate as well. Raises what `turn` raises, and errors of our own.
    """
    file = f"{_origin(url)}/robots.txt"
    answer = await fetch_answer(session, file, turn=turn, get_only=True)
    if answer.fault in BAD_CERTIFICATES:
        answer = await fetch_answer(session, file, turn=turn, get_only=True, trusting=True)
    return robots_of(answer.code, answer.body, is_cut=len(answer.body) >= session.settings.body_bytes)


class RobotsCache:
    def __init__(self, session: Outbound, turn: Turn) -> None:
        self._session = session
        self._turn = turn
        self._known: BoundedMap[str, _Known] = BoundedMap(CHARS, weigh=attrgetter("weight"))
        self._fetches: SingleFlight[Robots] = SingleFlight()

    def __len__(self) -> int:
        return len(self._known)

    def knows(self, url: str) -> bool:
        """Returns whether the rules that apply to a URL are in the cache."""
        known = self._known.get(_origin(url))
        return known is not None and known.end > monotonic()

    async def robots_of(self, url: str) -> Robots:
        """The rules that apply to a URL; raises what `turn` raises, and errors of our own."""
        origin = _origin(url)
        if (known := self._known.use(origin)) and known.end > monotonic():
            return known.robots
        return await self._fetches.result(origin, partial(self._fetched, origin))

    async def _fetched(self, origin: str) -> Robots:
        robots = await fetch_robots(self._session, origin, turn=self._turn)
        kept_s = KEPT_SILENT_S if robots in (NOTHING, UNREACHED) else KEPT_S
        self._known[origin] = _Known(robots, monotonic() + kept_s, max(CHARS // ORIGINS, robots.chars))
        return robots


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
