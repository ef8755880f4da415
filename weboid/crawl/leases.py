"""The leases of a round: its buckets are leased, renewed during the round, and given back, also while others wait."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from time import monotonic
from typing import Final

from weboid.core.record.moment import Moment
from weboid.crawl.shares import Waiting
from weboid.errors import StoreAway
from weboid.remote.crawl.work import Work

log = logging.getLogger(__name__)

_SHARE_S: Final = 1.0
"""Seconds after which a worker looks again how many buckets are its share."""
_GIVE_S: Final = 0.25
"""Buckets whose visits end within so many seconds are given back together."""
_SPARED: Final = 8
"""A surplus of an eighth of the share is kept: what is given back rests for a moment."""


class Leases:
    """One worker's buckets, each with its epoch. `lost` is called with each bucket that was taken over.

    `more` is called when there are free buckets that would be this worker's share.
    """

    def __init__(
        self, work: Work, *, lease_s: float, lost: Callable[[int], None], more: Callable[[], None] = lambda: None
    ) -> None:
        self._work = work
        self._lease_s = lease_s
        self._lost = lost
        self._more = more
        self.held: dict[int, int] = {}
        """The buckets held now, with their epochs; the same mapping changes during the round."""
        self.leaving: frozenset[int] = frozenset()
        """Buckets that others are to have: given back when no visit is under way there."""

    async def add(self, until: Moment) -> bool:
        """Leases more buckets with hosts due by then; returns whether there were any. Raises StoreError."""
        leased = await self._work.lease(until)
        self.held.update(leased)
        return bool(leased)

    def may_visit(self, waiting: Waiting) -> bool:
        """Returns whether a visit to this host may begin."""
        return self.held.get(bucket := waiting.host.key.bucket) == waiting.epoch and bucket not in self.leaving

    async def release_all_but(self, busy: Collection[int] = ()) -> None:
        """Gives back all buckets but those in `busy`; raises StoreError."""
        await self._release(self.held.keys() - set(busy))

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
                if self.held.get(bucket) == held[bucket]:
                    log.warning("bucket %d was taken over by another worker", bucket)
                    del self.held[bucket]
                    self._lost(bucket)

    async def share(self, until: Callable[[], Moment], visited: Callable[[], Collection[int]]) -> None:
        """Gives back what is more than this worker's share while others wait for it, until cancelled.

        Buckets that are `visited` come last, and are given back when their visits have ended.
        """
        looked = monotonic()
        while True:
            await asyncio.sleep(_GIVE_S)
            try:
                if monotonic() - looked >= _SHARE_S:
                    looked = monotonic()
                    await self._look(until(), visited)
                await self._release(self.leaving - set(visited()))
            except StoreAway as error:
                log.debug("leases not shared: %s", error)

    async def _look(self, until: Moment, visited: Callable[[], Collection[int]]) -> None:
        share = await self._work.find_share(until)
        if share.free and len(self.held) < share.most:
            self._more()
        surplus = len(self.held) - share.most - share.free
        if surplus <= share.most // _SPARED:
            surplus = 0
        open_now = set(visited())
        order = sorted(self.held, key=lambda held: (held not in self.leaving, held in open_now)) if surplus else []
        self.leaving = frozenset(order[:surplus])

    async def _release(self, buckets: Iterable[int]) -> None:
        """Gives back some of the buckets held, in one call. From now on none of them is this worker's."""
        done = {bucket: self.held.pop(bucket) for bucket in buckets if bucket in self.held}
        self.leaving -= done.keys()
        if not done:
            return
        try:
            await self._work.release(done)
        except StoreAway:
            for bucket, epoch in done.items():
                self.held.setdefault(bucket, epoch)
            raise
