"""The robots.txt of origins, fetched when first asked for and remembered for a day (C-15, RFC 9309 §2.4).

One law: many who ask at once for the same one cost one request, and what is remembered has a bound.
"""

from time import monotonic
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from weboid.core.observe.robots import NOTHING, UNREACHED, Robots, robots_of
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.single_flight import SingleFlight
from weboid.net.fetch import Turn, fetch_answer
from weboid.net.outbound import Outbound

KEPT_S: Final = 86_400.0
KEPT_SILENT_S: Final = 3_600.0
"""Who could not answer is asked again sooner: it may have been we who were down."""
ORIGINS: Final = 50_000
"""Origins remembered at the most; the longest unused are forgotten first. A real one takes a kilobyte or two …"""
CHARS: Final = 2**25
"""… and all together this many characters of rules, if files are as large as they may be."""


class _Known(NamedTuple):
    robots: Robots
    end: float


async def fetch_robots(session: Outbound, url: str, *, turn: Turn) -> Robots:
    """The rules of the origin of an http or https URL: of the first `body_bytes` of its file, redirects followed.

    Raises what `turn` does, and what is a fault of ours.
    """
    answer = await fetch_answer(session, f"{_origin(url)}/robots.txt", turn=turn, get_only=True)
    return robots_of(answer.code, answer.body, is_cut=len(answer.body) >= session.settings.body_bytes)


class RobotsCache:
    """The rules of the origins asked about lately."""

    def __init__(self, session: Outbound, turn: Turn) -> None:
        self._session = session
        self._turn = turn
        # Whatever its rules, an origin counts as its share of the memory: so there is a bound of their number, too.
        share = CHARS // ORIGINS
        self._known: BoundedMap[str, _Known] = BoundedMap(CHARS, weigh=lambda known: max(share, known.robots.chars))
        self._fetches: SingleFlight[Robots] = SingleFlight()

    def __len__(self) -> int:
        """How many origins are remembered."""
        return len(self._known)

    async def robots_of(self, url: str) -> Robots:
        """The rules that hold for a URL; raises what `turn` does, and what is a fault of ours."""
        origin = _origin(url)
        if (known := self._known.use(origin)) and known.end > monotonic():
            return known.robots
        return await self._fetches.result(origin, lambda: self._fetched(origin))

    async def _fetched(self, origin: str) -> Robots:
        robots = await fetch_robots(self._session, origin, turn=self._turn)
        kept_s = KEPT_SILENT_S if robots in (NOTHING, UNREACHED) else KEPT_S
        self._known[origin] = _Known(robots, monotonic() + kept_s)
        return robots


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
