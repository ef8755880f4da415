"""The robots.txt of origins, fetched when first asked for and remembered for a day (C-15, RFC 9309 §2.4).

One law: many who ask at once for the same one cost one request.
"""

import asyncio
from collections import OrderedDict
from time import monotonic
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from weboid.core.robots import Robots, robots_of
from weboid.net.fetch import Turn, fetch_answer
from weboid.net.session import Session

KEPT_S: Final = 86_400.0
ORIGINS: Final = 20_000
"""Origins remembered at the most; the longest unused are forgotten first."""


class _Known(NamedTuple):
    robots: Robots
    end: float


async def fetch_robots(session: Session, url: str, *, turn: Turn) -> Robots:
    """The rules of a URL's origin: of the first `body_bytes` of its file, redirects followed as for any page."""
    answer = await fetch_answer(session, f"{_origin(url)}/robots.txt", turn=turn, get_only=True)
    return robots_of(answer.code, answer.body)


class RobotsCache:
    """The rules of the origins asked about lately."""

    def __init__(self, session: Session, turn: Turn) -> None:
        self._session = session
        self._turn = turn
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[Robots]] = {}

    async def robots_of(self, url: str) -> Robots:
        """The rules that hold for a URL; raises what `turn` does, and what is a fault of ours."""
        origin = _origin(url)
        if (known := self._known.get(origin)) and known.end > monotonic():
            self._known.move_to_end(origin)
            return known.robots
        task = self._asking.get(origin)
        if task is None:
            task = self._asking[origin] = asyncio.create_task(self._fetched(origin))
            task.add_done_callback(lambda _: self._asking.pop(origin, None))
        # Shielded: whoever gives up must not end it for the others.
        return await asyncio.shield(task)

    async def _fetched(self, origin: str) -> Robots:
        robots = await fetch_robots(self._session, origin, turn=self._turn)
        self._known[origin] = _Known(robots, monotonic() + KEPT_S)
        self._known.move_to_end(origin)
        if len(self._known) > ORIGINS:
            self._known.popitem(last=False)
        return robots


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
