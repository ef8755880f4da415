"""The interface of crawlers to the store, by which they work next to the database or far from it (O-1).

``on_store`` implements it on the store. Over HTTP it follows from the declarations here: ``remote`` has what a crawler
does otherwise, ``answering`` what the server does. One law: all methods raise StoreAway while the store cannot be used,
and a caller that tries again what has failed so does it with the same arguments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final, NamedTuple, Protocol
from uuid import UUID

from msgspec import Meta

from weboid.checking.slots import Slots
from weboid.core.record.moment import Moment
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.core.verdict.partial_loss import Contacts, Failing, HostGroup
from weboid.mechanism.disturbance import Disturbance
from weboid.remote.crawl.soundness import require_sound, require_sound_contacts, require_sound_groups
from weboid.remote.http.kinds import DETAIL, Day, Detail, Greeted, Life, LimitByScheme, ThisDay, up_to
from weboid.remote.http.rpc import Sent, call
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held
from weboid.store.schedule.second_look import LookState, TakenLook
from weboid.store.schedule.turn import SlotNote, SlotState, WantedSlot
from weboid.store.upkeep.alarm import AlarmKind
from weboid.store.upkeep.loss import ContactsByDay

MOST_CHECKS: Final = 2_000
"""Checks of one batch."""
MOST_HOSTS: Final = 256
"""Hosts whose URLs are read at once: so many have tens of thousands."""
MOST_GIVEN: Final = 16 << 20
"""Bytes of a call before it was compressed: several times what 2,000 checks have. As values it is twenty times that."""
MOST_SLOTS: Final = 5_000
_MOST_LISTED: Final = 100_000
_MOST_LEFT_OUT: Final = 200_000
_MOST_GROUPS: Final = 100_000
_MOST_LOOKS: Final = 100
_LEASE_S: Final = 10.0
"""Well below the time for which a domain is leased."""

Until = Annotated[Moment, Sent(check="require_until")]
Bucket = Annotated[int, Meta(ge=0, le=BUCKETS - 1)]
HeldBuckets = Annotated[Mapping[Bucket, Annotated[int, Meta(ge=0, le=2**63 - 1)]], Meta(max_length=BUCKETS)]
OwnOfBuckets = Annotated[
    Collection[Bucket],
    Meta(max_length=BUCKETS),
    Sent(take=lambda buckets, here, _: here.work.list_own(buckets)),
]
"""Buckets without those that the worker does not hold."""
OwnBuckets = Annotated[HeldBuckets, Sent(check="require_own")]


def _put_checks(checks: Sequence[Checked]) -> list[Checked]:
    """Checks with the targets of redirects as text, as servers of all versions take them; nothing there reads them."""
    return [
        replace(each, seen=replace(each.seen, target=str(each.seen.target))) if each.seen and each.seen.target else each
        for each in checks
    ]


Checks = Annotated[
    Sequence[Checked],
    Sent(
        Annotated[list[Checked], Meta(min_length=1, max_length=MOST_CHECKS)],
        put=_put_checks,
        sound=require_sound,
        check="require_days",
    ),
]
SeenContacts = Annotated[
    Mapping[tuple[HostGroup, int], Contacts],
    Sent(
        Annotated[list[tuple[HostGroup, Day, Contacts]], Meta(max_length=_MOST_GROUPS)],
        put=lambda written: [(group, day, contacts) for (group, day), contacts in written.items()],
        read=lambda sent: {(group, day): contacts for group, day, contacts in sent},
        sound=require_sound_contacts,
        take=lambda written, here, _: here.counting(written),
    ),
]
"""Contacts of groups of hosts, by day."""
OwnAlarm = Annotated[AlarmKind, Sent(check="require_alarm")]
SignedDetail = Annotated[str, replace(DETAIL, take=lambda detail, here, _: here.signed(detail))]
"""The words of an alarm, in front of which the server puts the name of the crawler's token."""
FoundLost = Annotated[Mapping[HostGroup, Failing], Meta(max_length=_MOST_GROUPS), Sent(sound=require_sound_groups)]


@dataclass(frozen=True, slots=True)
class Paces:
    """The policy by which checks are judged, and those of hosts that have more URLs than fit (C-3, C-4)."""

    usual: Policy
    of_hosts: Mapping[HostKey, Policy]

    def of(self, host: HostKey) -> Policy:
        """The policy for the URLs of a host."""
        return self.of_hosts.get(host, self.usual)


class Work(Protocol):
    """The work of one worker: a round uses nothing else."""

    @call("count-due")
    async def count_due(self, until: Moment, limit: LimitByScheme) -> int:
        """About how many URLs are due by then, `limit` at most; 0 if there is nothing to do.

        Raises StoreError if the keys of the store are not those of this program (O-10).
        """

    @call("canaries")
    async def list_canaries(self, limit: Annotated[int, Meta(ge=0, le=1_000)]) -> Sequence[str]:
        """URLs that were fine when they were last checked (C-16)."""

    @call("lease", is_once=True, fresh_s=_LEASE_S)
    async def lease(self, until: Until) -> Held:
        """Some buckets with hosts due by then, from now on this worker's; none = there are no more."""

    @call("renew")
    async def renew(self, held: OwnBuckets) -> set[int]:
        """Keeps these buckets for as long again; returns those that still are this worker's."""

    @call("release")
    async def release(self, held: OwnBuckets) -> None:
        """Gives buckets back."""

    @call("count-buckets")
    async def count_due_buckets(self, until: Moment) -> int:
        """The number of buckets with hosts due by then, whichever worker holds them."""

    @call("hosts")
    async def list_hosts(
        self,
        buckets: OwnOfBuckets,
        *,
        until: Until,
        but: Annotated[Sequence[HostKey], Meta(max_length=_MOST_LEFT_OUT)],
        limit: Annotated[int, up_to(_MOST_LISTED)],
    ) -> Sequence[StoredHost]:
        """Hosts of these buckets that are due by then, oldest first, without those in `but` (C-3).

        Those that were due on the same day come in random order. There may be more due that wait for older ones in
        buckets that nobody holds.
        """

    @call("urls")
    async def list_urls(
        self,
        hosts: Annotated[Sequence[HostKey], Meta(max_length=MOST_HOSTS)],
        day: Annotated[Day, Sent(check="require_due")],
    ) -> Mapping[HostKey, list[StoredUrl]]:
        """The URLs of these hosts that are due by `day`, so many a host as one visit may have."""

    @call("record", is_once=True)
    async def record(self, checks: Checks, held: OwnBuckets) -> Tally:
        """Takes the results of checks, but for buckets that are no longer this worker's."""

    @call("paces")
    async def find_paces(self) -> Paces:
        """By which policy the URLs of each host are judged now."""


class Days(Protocol):
    """The day, by which all workers agree (C-16)."""

    @call("moment")
    async def find_moment(self) -> datetime:
        """The moment by the clock of the store, in UTC."""

    @call("lived")
    async def find_lived(self) -> int | None:
        """The newest day of any worker's work; None before the first round."""

    @call("accept-day")
    async def accept(self, day: ThisDay, *, is_over: bool) -> None:
        """Records that a worker works on a day; `is_over`: the alarm of a clock that has jumped, too."""

    @call("confirm-day", is_once=True)
    async def confirm(self, day: Annotated[Day, Sent(check="refuse_day")]) -> None:
        """Takes a day as right, whatever was lived before."""

    @call("refuse-day", is_once=True)
    async def refuse(self, since: Day, detail: Detail) -> None:
        """Raises the alarm of a clock that has jumped."""


class Exchanged(NamedTuple):
    """Losses by the day since which they are, and contacts that all workers have seen of them and of possible ones."""

    lost: dict[HostGroup, int]
    stored: ContactsByDay


class LossExchange(Protocol):
    """Reports of workers to each other, of parts of the net that are lost to us (C-16)."""

    @call("exchange", is_once=True)
    async def exchange(self, day: ThisDay, written: SeenContacts, found: FoundLost) -> Exchanged:
        """Adds what one worker has seen, and what it has found lost; raises alarms and lowers them."""


class Alarms(Protocol):
    """The alarms that are a crawler's own."""

    @call("raise-alarm", is_once=True)
    async def raise_alarm(self, kind: OwnAlarm, day: ThisDay, detail: SignedDetail) -> None:
        """Raises an alarm of this crawler, or updates its detail."""

    @call("lower-alarm", is_once=True)
    async def lower_alarm(self, kind: OwnAlarm) -> None:
        """Lowers an alarm of this crawler, if it is raised."""


class SlotCalls(Slots, Protocol):
    """Turns at hosts, over HTTP."""

    @call("slots")
    async def exchange(
        self,
        notes: Annotated[Mapping[HostKey, SlotNote], Meta(max_length=MOST_SLOTS)],
        wanted: Annotated[Mapping[HostKey, WantedSlot], Meta(max_length=MOST_SLOTS)],
    ) -> dict[HostKey, SlotState]:
        """Holds the turns until it is known that their requests were sent."""

    @call("rest")
    async def rest(
        self,
        host: Annotated[HostKey, Sent(check="require_host")],
        seconds: Annotated[float, Meta(ge=0, le=28 * 86_400)],
    ) -> None:
        """For a host in a bucket that the worker holds, or that it looks at for another place."""


class SecondLooks(Protocol):
    """Second looks at URLs that would be called dead, between crawlers of different places (C-14)."""

    @call("ask-look")
    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        """Wants a look from another place; how it stands. To be asked again and again until it is not open."""

    @call("take-looks")
    async def take(self, limit: Annotated[int, up_to(_MOST_LOOKS)]) -> Sequence[TakenLook]:
        """Some looks that other places want, for this one to answer; while it asks, it counts as there."""

    @call("answer-look")
    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        """Gives the result of a look that was taken; None = nothing that counts."""


@dataclass(frozen=True, slots=True)
class CrawlCore:
    """All that a crawler needs. `away`: whether it can be used now."""

    work: Work
    days: Days
    losses: LossExchange
    alarms: Alarms
    slots: SlotCalls
    second_looks: SecondLooks
    away: Disturbance


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


class CrawlerCalls(Protocol):
    """Calls of a crawler's own process."""

    @call("greet")
    async def greet(self) -> Greeting:
        """The server's settings. Raises StoreAway."""

    @call("life")
    async def live(self, life: Life) -> None:
        """Writes a sign of life, or takes it away."""
