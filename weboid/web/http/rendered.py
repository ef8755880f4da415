"""Answers that are the same for everybody, and are rendered at most once a second (O-8).

Some take 10 ms of the event loop: a crowd that asked for them without pause would hold up everybody else.
"""

import asyncio
from collections.abc import Hashable
from typing import Final

from weboid.mechanism.bounded import BoundedMap
from weboid.web.http.respond import SharedBody, body_of

KEPT_S = 1.0
_MOST_BYTES: Final = 8 << 20


class Rendered:
    """Bodies by all that they depend on but the time; the least recently used ones are dropped first."""

    def __init__(self) -> None:
        self._kept: BoundedMap[Hashable, tuple[float, SharedBody]] = BoundedMap(_MOST_BYTES, weigh=_weight_of)

    def find(self, key: Hashable) -> SharedBody | None:
        """The body with this key; None if there is none that is young enough."""
        found = self._kept.use(key)
        return found[1] if found is not None and asyncio.get_running_loop().time() < found[0] + KEPT_S else None

    def keep(self, key: Hashable, text: str | bytes) -> SharedBody:
        """Keeps what has just been rendered, and returns it."""
        body = body_of(text)
        self._kept[key] = asyncio.get_running_loop().time(), body
        return body


def _weight_of(kept: tuple[float, SharedBody]) -> int:
    # Compressed it takes less than half of that, in either coding.
    return 2 * len(kept[1].data) + 1_000
