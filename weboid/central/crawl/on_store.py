"""What crawlers need of the store, on the store itself; their work is in ``store_work``.

One law: what a method writes is one transaction.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from weboid.central.crawl.core import CrawlCore, Exchanged
from weboid.central.crawl.store_work import StoreWork
from weboid.central.lending import Lender
from weboid.checking.second_opinion import ANSWER_S
from weboid.checking.slots import StoreSlots
from weboid.config import CrawlConfig
from weboid.core.record.days import iso
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.partial_loss import HOLD_DAYS, Contacts, Failing, HostGroup, is_over, loss_in
from weboid.store.db.anew import all_begun_anew
from weboid.store.db.pool import Connection, Pool
from weboid.store.schedule.clock import find_lived, find_moment, record_confirmed_day, record_lived
from weboid.store.schedule.second_look import LookState, TakenLook, record_look, record_look_answer, take_looks
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm
from weboid.store.upkeep.loss import (
    delete_loss,
    delete_past_contacts,
    list_contacts,
    list_losses,
    lock_losses,
    record_contacts,
)


def store_core(pool: Pool, worker: str, config: CrawlConfig, policy: Policy) -> CrawlCore:
    """All that a crawler beside the database needs."""
    work = StoreWork(pool, worker, config, policy)
    looks = StoreSecondLooks(pool, config.place)
    return CrawlCore(work, StoreDays(pool), StoreLosses(pool), StoreAlarms(pool), StoreSlots(pool), looks, pool.away)


@all_begun_anew
class StoreDays:
    """The day by the database's clock."""

    def __init__(self, pool: Lender) -> None:
        self._pool = pool

    async def find_moment(self) -> datetime:
        """What the database's clock says, in UTC."""
        async with self._pool.connection() as conn:
            return await find_moment(conn)

    async def find_lived(self) -> int | None:
        """The newest day on which a worker worked, None before the first round."""
        async with self._pool.connection() as conn:
            return await find_lived(conn)

    async def accept(self, day: int, *, is_over: bool) -> None:
        """Records that a worker works on a day; `is_over`: the alarm of a clock that has jumped, too."""
        async with self._pool.connection() as conn:
            await record_lived(conn, day)
            if is_over:
                await lower_alarm(conn, AlarmKind.CLOCK, "")

    async def confirm(self, day: int) -> None:
        """Takes a day as right, once: it is the newest lived day, and the alarm is over."""
        async with self._pool.connection() as conn:
            await record_confirmed_day(conn, day)
            await lower_alarm(conn, AlarmKind.CLOCK, "")

    async def refuse(self, since: int, detail: str) -> None:
        """Raises the alarm of a clock that has jumped."""
        async with self._pool.connection() as conn:
            await raise_alarm(conn, AlarmKind.CLOCK, "", since, detail)


@all_begun_anew
class StoreAlarms:
    """The alarms that are a crawler's own."""

    def __init__(self, pool: Lender) -> None:
        self._pool = pool

    async def raise_alarm(self, kind: AlarmKind, day: int, detail: str) -> None:
        """Raises an alarm, or updates the detail of one that is raised already."""
        async with self._pool.connection() as conn:
            await raise_alarm(conn, kind, "", day, detail)

    async def lower_alarm(self, kind: AlarmKind) -> None:
        """Lowers an alarm; does nothing if it is not raised."""
        async with self._pool.connection() as conn:
            await lower_alarm(conn, kind, "")


@all_begun_anew
class StoreSecondLooks:
    """Second looks of one place, as in `SecondLooks` (C-14)."""

    def __init__(self, pool: Lender, place: str) -> None:
        self._pool = pool
        self._place = place

    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        """Wants a look from another place; how it stands."""
        async with self._pool.connection() as conn:
            return await record_look(conn, self._place, look, key, wait_s=ANSWER_S)

    async def take(self, limit: int) -> Sequence[TakenLook]:
        """Some looks that other places want, for this one to answer."""
        async with self._pool.connection() as conn:
            return await take_looks(conn, self._place, limit)

    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        """What a look that was taken has found."""
        async with self._pool.connection() as conn:
            await record_look_answer(conn, self._place, look, outcome)


@all_begun_anew
class StoreLosses:
    """What workers tell each other of parts of the net that are lost to us (C-16)."""

    def __init__(self, pool: Lender) -> None:
        self._pool = pool

    async def exchange(
        self, day: int, written: Mapping[tuple[HostGroup, int], Contacts], found: Mapping[HostGroup, Failing]
    ) -> Exchanged:
        """Adds what one worker has seen, and what it has found lost; raises alarms and lowers them."""
        async with self._pool.connection() as conn:
            return await _exchanged(conn, day, written, found)


async def _exchanged(
    conn: Connection,
    day: int,
    written: Mapping[tuple[HostGroup, int], Contacts],
    found: Mapping[HostGroup, Failing],
) -> Exchanged:
    """What is lost since when, and what all workers have seen, after one worker has added its part."""
    await lock_losses(conn)
    lost = await list_losses(conn)
    if written:
        await record_contacts(conn, written)
    await delete_past_contacts(conn, day)
    for group, failing in found.items():
        await _raise(conn, group, lost.setdefault(group, day), failing)
    stored = await list_contacts(conn, day, lost)
    for group, since in list(lost.items()):
        if is_over(stored.get(group, {}), since, day):
            await delete_loss(conn, group)
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
