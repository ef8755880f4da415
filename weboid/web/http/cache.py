"""Answers that are kept for ten minutes: those to callers who name the revision of the page (W-10).

One law: what is kept is found only by all that it was made of, and neither its number nor its size grows without end.
"""

import asyncio
from collections.abc import Hashable
from typing import Final, NamedTuple

from aiohttp import web

FREE: Final = web.RequestKey("free", bool)
"""A request that was answered from here; it counts against no limit."""

KEPT_S: Final = 600
CACHE_CONTROL: Final = f"public, max-age={KEPT_S}"
_MOST_BYTES: Final = 32 << 20
_OVERHEAD: Final = 1_000
"""Bytes that an entry takes beside its body, roughly."""


class _Entry(NamedTuple):
    made_s: float
    body: bytes


class AnswerCache:
    """Bodies by what was asked, those that nobody has asked for lately given up first."""

    def __init__(self, *, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._entries: dict[Hashable, _Entry] = {}
        self._bytes = 0

    def find(self, asked: Hashable) -> tuple[bytes, int] | None:
        """The body that answers this, and its age in seconds; None if there is none that is young enough."""
        if (entry := self._entries.get(asked)) is None:
            return None
        self._drop(asked)
        age_s = asyncio.get_running_loop().time() - entry.made_s
        if age_s >= KEPT_S:
            return None
        self._add(asked, entry)
        return entry.body, int(age_s)

    def keep(self, asked: Hashable, body: bytes) -> None:
        """Keeps a body, unless it is too large to be kept among others."""
        self._drop(asked)
        if len(body) > self._most_bytes // 8:
            return
        self._add(asked, _Entry(asyncio.get_running_loop().time(), body))
        while self._bytes > self._most_bytes:
            self._drop(next(iter(self._entries)))

    def _add(self, asked: Hashable, entry: _Entry) -> None:
        self._entries[asked] = entry
        self._bytes += len(entry.body) + _OVERHEAD

    def _drop(self, asked: Hashable) -> None:
        if (entry := self._entries.pop(asked, None)) is not None:
            self._bytes -= len(entry.body) + _OVERHEAD
