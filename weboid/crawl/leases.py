"""The leases of a round: its buckets are leased, renewed during the round, and given back."""

import asyncio
import logging
from collections.abc import Callable, Collection

from weboid.core.record.moment import Moment
from weboid.errors import StoreAway
from weboid.remote.crawl.work import Work

log = logging.getLogger(__name__)


class Leases:
    """One worker's buckets, each with its epoch. `lost` is called with each bucket that was taken over."""

    def __init__(self, work: Work, *, lease_s: float, lost: Callable[[int], None]) -> None:
        self._work = work
        self._lease_s = lease_s
        self._lost = lost
        self.held: dict[int, int] = {}
        """The buckets held now, with their epochs; the same mapping changes during the round."""
        self._leaving: Collection[int] = ()
        """Buckets that are being given back: the next worker that leases them has not taken them over."""

    async def add(self, until: Moment) -> bool:
        """Leases more buckets with hosts due by then; returns whether there were any. Raises StoreError."""
        leased = await self._work.lease(until)
        self.held.update(leased)
        return bool(leased)

    async def release_all_but(self, busy: Collection[int] = ()) -> None:
        """Gives back all buckets but those in `busy`; raises StoreError."""
        done = {bucket: epoch for bucket, epoch in self.held.items() if bucket not in busy}
        if done:
            self._leaving = done
            try:
                await self._work.release(done)
            finally:
                self._leaving = ()
        for bucket in done:
            del self.held[bucket]

    async def keep(self) -> None:
        """Renews the leases at every third of their time, until cancelled."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            held = dict(self.held)
            try:
                ours = await self._work.renew(held)
            except StoreAway as error:
                log.debug("leases not renewed: %s", error)
                continue
            for bucket in held.keys() - ours:
                if self.held.get(bucket) == held[bucket] and bucket not in self._leaving:
                    log.warning("bucket %d was taken over by another worker", bucket)
                    del self.held[bucket]
                    self._lost(bucket)
