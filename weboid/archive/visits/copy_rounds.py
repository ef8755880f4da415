"""All visits to copies, one of the works of ``weboid archive``: kept snapshots, then copies that pages cite (A-3)."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Final

from weboid.archive.service.client import ArchiveClient
from weboid.archive.service.replays import Replays
from weboid.archive.visits.cited_rounds import CitedRounds, CitedTally
from weboid.archive.visits.snapshot_rounds import SnapshotRounds, VisitTally
from weboid.core.archive.services import ArchiveService
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT, Policy
from weboid.mechanism.patience import sweep_until_stopped
from weboid.store.db.pool import Pool

log = logging.getLogger(__name__)

_PAUSE_S: Final = 60.0


class CopyRounds:
    """One worker's visits; `now` is called for each, `stopped` ends them in order.

    With `allow_many`, an operator's word, nothing is held back however much fails (U-8). With `waits`, the visits of a
    day to cited copies begin at its hour.
    """

    def __init__(
        self,
        pool: Pool,
        client: ArchiveClient,
        services: Iterable[ArchiveService],
        *,
        now: Callable[[], Moment],
        stopped: asyncio.Event,
        policy: Policy = DEFAULT,
        allow_many: bool = False,
        waits: bool = False,
    ) -> None:
        self.snapshots = VisitTally()
        self.cited = CitedTally()
        self._stopped = stopped
        replays = Replays(client, services)
        self._snapshots = SnapshotRounds(pool, replays, now=now, stopped=stopped, policy=policy, allow_many=allow_many)
        self._cited = CitedRounds(
            pool, replays, self._snapshots, now=now, stopped=stopped, policy=policy, allow_many=allow_many, waits=waits
        )

    async def run(self) -> None:
        await sweep_until_stopped(self.sweep, self._stopped, what="visits to copies", log=log, idle_s=_PAUSE_S)

    async def sweep(self) -> None:
        """Visits all that are due; ends early if stopped. Raises StoreError."""
        self.snapshots = await self._snapshots.sweep()
        self.cited = await self._cited.sweep()

    @property
    def summary(self) -> str:
        """The newest sweep's counts, for an operator; empty if there was nothing to do."""
        found, cited = self.snapshots, self.cited
        parts = []
        if found.visited:
            counts = (f"{count} {name}" for name, count in asdict(found).items() if count and name != "visited")
            parts.append(f"{found.visited} kept copies visited: {', '.join(counts)}")
        if cited.visited:
            held = f", {cited.held} held, since their archive is at fault" if cited.held else ""
            parts.append(f"{cited.visited} cited copies visited{held}")
        return "; ".join(parts)
