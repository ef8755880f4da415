"""What crawlers need of the store: one interface, by which a crawler works beside the database or far from it (O-1).

``on_store`` and ``store_work`` are it on the store, ``remote`` is it over HTTP. One law: all methods raise StoreAway
while the store cannot be used, and who tries again what has failed so does it with the same arguments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from weboid.checking.slots import Slots
from weboid.core.record.moment import Moment
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.partial_loss import Contacts, Failing, HostGroup
from weboid.mechanism.disturbance import Disturbance
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held
from weboid.store.schedule.second_look import LookState, TakenLook
from weboid.store.upkeep.alarm import AlarmKind
from weboid.store.upkeep.loss import ContactsByDay


class Paces(NamedTuple):
    """The policy by which checks are judged, and those of hosts that have more URLs than fit (C-3, C-4)."""

    usual: Policy
    of_hosts: Mapping[HostKey, Policy]

    def of(self, host: HostKey) -> Policy:
        """The policy for the URLs of a host."""
        return self.of_hosts.get(host, self.usual)


class Work(Protocol):
    """The work of one worker: a round uses nothing else."""

    async def count_due(self, until: Moment, limit: int) -> int:
        """About how many URLs are due by then, `limit` at most; 0 if there is nothing to do.

        Raises StoreError if the keys of the store are not those of this program (O-10).
        """
        ...

    async def list_canaries(self, limit: int) -> Sequence[str]:
        """URLs that were fine when they were last checked (C-16)."""
        ...

    async def lease(self, until: Moment) -> Held:
        """Some buckets with hosts due by then, from now on this worker's; none = there are no more."""
        ...

    async def renew(self, held: Held) -> set[int]:
        """Keeps these buckets for as long again; returns those that still are this worker's."""
        ...

    async def release(self, held: Held) -> None:
        """Gives buckets back."""
        ...

    async def count_due_buckets(self, until: Moment) -> int:
        """How many buckets have hosts due by then, whoever holds them."""
        ...

    async def list_hosts(
        self, buckets: Collection[int], *, until: Moment, but: Sequence[HostKey], limit: int
    ) -> Sequence[StoredHost]:
        """Hosts of these buckets that are due by then, oldest first, without those in `but` (C-3).

        Those that were due on the same day come in random order. There may be more due that wait for older ones in
        buckets that nobody holds.
        """
        ...

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        """The URLs of these hosts that are due by `day`, so many a host as one visit may have."""
        ...

    async def record(self, batch: Sequence[Checked], held: Held) -> Tally:
        """Takes the results of checks, but for buckets that are no longer this worker's."""
        ...

    async def find_paces(self) -> Paces:
        """By which policy the URLs of each host are judged now."""
        ...


class Days(Protocol):
    """The day, by which all workers agree (C-16)."""

    async def find_moment(self) -> datetime:
        """What the clock of the store says, in UTC."""
        ...

    async def find_lived(self) -> int | None:
        """The newest day on which a worker worked, None before the first round."""
        ...

    async def accept(self, day: int, *, is_over: bool) -> None:
        """Records that a worker works on a day; `is_over`: the alarm of a clock that has jumped, too."""
        ...

    async def confirm(self, day: int) -> None:
        """Takes a day as right, whatever was lived before."""
        ...

    async def refuse(self, since: int, detail: str) -> None:
        """Raises the alarm of a clock that has jumped."""
        ...


class Exchanged(NamedTuple):
    """What is lost since which day, and what all workers have seen of it and of what may soon be."""

    lost: dict[HostGroup, int]
    stored: ContactsByDay


class LossExchange(Protocol):
    """What workers tell each other of parts of the net that are lost to us (C-16)."""

    async def exchange(
        self, day: int, written: Mapping[tuple[HostGroup, int], Contacts], found: Mapping[HostGroup, Failing]
    ) -> Exchanged:
        """Adds what one worker has seen, and what it has found lost; raises alarms and lowers them."""
        ...


class Alarms(Protocol):
    """The alarms that are a crawler's own."""

    async def raise_alarm(self, kind: AlarmKind, day: int, detail: str) -> None:
        """Raises an alarm, or updates the detail of one that is raised already."""
        ...

    async def lower_alarm(self, kind: AlarmKind) -> None:
        """Lowers an alarm; does nothing if it is not raised."""
        ...


class SecondLooks(Protocol):
    """Second looks at URLs that would be called dead, between crawlers of different places (C-14)."""

    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        """Wants a look from another place; how it stands. To be asked again and again until it is not open."""
        ...

    async def take(self, limit: int) -> Sequence[TakenLook]:
        """Some looks that other places want, for this one to answer; while it asks, it counts as there."""
        ...

    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        """What a look that was taken has found; None = that cannot be told."""
        ...


@dataclass(frozen=True, slots=True)
class CrawlCore:
    """All that a crawler needs. `away` tells whether it can be used now."""

    work: Work
    days: Days
    losses: LossExchange
    alarms: Alarms
    slots: Slots
    second_looks: SecondLooks
    away: Disturbance
