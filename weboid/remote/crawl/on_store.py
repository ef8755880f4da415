"""The interface of crawlers on the store itself.

What is written together, and in which order, is decided in ``store/results``. One law: what a method writes is one
transaction.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Final
from uuid import UUID

from weboid.checking.second_opinion import ANSWER_S
from weboid.checking.slots import StoreSlots
from weboid.config import CrawlConfig
from weboid.core.record.days import iso
from weboid.core.record.moment import Moment
from weboid.core.record.pace import policy_at, policy_of_big_host
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.partial_loss import HOLD_DAYS, Contacts, Failing, HostGroup, is_over, loss_in
from weboid.errors import StoreAway
from weboid.remote.crawl.core import CrawlCore, Exchanged, Paces
from weboid.remote.lending import Lender, OnStore, alone
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.db.transactions import all_repeated
from weboid.store.results.record import Checked, Tally, record_batch
from weboid.store.schedule.days import (
    DayFigure,
    find_lived,
    find_moment,
    record_confirmed_day,
    record_lived,
    record_totals,
)
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
from weboid.store.schedule.second_look import LookState, TakenLook, record_look, record_look_answer, take_looks
from weboid.store.upkeep import loss
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm
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


def store_core(pool: Pool, worker: str, config: CrawlConfig, policy: Policy) -> CrawlCore:
    """All that a crawler next to the database needs."""
    work = StoreWork(pool, worker, config, policy)
    looks = StoreSecondLooks(pool, config.place)
    return CrawlCore(work, StoreDays(pool), StoreLosses(pool), StoreAlarms(pool), StoreSlots(pool), looks, pool.away)


@all_repeated
class StoreWork(OnStore):
    """Work read directly from the store and written to it."""

    def __init__(self, lender: Lender, worker: str, config: CrawlConfig, policy: Policy) -> None:
        super().__init__(lender)
        self.worker = worker
        self._config = config
        self._policy = policy
        self._checked: dict[int, int] = {}
        self._totals: Counter[tuple[int, DayFigure]] = Counter()
        self._noted_at = monotonic()
        self._paces: tuple[float, Paces] | None = None

    async def count_due(self, until: Moment, limit: int) -> int:
        async with self._lender.connection() as conn:
            await require_scheme(conn)  # There may have been a rekey since the last round (O-10).
            if not await is_due(conn, until):
                return 0
            # A host can be due without a due URL: that is put right by a round.
            return max(await count_due(conn, until.day, limit=limit), 1)

    list_canaries = alone(list_canaries)

    async def lease(self, until: Moment) -> Held:
        lease_s, rest_s = self._config.lease_s, self._config.delay
        async with self._lender.connection() as conn:
            return await lease_buckets(
                conn, self.worker, until=until, limit=_LEASED_AT_ONCE, lease_s=lease_s, rest_s=rest_s
            )

    async def renew(self, held: Held) -> set[int]:
        async with self._lender.connection() as conn:
            return await record_renewal(conn, self.worker, held, lease_s=self._config.lease_s)

    async def release(self, held: Held) -> None:
        async with self._lender.connection() as conn:
            await record_release(conn, self.worker, held)
        await self.note_checked()

    count_due_buckets = alone(count_due_buckets)

    async def list_hosts(
        self, buckets: Collection[int], *, until: Moment, but: Sequence[HostKey], limit: int
    ) -> Sequence[StoredHost]:
        """None that waits in a bucket that nobody holds has been due for longer: such buckets come first (D-105)."""
        async with self._lender.connection() as conn:
            first = await find_free_day(conn, until, rest_s=self._config.delay)
            if first is not None and first < until.day:
                until = Moment(first)
            return await list_due_hosts(conn, list(buckets), until=until, without=but, limit=limit)

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        async with self._lender.connection() as conn:
            urls = await list_due_urls(conn, hosts, day=day, per_host=self._config.per_host)
            # They are due without a due URL: there is nothing to check, but their next day must be computed anew.
            idle = [host for host, due in urls.items() if not due]
            await lock_hosts(conn, idle)
            await record_next_days(conn, sorted(idle))
        return urls

    async def record(self, checks: Sequence[Checked], held: Held) -> Tally:
        async with self._lender.connection() as conn:
            tally = await record_batch(conn, self.worker, checks, held, self._policy)
        day = max(checked.day for checked in checks)
        self._checked[day] = self._checked.get(day, 0) + tally.written - tally.inferred
        for checked in checks:
            if checked.seen is not None:
                self._totals[checked.day, _OUTCOMES[checked.seen.outcome]] += 1
                self._totals[checked.day, DayFigure.INFERRED] += checked.seen.inferred
                self._totals[checked.day, DayFigure.HELD] += checked.seen.held
        if monotonic() - self._noted_at > _NOTING_S:
            await self.note_checked()
        return tally

    async def find_paces(self) -> Paces:
        """Those that were found some minutes ago at the most."""
        if self._paces is None or monotonic() - self._paces[0] > _PACES_S:
            async with self._lender.connection() as conn:
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
            async with self._lender.connection() as conn:
                await record_checked(conn, {day: urls for day, urls in checked.items() if urls > 0})
                await record_totals(conn, totals)
        except StoreAway as error:
            log.debug("it was not noted how many URLs were checked: %s", error)
            for day, urls in checked.items():
                self._checked[day] = self._checked.get(day, 0) + urls
            self._totals.update(totals)


@all_repeated
class StoreDays(OnStore):
    """The day by the database's clock."""

    find_moment = alone(find_moment)
    find_lived = alone(find_lived)

    async def accept(self, day: int, *, is_over: bool) -> None:
        async with self._lender.connection() as conn:
            await record_lived(conn, day)
            if is_over:
                await lower_alarm(conn, AlarmKind.CLOCK, "")

    async def confirm(self, day: int) -> None:
        """Once: it is the newest lived day, and the alarm is over."""
        async with self._lender.connection() as conn:
            await record_confirmed_day(conn, day)
            await lower_alarm(conn, AlarmKind.CLOCK, "")

    async def refuse(self, since: int, detail: str) -> None:
        async with self._lender.connection() as conn:
            await raise_alarm(conn, AlarmKind.CLOCK, "", since, detail)


@all_repeated
class StoreAlarms(OnStore):
    """Alarms without a subject."""

    async def raise_alarm(self, kind: AlarmKind, day: int, detail: str) -> None:
        async with self._lender.connection() as conn:
            await raise_alarm(conn, kind, "", day, detail)

    async def lower_alarm(self, kind: AlarmKind) -> None:
        async with self._lender.connection() as conn:
            await lower_alarm(conn, kind, "")


@all_repeated
class StoreSecondLooks(OnStore):
    """Second looks of one place, as in `SecondLooks` (C-14)."""

    def __init__(self, lender: Lender, place: str) -> None:
        super().__init__(lender)
        self._place = place

    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        async with self._lender.connection() as conn:
            return await record_look(conn, self._place, look, key, wait_s=ANSWER_S)

    async def take(self, limit: int) -> Sequence[TakenLook]:
        async with self._lender.connection() as conn:
            return await take_looks(conn, self._place, limit)

    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        async with self._lender.connection() as conn:
            await record_look_answer(conn, self._place, look, outcome)


@all_repeated
class StoreLosses(OnStore):
    """The exchange of losses."""

    async def exchange(
        self, day: int, written: Mapping[tuple[HostGroup, int], Contacts], found: Mapping[HostGroup, Failing]
    ) -> Exchanged:
        async with self._lender.connection() as conn:
            return await _exchanged(conn, day, written, found)


async def _exchanged(
    conn: Connection,
    day: int,
    written: Mapping[tuple[HostGroup, int], Contacts],
    found: Mapping[HostGroup, Failing],
) -> Exchanged:
    """Losses and contacts, after one worker has added its part."""
    await loss.lock_losses(conn)
    lost = await loss.list_losses(conn)
    if written:
        await loss.record_contacts(conn, written)
    await loss.delete_past_contacts(conn, day)
    for group, failing in found.items():
        await _raise(conn, group, lost.setdefault(group, day), failing)
    stored = await loss.list_contacts(conn, day, lost)
    for group, since in list(lost.items()):
        if is_over(stored.get(group, {}), since, day):
            await loss.delete_loss(conn, group)
            del lost[group]
            stored.pop(group, None)
    for group, contacts in stored.items():
        if now_failing := loss_in(group, contacts, day):
            await _raise(conn, group, lost.setdefault(group, day), now_failing)
    return Exchanged(lost, stored)


async def _raise(conn: Connection, group: HostGroup, since: int, failing: Failing) -> None:
    """Raises the alarm of a lost group; while its hosts go on failing, its numbers are brought up to date."""
    detail = (
        f"{failing.domains} of {failing.contacted} hosts that had answered before fail together; until "
        f"{iso(since + HOLD_DAYS)} at most their failures count against no link. Look at some of them from another "
        "address: if they answer there, ask the hoster whether our address is blocked; WEBOID_CRAWL_VANTAGE sets a "
        "second vantage point"
    )
    await raise_alarm(conn, AlarmKind.PARTIAL_LOSS, group.subject, since, detail)
