"""The work of a round, read directly from the store and written to it.

What is written together, and in which order, is decided in ``store/results``.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Final

from weboid.central.crawl.core import Paces
from weboid.central.lending import Lender
from weboid.config import CrawlConfig
from weboid.core.record.moment import Moment
from weboid.core.record.pace import policy_at, policy_of_big_host
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.errors import StoreAway
from weboid.store.db.anew import all_begun_anew
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked, Tally, record_batch
from weboid.store.schedule.day_total import DayFigure, record_totals
from weboid.store.schedule.lease import (
    Held,
    count_due_buckets,
    find_free_day,
    is_due,
    lease_buckets,
    record_release,
    record_renewal,
)
from weboid.store.schedule.pace import find_pace, list_big_hosts, record_checked
from weboid.store.urls.check import record_next_days
from weboid.store.urls.lock import lock_hosts
from weboid.store.urls.url import count_due, list_canaries, list_due_hosts, list_due_urls

log = logging.getLogger(__name__)

_LEASED_AT_ONCE: Final = 512
_NOTING_S: Final = 60.0
_OUTCOMES: Final = {
    Outcome.WORKING: DayFigure.WORKING,
    Outcome.DOUBTFUL: DayFigure.DOUBTFUL,
    Outcome.REFUSED: DayFigure.REFUSED,
    Outcome.FAILING: DayFigure.FAILING,
}
_PACES_S: Final = 300.0


@all_begun_anew
class StoreWork:
    """Work read directly from the store and written to it."""

    def __init__(self, pool: Lender, worker: str, config: CrawlConfig, policy: Policy) -> None:
        self._pool = pool
        self._worker = worker
        self._config = config
        self._policy = policy
        self._checked: dict[int, int] = {}
        self._totals: Counter[tuple[int, DayFigure]] = Counter()
        self._noted_at = monotonic()
        self._paces: tuple[float, Paces] | None = None

    async def count_due(self, until: Moment, limit: int) -> int:
        """About how many URLs are due by then, `limit` at most; 0 if there is nothing to do."""
        async with self._pool.connection() as conn:
            await require_scheme(conn)  # There may have been a rekey since the last round (O-10).
            if not await is_due(conn, until):
                return 0
            # A host can be due without a due URL: that is put right by a round.
            return max(await count_due(conn, until.day, limit=limit), 1)

    async def list_canaries(self, limit: int) -> Sequence[str]:
        """URLs that were fine when they were last checked (C-16)."""
        async with self._pool.connection() as conn:
            return await list_canaries(conn, limit=limit)

    async def lease(self, until: Moment) -> Held:
        """Some buckets with hosts due by then, from now on this worker's; none = there are no more."""
        lease_s, rest_s = self._config.lease_s, self._config.delay
        async with self._pool.connection() as conn:
            return await lease_buckets(
                conn, self._worker, until=until, limit=_LEASED_AT_ONCE, lease_s=lease_s, rest_s=rest_s
            )

    async def renew(self, held: Held) -> set[int]:
        """Keeps these buckets for as long again; returns those that still are this worker's."""
        async with self._pool.connection() as conn:
            return await record_renewal(conn, self._worker, held, lease_s=self._config.lease_s)

    async def release(self, held: Held) -> None:
        """Gives buckets back."""
        async with self._pool.connection() as conn:
            await record_release(conn, self._worker, held)
        await self.note_checked()

    async def count_due_buckets(self, until: Moment) -> int:
        """How many buckets have hosts due by then, whoever holds them."""
        async with self._pool.connection() as conn:
            return await count_due_buckets(conn, until)

    async def list_hosts(
        self, buckets: Collection[int], *, until: Moment, but: Sequence[HostKey], limit: int
    ) -> Sequence[StoredHost]:
        """Hosts of these buckets that are due by then, oldest first, without those in `but` (C-3).

        None that waits in a bucket that nobody holds has been due for longer: such buckets come first (D-105).
        """
        async with self._pool.connection() as conn:
            first = await find_free_day(conn, until, rest_s=self._config.delay)
            if first is not None and first < until.day:
                until = Moment(first)
            return await list_due_hosts(conn, list(buckets), until=until, beside=but, limit=limit)

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        """The URLs of these hosts that are due by `day`, so many a host as one visit may have."""
        async with self._pool.connection() as conn:
            urls = await list_due_urls(conn, hosts, day=day, per_host=self._config.per_host)
            # They are due without a due URL: there is nothing to check, but their next day must be computed anew.
            idle = [host for host, due in urls.items() if not due]
            await lock_hosts(conn, idle)
            await record_next_days(conn, sorted(idle))
        return urls

    async def record(self, batch: Sequence[Checked], held: Held) -> Tally:
        """Takes the results of checks, but for buckets that are no longer this worker's."""
        async with self._pool.connection() as conn:
            tally = await record_batch(conn, self._worker, batch, held, self._policy)
        day = max(checked.day for checked in batch)
        self._checked[day] = self._checked.get(day, 0) + tally.written - tally.inferred
        for checked in batch:
            if checked.seen is not None:
                self._totals[checked.day, _OUTCOMES[checked.seen.outcome]] += 1
                self._totals[checked.day, DayFigure.INFERRED] += checked.seen.inferred
                self._totals[checked.day, DayFigure.HELD] += checked.seen.held
        if monotonic() - self._noted_at > _NOTING_S:
            await self.note_checked()
        return tally

    async def find_paces(self) -> Paces:
        """By which policy the URLs of each host are judged, as it was found some minutes ago at the most."""
        if self._paces is None or monotonic() - self._paces[0] > _PACES_S:
            async with self._pool.connection() as conn:
                pace, big = await find_pace(conn), await list_big_hosts(conn)
            usual = policy_at(self._policy, pace.interval) if pace else self._policy
            of_hosts = {host.key: policy_of_big_host(usual, host.days) for host in big}
            self._paces = monotonic(), Paces(usual, of_hosts)
        return self._paces[1]

    async def note_checked(self) -> None:
        """Adds what was checked to the store's numbers; if that fails, the next time."""
        self._noted_at = monotonic()
        checked, self._checked = self._checked, {}
        totals, self._totals = self._totals, Counter()
        try:
            async with self._pool.connection() as conn:
                await record_checked(conn, {day: urls for day, urls in checked.items() if urls > 0})
                await record_totals(conn, totals)
        except StoreAway as error:
            log.debug("it was not noted how many URLs were checked: %s", error)
            for day, urls in checked.items():
                self._checked[day] = self._checked.get(day, 0) + urls
            self._totals.update(totals)
