"""A cache of answers for ten minutes: those to callers that name the revision of the page (W-10).

One law: the key of an answer holds all that the answer depends on; number and size of the answers are bounded.
"""

import asyncio
from collections.abc import Hashable
from typing import Final, NamedTuple

from aiohttp import web

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
        self._entries: dict[Hashable, _Entry] = {}
        self._bytes = 0

    def find(self, key: Hashable) -> tuple[bytes, int] | None:
        """The body with this key and its age in seconds; None if there is none that is young enough."""
        if (entry := self._entries.get(key)) is None:
            return None
        self._drop(key)
        age_s = asyncio.get_running_loop().time() - entry.made_s
        if age_s >= KEPT_S:
            return None
        self._add(key, entry)
        return entry.body, int(age_s)

    def keep(self, key: Hashable, body: bytes) -> None:
        """Keeps a body, unless it is too large to be kept among others."""
        self._drop(key)
        if len(body) > self._most_bytes // 8:
            return
        self._add(key, _Entry(asyncio.get_running_loop().time(), body))
        while self._bytes > self._most_bytes:
            self._drop(next(iter(self._entries)))

    def _add(self, key: Hashable, entry: _Entry) -> None:
        self._entries[key] = entry
        self._bytes += len(entry.body) + _OVERHEAD

    def _drop(self, key: Hashable) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes -= len(entry.body) + _OVERHEAD
