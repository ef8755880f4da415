"""A part of Weboid: a process with its database, its signals and its sign of life in the store.

What it does is its command's. One law: from the first moment on a signal to stop sets `stopped`, also while the
database is waited for.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weboid.cli.database import open_store
from weboid.cli.stopping import stop_signals
from weboid.config import Config
from weboid.store.schedule.part import PartRole

if TYPE_CHECKING:
    from weboid.store.db.pool import Pool


@dataclass(frozen=True, slots=True)
class RunningPart:
    """A running part: its pool of connections, and the event that is set when it is to stop."""

    role: PartRole
    pool: "Pool"
    stopped: asyncio.Event

    def tell(self, doing: str) -> None:
        """Says in a few words of plain text what it is doing, for the status page (O-5)."""


@asynccontextmanager
async def open_part(
    config: Config,
    role: PartRole,
    *,
    size: int,
    lasting: bool,
    statement_timeout_s: float = 0,
    idle_s: float = 120,
    wait_s: float = 30,
) -> AsyncIterator[RunningPart]:
    """Opens the store for one part, `size` connections at most; the other limits are those of `open_store`.

    A `lasting` part runs until it is stopped: it waits for a database that is away. Raises StoreError.
    """
    stopped = asyncio.Event()
    with stop_signals(stopped.set):
        async with open_store(
            config,
            size=size,
            part=role.value,
            statement_timeout_s=statement_timeout_s,
            idle_s=idle_s,
            wait_s=wait_s,
            stopped=stopped,
            waits=lasting,
        ) as pool:
            yield RunningPart(role, pool, stopped)
