"""A crawler's work, next to the database or far from it (O-1).

Each method is a call: on a server it reads the store and writes to it in one transaction; on a remote crawler it is
sent (`RemoteWork`). All raise StoreAway while the store cannot be used, and a caller that tries again what
has failed so does it with the same arguments. What is written together is decided in ``store/results``.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Final

from msgspec import Meta
from msgspec.structs import replace

from weboid.config import CrawlConfig
from weboid.core.record.moment import HOURS, Moment
from weboid.core.record.pace import policy_at, policy_of_big_host
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import BUCKETS
from weboid.errors import StoreAway
from weboid.remote.crawl.sightings import Sighting, sighting_of
from weboid.remote.crawl.validation import require_valid_sightings
from weboid.remote.http.rpc import Connections, OnStore, Remote, Wire, call
from weboid.remote.http.wire import Day, LimitByScheme, up_to
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.db.transactions import all_repeated
from weboid.store.results.record import Checked, Tally, record_batch
from weboid.store.schedule.days import DayFigure, record_totals
from weboid.store.schedule.lease import (
    FairShare,
    Held,
    count_due_buckets,
    find_free_day,
    find_room,
    find_share,
    is_alone,
    is_due,
    lease_buckets,
    list_held,
    list_own,
    record_release,
    record_renewal,
)
from weboid.store.schedule.pace import find_pace, list_big_hosts, record_checked
from weboid.store.upkeep.big_death import delete_words, is_settled, weighed
from weboid.store.urls.check import record_next_days, record_rests
from weboid.store.urls.lock import lock_hosts
from weboid.store.urls.url import count_due, list_canaries, list_due_hosts, list_due_urls, list_portions

log = logging.getLogger(__name__)

MOST_CHECKS: Final = 2_000
"""Checks of one batch."""
MOST_HOSTS: Final = 256
"""Hosts whose URLs are read at once: so many have tens of thousands."""
_MOST_LISTED: Final = 100_000
_MOST_LEFT_OUT: Final = 200_000
_LEASE_S: Final = 10.0
"""Well below the time for which a domain is leased."""
_LEASED_AT_ONCE: Final = 512
_NOTING_S: Final = 60.0
_PACES_S: Final = 300.0
_REMOTE_PACES_S: Final = 60.0
_OUTCOMES: Final = {
    Outcome.WORKING: DayFigure.WORKING,
    Outcome.DOUBTFUL: DayFigure.DOUBTFUL,
    Outcome.REFUSED: DayFigure.REFUSED,
    Outcome.FAILING: DayFigure.FAILING,
}

Until = Annotated[Moment, Wire(check="require_due")]
Bucket = Annotated[int, Meta(ge=0, le=BUCKETS - 1)]
HeldBuckets = Annotated[Mapping[Bucket, Annotated[int, Meta(ge=0, le=2**63 - 1)]], Meta(max_length=BUCKETS)]
OwnBuckets = Annotated[HeldBuckets, Wire(check="require_own")]

Checks = Annotated[
    Sequence[Checked],
    Wire(
        Annotated[list[Sighting], Meta(min_length=1, max_length=MOST_CHECKS)],
        encode=lambda checks: list(map(sighting_of, checks)),
        validate=require_valid_sightings,
        check="require_days",
        resolve=lambda seen, here, _: here.judged(seen),
    ),
]
"""Checks, sent as what was seen: the server judges."""


@dataclass(frozen=True, slots=True)
class Paces:
    """The policy by which checks are judged, and those of hosts that have more URLs than fit (C-3, C-4)."""

    usual: Policy
    of_hosts: Mapping[HostKey, Policy]

    def of(self, host: HostKey) -> Policy:
        """The policy for the URLs of a host."""
        return self.of_hosts.get(host, self.usual)


@all_repeated
class Work(OnStore):
    """The work of one worker: a round uses nothing else."""

    _paces: tuple[float, Paces] | None = None

    def __init__(self, connections: Connections, worker: str, config: CrawlConfig, policy: Policy) -> None:
        super().__init__(connections)
        self.worker = worker
        self._config = config
        self._policy = policy
        self._checked: Counter[int] = Counter()
        self._totals: Counter[tuple[int, DayFigure]] = Counter()
        self._noted_at = monotonic()

    @call("count-due")
    async def count_due(self, until: Moment, limit: LimitByScheme) -> int:
        """About how many URLs are due by then, `limit` at most; 0 if there is nothing to do.

        Raises StoreError if the keys of the store are not those of this program (O-10).
        """
        async with self._connections.connection() as conn:
            await require_scheme(conn)  # There may have been a rekey since the last round (O-10).
            if not await is_due(conn, until):
                return 0
            # A host can be due without a due URL: that is put right by a round.
            return max(await count_due(conn, until.day, limit=limit), 1)

    @call("canaries")
    async def list_canaries(self, limit: Annotated[int, Meta(ge=0, le=1_000)]) -> Sequence[str]:
        """URLs that were fine when they were last checked (C-16)."""
        return await self._run(list_canaries, limit)

    @call("lease", is_once=True, fresh_s=_LEASE_S)
    async def lease(self, until: Until) -> Held:
        """Some buckets with hosts due by then, from now on this worker's, up to its share; none = there are no more."""
        lease_s, rest_s = self._config.lease_s, self._config.delay
        async with self._connections.connection() as conn:
            limit = _LEASED_AT_ONCE
            if not await is_alone(conn, self.worker):
                limit = min(await find_room(conn, self.worker, until), limit)
            if limit < 1:
                return {}
            return await lease_buckets(conn, self.worker, until=until, limit=limit, lease_s=lease_s, rest_s=rest_s)

    @call("share")
    async def find_share(self, until: Until) -> FairShare:
        """The share of this worker, for as long as it wants one, in buckets with hosts due by then."""
        return await self._run(find_share, self.worker, until)

    @call("renew")
    async def renew(self, held: OwnBuckets) -> set[int]:
        """Keeps these buckets for as long again; returns those that still are this worker's."""
        return await self._run(record_renewal, self.worker, held, lease_s=self._config.lease_s)

    @call("release")
    async def release(self, held: OwnBuckets) -> None:
        """Gives buckets back."""
        await self._run(record_release, self.worker, held)
        await self.note_checked()

    @call("count-buckets")
    async def count_due_buckets(self, until: Moment) -> int:
        """The number of buckets with hosts due by then, whichever worker holds them."""
        count = await self._run(count_due_buckets, until)
        return count or (await self._run(find_share, self.worker, until)).most  # a worker without work wants none

    @call("hosts")
    async def list_hosts(
        self,
        buckets: Annotated[Collection[Bucket], Meta(max_length=BUCKETS)],
        *,
        until: Until,
        but: Annotated[Sequence[HostKey], Meta(max_length=_MOST_LEFT_OUT)],
        limit: Annotated[int, up_to(_MOST_LISTED)],
    ) -> Sequence[StoredHost]:
        """Hosts that are due by then in this worker's own of these buckets, oldest first, without those in `but` (C-3).

        Those that were due on the same day come in random order. None that waits in a bucket that nobody holds has been
        due for longer: such buckets come first (D-105).
        """
        async with self._connections.connection() as conn:
            first = await find_free_day(conn, until, rest_s=self._config.delay)
            if first is not None and first < until.day:
                until = Moment(first, None if until.hour is None else HOURS - 1)
            own = await list_own(conn, self.worker, buckets)
            hosts = await list_due_hosts(conn, sorted(own), until=until, without=but, limit=limit)
            named = {host.key: (host.host, host.record) for host in hosts if host.record.streak.strikes}
            records = await weighed(conn, named, until.day, self._policy)
        return [replace(host, record=records[host.key]) if host.key in records else host for host in hosts]

    @call("urls")
    async def list_urls(
        self,
        hosts: Annotated[Sequence[HostKey], Meta(max_length=MOST_HOSTS)],
        day: Annotated[Day, Wire(check="require_due")],
    ) -> Mapping[HostKey, list[StoredUrl]]:
        """The URLs of these hosts that are due by `day`, so many as a visit may have; none in buckets of others."""
        async with self._connections.connection() as conn:
            own = await list_own(conn, self.worker, {host.bucket for host in hosts})
            ours = [host for host in hosts if host.bucket in own]
            urls = await list_due_urls(conn, ours, day=day, per_host=self._config.per_host)
            # They are due without a due URL: there is nothing to check, but their next day must be computed anew.
            idle = [host for host, due in urls.items() if not due]
            await lock_hosts(conn, idle)
            await record_next_days(conn, sorted(idle))
        return {host: urls.get(host, []) for host in hosts}

    @call("portions")
    async def begin_portions(
        self, hosts: Annotated[Sequence[HostKey], Meta(max_length=MOST_HOSTS)], until: Until
    ) -> Mapping[HostKey, int]:
        """The number of due URLs that the visit that now begins asks, for each of these hosts in this worker's buckets.

        A host that has others left rests until its next visit, unless the hour does not matter (D-497).
        """
        async with self._connections.connection() as conn:
            own = await list_own(conn, self.worker, {host.bucket for host in hosts})
            ours = [host for host in hosts if host.bucket in own]
            portions = await list_portions(conn, ours, until.day, most=self._config.per_host)
            resting = {host: portion for host, portion in portions.items() if portion.rest_s}
            if resting and until.hour is not None:
                await lock_hosts(conn, resting)
                await record_rests(conn, resting)
        return {host: portion.urls for host, portion in portions.items()}

    @call("record", is_once=True)
    async def record(self, checks: Checks, held: OwnBuckets) -> Tally:
        """Records the results of checks, but for buckets that are no longer this worker's."""
        async with self._connections.connection() as conn:
            tally = await record_batch(conn, self.worker, checks, held, self._policy)
            await delete_words(
                conn, {each.host.host for each in checks if is_settled(each.host_before, each.host_after, self._policy)}
            )
            if tally.lost:
                named = {bucket for checked in checks if (bucket := checked.url.key.bucket) in held}
                ours = await list_held(conn, self.worker, {bucket: held[bucket] for bucket in named})
                checks = [checked for checked in checks if checked.url.key.bucket in ours]
        day = max((checked.day for checked in checks), default=0)
        self._checked[day] += tally.written - tally.inferred
        for checked in checks:
            if checked.seen is not None:
                self._totals[checked.day, _OUTCOMES[checked.seen.outcome]] += 1
                self._totals[checked.day, DayFigure.INFERRED] += checked.seen.inferred
                self._totals[checked.day, DayFigure.HELD] += checked.seen.held
        if monotonic() - self._noted_at > _NOTING_S:
            await self.note_checked()
        return tally

    @call("paces")
    async def find_paces(self) -> Paces:
        """The policies for the URLs of each host, as they were some minutes ago at the most."""
        if self._paces is None or monotonic() - self._paces[0] > _PACES_S:
            async with self._connections.connection() as conn:
                pace, big = await find_pace(conn), await list_big_hosts(conn)
            usual = policy_at(self._policy, pace.interval) if pace else self._policy
            of_hosts = {host.key: policy_of_big_host(usual, host.days) for host in big}
            self._paces = monotonic(), Paces(usual, of_hosts)
        return self._paces[1]

    async def note_checked(self) -> None:
        """Adds what was checked to the store's numbers; if that fails, the next time."""
        self._noted_at = monotonic()
        checked, self._checked = self._checked, Counter()
        totals, self._totals = self._totals, Counter()
        try:
            async with self._connections.connection() as conn:
                await record_checked(conn, {day: urls for day, urls in checked.items() if urls > 0})
                await record_totals(conn, totals)
        except StoreAway as error:
            log.debug("it was not noted how many URLs were checked: %s", error)
            self._checked.update(checked)
            self._totals.update(totals)


class RemoteWork(Remote, Work):
    """The work of one remote worker."""

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        """Makes a call for each `MOST_HOSTS` of them."""
        found: dict[HostKey, list[StoredUrl]] = {}
        for start in range(0, len(hosts), MOST_HOSTS):
            found |= await super().list_urls(hosts[start : start + MOST_HOSTS], day)
        return found

    async def begin_portions(self, hosts: Sequence[HostKey], until: Moment) -> Mapping[HostKey, int]:
        """Begins the portions of `MOST_HOSTS` of them in one call."""
        found: dict[HostKey, int] = {}
        for start in range(0, len(hosts), MOST_HOSTS):
            found |= await super().begin_portions(hosts[start : start + MOST_HOSTS], until)
        return found

    async def record(self, checks: Sequence[Checked], held: Held) -> Tally:
        """Sends the epochs of the buckets of these checks alone."""
        buckets = sorted({checked.url.key.bucket for checked in checks} & held.keys())
        return await super().record(checks, {bucket: held[bucket] for bucket in buckets})

    async def find_paces(self) -> Paces:
        """The policies as they were a minute ago at the most."""
        if self._paces is None or monotonic() - self._paces[0] > _REMOTE_PACES_S:
            self._paces = monotonic(), await super().find_paces()
        return self._paces[1]
