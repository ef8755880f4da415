"""A crawler's calls apart from its `Work`, and all that it needs of the store, local or remote (O-1).

Each method is one transaction; ``server`` has the rights of a remote crawler.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final, NamedTuple, Protocol
from uuid import UUID

from msgspec import Meta

from weboid import __version__
from weboid.checking.second_opinion import ANSWER_S
from weboid.checking.slots import Slots, StoreSlots
from weboid.checking.stop_list import StopList
from weboid.config import CrawlConfig
from weboid.core.record.days import iso
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.partial_loss import HOLD_DAYS, NAMES, Contacts, Failing, HostGroup, is_over, loss_in
from weboid.errors import StoreRefuses
from weboid.mechanism.disturbance import Disturbance
from weboid.remote.crawl.validation import require_valid_contacts, require_valid_groups
from weboid.remote.crawl.work import MOST_CHECKS, RemoteWork, Work
from weboid.remote.http.rpc import Connections, OnStore, Remote, Transport, Wire, call, remote
from weboid.remote.http.wire import DETAIL, OUR_SCHEME, Day, Greeted, Life, ThisDay, record_life, up_to
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.rows import HostKey
from weboid.store.db.transactions import all_repeated
from weboid.store.schedule.days import find_lived, find_moment, record_confirmed_day, record_lived
from weboid.store.schedule.process import ProcessRole
from weboid.store.schedule.second_look import LookState, TakenLook, record_look, record_look_answer, take_looks
from weboid.store.schedule.turn import SlotNote, SlotState, WantedSlot
from weboid.store.upkeep import loss
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm
from weboid.store.upkeep.loss import ContactsByDay

log = logging.getLogger(__name__)

_MOST_SLOTS: Final = 5_000
_LONGEST_REST_S: Final = 28 * 86_400.0
_MOST_GROUPS: Final = 100_000
_MOST_LOOKS: Final = 100

SeenContacts = Annotated[
    Mapping[tuple[HostGroup, int], Contacts],
    Wire(
        Annotated[list[tuple[HostGroup, Day, Contacts]], Meta(max_length=_MOST_GROUPS)],
        encode=lambda written: [(group, day, contacts) for (group, day), contacts in written.items()],
        decode=lambda sent: {(group, day): contacts for group, day, contacts in sent},
        validate=require_valid_contacts,
        resolve=lambda written, here, _: here.counting(written),
    ),
]
"""Contacts of groups of hosts, by day."""
OwnAlarm = Annotated[AlarmKind, Wire(check="require_alarm")]
SignedDetail = Annotated[str, replace(DETAIL, resolve=lambda detail, here, _: here.signed(detail))]
"""The words of an alarm, in front of which the server puts the name of the crawler's token."""
SinceLived = Annotated[Day, Wire(resolve=lambda _, here, before: here.lived())]
"""The newest day on which a worker worked, whatever is sent."""
FoundLost = Annotated[Mapping[HostGroup, Failing], Meta(max_length=_MOST_GROUPS), Wire(validate=require_valid_groups)]


@all_repeated
class Days(OnStore):
    """The day, by which all workers agree (C-16)."""

    @call("moment")
    async def find_moment(self) -> datetime:
        """The moment by the clock of the store, in UTC."""
        return await self._run(find_moment)

    @call("lived")
    async def find_lived(self) -> int | None:
        """The newest day of any worker's work; None before the first round."""
        return await self._run(find_lived)

    @call("accept-day")
    async def accept(self, day: ThisDay, *, is_over: bool) -> None:
        """Records that a worker works on a day; `is_over`: the alarm of a clock that has jumped, too."""
        async with self._connections.connection() as conn:
            await record_lived(conn, day)
            if is_over:
                await lower_alarm(conn, AlarmKind.CLOCK, "")

    @call("confirm-day", is_once=True)
    async def confirm(self, day: Annotated[Day, Wire(check="refuse_day")]) -> None:
        """Takes a day as right, whatever was lived before, once; the alarm is over."""
        async with self._connections.connection() as conn:
            await record_confirmed_day(conn, day)
            await lower_alarm(conn, AlarmKind.CLOCK, "")

    @call("refuse-day", is_once=True)
    async def refuse(self, since: SinceLived, detail: SignedDetail) -> None:
        """Raises the alarm of a clock that has jumped."""
        await self._run(raise_alarm, AlarmKind.CLOCK, "", since, detail)


class Exchanged(NamedTuple):
    """Losses by the day since which they are, and contacts that all workers have seen of them and of possible ones."""

    lost: dict[HostGroup, int]
    stored: ContactsByDay


@all_repeated
class LossExchange(OnStore):
    """Reports of workers to each other, of parts of the net that are lost to us (C-16)."""

    @call("exchange", is_once=True)
    async def exchange(self, day: ThisDay, written: SeenContacts, found: FoundLost) -> Exchanged:
        """Adds what one worker has seen, and what it has found lost; raises alarms and lowers them."""
        async with self._connections.connection() as conn:
            await loss.lock_losses(conn)
            lost = await loss.list_losses(conn)
            if written:
                await loss.record_contacts(conn, written)
            await loss.delete_past_contacts(conn, day)
            for group, failing in found.items():
                await _raise_loss(conn, group, lost.setdefault(group, day), failing)
            stored = await loss.list_contacts(conn, day, lost)
            for group, since in list(lost.items()):
                if is_over(stored.get(group, {}), since, day):
                    await loss.delete_loss(conn, group)
                    del lost[group]
                    stored.pop(group, None)
            for group, contacts in stored.items():
                if now_failing := loss_in(group, contacts, day):
                    await _raise_loss(conn, group, lost.setdefault(group, day), now_failing)
        return Exchanged(lost, stored)


async def _raise_loss(conn: Connection, group: HostGroup, since: int, failing: Failing) -> None:
    """Raises the alarm of a lost group; while its hosts go on failing, its numbers are brought up to date."""
    if group == NAMES:
        causes = (
            "name servers deny the names of unrelated hosts. Look some of them up at other name servers: if they are "
            "known there, look at WEBOID_NET_DNS or resolv.conf"
        )
    else:
        causes = (
            "look at some of them from another address: if they answer there, ask the hoster whether our address is "
            "blocked; WEBOID_CRAWL_VANTAGE sets a second vantage point"
        )
    detail = (
        f"{failing.domains} of {failing.contacted} hosts that had answered before fail together; until "
        f"{iso(since + HOLD_DAYS)} at most their failures count against no link: {causes}"
    )
    await raise_alarm(conn, AlarmKind.PARTIAL_LOSS, group.subject, since, detail)


@all_repeated
class Alarms(OnStore):
    """The alarms that are a crawler's own, without a subject."""

    @call("raise-alarm", is_once=True)
    async def raise_alarm(self, kind: OwnAlarm, day: ThisDay, detail: SignedDetail) -> None:
        """Raises an alarm of this crawler, or updates its detail."""
        await self._run(raise_alarm, kind, "", day, detail)

    @call("lower-alarm", is_once=True)
    async def lower_alarm(self, kind: OwnAlarm) -> None:
        """Lowers an alarm of this crawler, if it is raised."""
        await self._run(lower_alarm, kind, "")


class SlotCalls(Slots, Protocol):
    """Turns at hosts, over HTTP; on the store they are ``checking/slots``'s."""

    @call("slots")
    async def exchange(
        self,
        notes: Annotated[Mapping[HostKey, SlotNote], Meta(max_length=_MOST_SLOTS)],
        wanted: Annotated[Mapping[HostKey, WantedSlot], Meta(max_length=_MOST_SLOTS)],
    ) -> dict[HostKey, SlotState]:
        """Holds the turns until it is known that their requests were sent."""

    @call("rest")
    async def rest(
        self,
        host: Annotated[HostKey, Wire(check="require_host")],
        seconds: Annotated[float, Meta(ge=0, le=_LONGEST_REST_S), Wire(resolve=lambda s, here, _: here.rest_of(s))],
    ) -> None:
        """For a host in a bucket that the worker holds."""


class RemoteSlots(Remote, SlotCalls):
    """Turns at hosts, held until it is known that their requests were sent."""

    is_far = True

    async def exchange(
        self, notes: Mapping[HostKey, SlotNote], wanted: Mapping[HostKey, WantedSlot]
    ) -> dict[HostKey, SlotState]:
        """Makes as many calls as it takes."""
        noted, asked = list(notes.items()), list(wanted.items())
        states: dict[HostKey, SlotState] = {}
        for start in range(0, max(len(noted), len(asked)), _MOST_SLOTS):
            some = slice(start, start + _MOST_SLOTS)
            states |= await SlotCalls.exchange(self, dict(noted[some]), dict(asked[some]))
        return states

    async def rest(self, host: HostKey, seconds: float) -> None:
        """Keeps the pause here alone where the server refuses it."""
        try:
            await SlotCalls.rest(self, host, min(seconds, _LONGEST_REST_S))
        except StoreRefuses as error:
            # Such as a canary's, whose bucket is another's.
            log.debug("other workers do not know of a pause: %s", error)


@all_repeated
class SecondLooks(OnStore):
    """Second looks at URLs that would be called dead, between crawlers of different places; this is one (C-14)."""

    def __init__(self, connections: Connections, place: str) -> None:
        super().__init__(connections)
        self._place = place

    @call("ask-look")
    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        """Requests a look from another place; its state. To be called again until it is not open."""
        return await self._run(record_look, self._place, look, key, wait_s=ANSWER_S)

    @call("take-looks")
    async def take(self, limit: Annotated[int, up_to(_MOST_LOOKS)]) -> Sequence[TakenLook]:
        """Some looks that other places want, for this one to answer; while it asks, it counts as there."""
        return await self._run(take_looks, self._place, limit)

    @call("answer-look")
    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        """Gives the result of a look that was taken; None = nothing that counts."""
        await self._run(record_look_answer, self._place, look, outcome)


@dataclass(frozen=True, slots=True)
class CrawlStore:
    """The store as a crawler needs it. `away`: whether it can be used now."""

    work: Work
    days: Days
    losses: LossExchange
    alarms: Alarms
    slots: SlotCalls
    second_looks: SecondLooks
    away: Disturbance


def local_crawl_store(pool: Pool, worker: str, config: CrawlConfig, policy: Policy) -> CrawlStore:
    """The store for a crawler next to the database."""
    work, looks = Work(pool, worker, config, policy), SecondLooks(pool, config.place)
    return CrawlStore(work, Days(pool), LossExchange(pool), Alarms(pool), StoreSlots(pool), looks, pool.away)


def remote_crawl_store(transport: Transport) -> CrawlStore:
    """The store for a remote crawler."""
    return remote(CrawlStore, transport, RemoteWork, RemoteSlots)


class Greeting(Greeted, frozen=True):
    """The server's own settings, by which all crawlers work alike."""

    policy: Policy
    delay: float
    per_host: int
    batch: int
    lease_s: float
    strict: bool
    stop: list[str]
    looks: bool = False
    """True if crawlers are each other's second vantage point (C-14)."""


@dataclass
class CrawlerCalls:
    """Calls of a crawler's own process; a client is the name of its token."""

    pool: Pool
    client: str
    config: CrawlConfig
    policy: Policy

    @call("greet")
    async def greet(self) -> Greeting:
        """The server's settings. Raises StoreAway."""
        config = self.config
        batch, stop = min(config.batch, MOST_CHECKS), sorted(StopList(config.stop, config.stop_file).names)
        limits = (config.delay, config.per_host, batch, config.lease_s, config.strict)
        return Greeting(__version__, OUR_SCHEME, self.policy, *limits, stop, config.are_second_looks)

    @call("life")
    async def live(self, life: Life) -> None:
        """Writes a sign of life, or takes it away."""
        await record_life(self.pool, ProcessRole.CRAWL, self.client, life)
