"""Keeps the faces of hosts during a run that has no store: for ``weboid check`` and ``weboid page`` (C-11).

One law: what is learned about a host is learned by one check at a time, so that no answer is asked for twice.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from weboid.core.document.face import NO_FACE, Face
from weboid.mechanism.bounded import BoundedMap

HOSTS: Final = 20_000
"""Hosts that are remembered, at most; the least recently used are dropped first. One takes a kilobyte or two."""


@dataclass(slots=True)
class KeptFace:
    """The face of one host, to be changed only by who holds its lock."""

    face: Face = NO_FACE
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class FaceMemory:
    """The faces of recently checked hosts."""

    def __init__(self, most: int = HOSTS) -> None:
        self._hosts: BoundedMap[str, KeptFace] = BoundedMap(most)

    def __len__(self) -> int:
        """How many hosts are remembered."""
        return len(self._hosts)

    @asynccontextmanager
    async def kept(self, host: str) -> AsyncIterator[KeptFace]:
        """The face of a host, for one check at a time."""
        if (known := self._hosts.use(host)) is None:
            known = self._hosts[host] = KeptFace()
        async with known.lock:
            yield known
