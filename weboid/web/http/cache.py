"""A cache of answers for ten minutes: those to callers that name the revision of the page (W-10).

One law: the key of an answer holds all that the answer depends on; number and size of the answers are bounded.
"""

import asyncio
from collections.abc import Hashable
from typing import Final, NamedTuple

from aiohttp import web

from weboid.mechanism.bounded import BoundedMap

FREE: Final = web.RequestKey("free", bool)
"""Set on a request that was answered from the cache; it counts against no limit."""

KEPT_S: Final = 600
CACHE_CONTROL: Final = f"public, max-age={KEPT_S}"
_MOST_BYTES: Final = 32 << 20
_OVERHEAD: Final = 1_000
"""Bytes that an entry takes in addition to its body, roughly."""


class _Entry(NamedTuple):
    made_s: float
    body: bytes


class AnswerCache:
    """Bodies of answers by key; the least recently used ones are dropped first."""

    def __init__(self, *, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._entries: BoundedMap[Hashable, _Entry] = BoundedMap(
            most_bytes, weigh=lambda entry: len(entry.body) + _OVERHEAD
        )

    def find(self, key: Hashable) -> tuple[bytes, int] | None:
        """The body with this key and its age in seconds; None if there is none that is young enough."""
        if (entry := self._entries.use(key)) is None:
            return None
        age_s = asyncio.get_running_loop().time() - entry.made_s
        if age_s >= KEPT_S:
            self._entries.take(key)
            return None
        return entry.body, int(age_s)

    def keep(self, key: Hashable, body: bytes) -> None:
        """Keeps a body, unless it is too large to be kept among others."""
        if len(body) > self._most_bytes // 8:
            self._entries.take(key)
        else:
            self._entries[key] = _Entry(asyncio.get_running_loop().time(), body)
