"""The leases of a round: its buckets are leased, renewed during the round, and given back.

One law: a bucket that another worker has taken over is given up before anything else is checked or written for it.
"""

import asyncio
import logging
from collections.abc import Callable, Collection

from weboid.core.record.moment import Moment
from weboid.errors import StoreAway
from weboid.remote.crawl.core import Work
from weboid.store.schedule.lease import Held

log = logging.getLogger(__name__)


class Leases:
    """One worker's buckets, each with its epoch. `lost` is called with each bucket that was taken over."""

    def __init__(self, work: Work, *, lease_s: float, lost: Callable[[int], None]) -> None:
        self._work = work
        self._lease_s = lease_s
        self._lost = lost
        self._held: dict[int, int] = {}
        self._leaving: Collection[int] = ()
        """Buckets that are being given back: whoever has them next has not taken them over."""

    @property
    def held(self) -> Held:
        """The buckets held now, with their epochs; the same mapping changes during the round."""
        return self._held

    async def add(self, until: Moment) -> bool:
        """Leases more buckets with hosts due by then; returns whether there were any. Raises StoreError."""
        leased = await self._work.lease(until)
        self._held.update(leased)
        return bool(leased)

    async def release_all_but(self, busy: Collection[int] = ()) -> None:
        """Gives back all buckets but those in `busy`; raises StoreError."""
        done = {bucket: epoch for bucket, epoch in self._held.items() if bucket not in busy}
        if done:
            self._leaving = done
            try:
                await self._work.release(done)
            finally:
                self._leaving = ()
        for bucket in done:
            del self._held[bucket]

    async def keep(self) -> None:
        """Renews the leases at every third of their time, until cancelled."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            held = dict(self._held)
            try:
                ours = await self._work.renew(held)
            except StoreAway as error:
                log.debug("leases not renewed: %s", error)
                continue
            for bucket in held.keys() - ours:
                if self._held.get(bucket) == held[bucket] and bucket not in self._leaving:
                    log.warning("bucket %d was taken over by another worker", bucket)
                    del self._held[bucket]
                    self._lost(bucket)
