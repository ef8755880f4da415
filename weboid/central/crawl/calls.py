"""The calls of a crawler elsewhere.

``remote`` makes them, ``answering`` does them. One law: what comes from a crawler elsewhere has a bound in its type.
"""

from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta, Struct

from weboid.central.crawl.core import Exchanged
from weboid.central.http.kinds import CallKind, Day, Detail, Life, Nothing, Scheme
from weboid.core.record.moment import Moment
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.core.verdict.partial_loss import Contacts, Failing, HostGroup
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.second_look import LookState, TakenLook
from weboid.store.schedule.turn import SlotNote, SlotState, WantedSlot
from weboid.store.upkeep.alarm import AlarmKind

MOST_GIVEN: Final = 16 << 20
"""Bytes of a call before it was compressed: several times what 2,000 checks have. As values it is twenty times that."""
MOST_CHECKS: Final = 2_000
"""Checks of one batch."""
MOST_HOSTS: Final = 256
"""Hosts whose URLs are read at once: so many have tens of thousands."""
MOST_LISTED: Final = 100_000
MOST_SLOTS: Final = 5_000
MOST_LOOKS: Final = 100
_MOST_LEFT_OUT: Final = 200_000
_MOST_GROUPS: Final = 100_000
_LEASE_S: Final = 10.0
"""Well below the time for which a domain is leased."""
_MOST_BUCKET: Final = BUCKETS - 1
_MOST_BIG: Final = 2**63 - 1

Bucket = Annotated[int, Meta(ge=0, le=_MOST_BUCKET)]
Epoch = Annotated[int, Meta(ge=0, le=_MOST_BIG)]
HeldBuckets = Annotated[dict[Bucket, Epoch], Meta(max_length=BUCKETS)]


class Greeting(Struct, frozen=True):
    """What a crawler elsewhere is told at its start, so that it works like those beside the database."""

    version: str
    scheme: Scheme
    policy: Policy
    delay: float
    per_host: int
    batch: int
    lease_s: float
    strict: bool
    stop: list[str]
    looks: bool = False
    """Whether crawlers are each other's second vantage point (C-14)."""


class Due(Struct, frozen=True):
    until: Moment
    limit: Annotated[int, Meta(ge=0, le=10_000_000)]
    scheme: Scheme


class Until(Struct, frozen=True):
    until: Moment


class Limit(Struct, frozen=True):
    limit: Annotated[int, Meta(ge=0, le=1_000)]


class HeldNow(Struct, frozen=True):
    held: HeldBuckets


class HostsWanted(Struct, frozen=True):
    buckets: Annotated[list[Bucket], Meta(max_length=BUCKETS)]
    until: Moment
    but: Annotated[list[HostKey], Meta(max_length=_MOST_LEFT_OUT)]
    limit: Annotated[int, Meta(ge=0, le=MOST_LISTED)]


class UrlsWanted(Struct, frozen=True):
    hosts: Annotated[list[HostKey], Meta(max_length=MOST_HOSTS)]
    day: Day


class Batch(Struct, frozen=True):
    """Checks, and the epochs of their buckets alone."""

    checks: Annotated[list[Checked], Meta(min_length=1, max_length=MOST_CHECKS)]
    held: HeldBuckets


class FoundPaces(Struct, frozen=True):
    usual: Policy
    of_hosts: dict[HostKey, Policy]


class OnDay(Struct, frozen=True):
    day: Day


class AcceptedDay(Struct, frozen=True):
    day: Day
    is_over: bool


class RefusedDay(Struct, frozen=True):
    since: Day
    detail: Detail


class SeenLosses(Struct, frozen=True):
    """What one worker has seen of groups of hosts, by day."""

    day: Day
    written: Annotated[list[tuple[HostGroup, Day, Contacts]], Meta(max_length=_MOST_GROUPS)]
    found: Annotated[dict[HostGroup, Failing], Meta(max_length=_MOST_GROUPS)]


class RaisedAlarm(Struct, frozen=True):
    kind: AlarmKind
    day: Day
    detail: Detail


class OneAlarm(Struct, frozen=True):
    kind: AlarmKind


class SlotsWanted(Struct, frozen=True):
    notes: Annotated[dict[HostKey, SlotNote], Meta(max_length=MOST_SLOTS)]
    wanted: Annotated[dict[HostKey, WantedSlot], Meta(max_length=MOST_SLOTS)]


class Rest(Struct, frozen=True):
    host: HostKey
    seconds: Annotated[float, Meta(ge=0, le=28 * 86_400)]


class LookWanted(Struct, frozen=True):
    look: UUID
    key: UrlKey


class LooksTaken(Struct, frozen=True):
    limit: Annotated[int, Meta(ge=0, le=MOST_LOOKS)]


class LookAnswered(Struct, frozen=True):
    look: UUID
    outcome: Outcome | None


GREET: Final = CallKind[Nothing, Greeting]("greet", Nothing, Greeting)
COUNT_DUE: Final = CallKind[Due, int]("count-due", Due, int)
CANARIES: Final = CallKind[Limit, list[str]]("canaries", Limit, list[str])
LEASE: Final = CallKind[Until, dict[int, int]]("lease", Until, dict[int, int], is_once=True, fresh_s=_LEASE_S)
RENEW: Final = CallKind[HeldNow, set[int]]("renew", HeldNow, set[int])
RELEASE: Final = CallKind[HeldNow, Nothing]("release", HeldNow, Nothing)
COUNT_BUCKETS: Final = CallKind[Until, int]("count-buckets", Until, int)
HOSTS: Final = CallKind[HostsWanted, list[StoredHost]]("hosts", HostsWanted, list[StoredHost])
URLS: Final = CallKind[UrlsWanted, dict[HostKey, list[StoredUrl]]]("urls", UrlsWanted, dict[HostKey, list[StoredUrl]])
RECORD: Final = CallKind[Batch, Tally]("record", Batch, Tally, is_once=True)
PACES: Final = CallKind[Nothing, FoundPaces]("paces", Nothing, FoundPaces)
MOMENT: Final = CallKind[Nothing, datetime]("moment", Nothing, datetime)
LIVED: Final = CallKind[Nothing, int | None]("lived", Nothing, int | None)
ACCEPT_DAY: Final = CallKind[AcceptedDay, Nothing]("accept-day", AcceptedDay, Nothing)
CONFIRM_DAY: Final = CallKind[OnDay, Nothing]("confirm-day", OnDay, Nothing, is_once=True)
REFUSE_DAY: Final = CallKind[RefusedDay, Nothing]("refuse-day", RefusedDay, Nothing, is_once=True)
EXCHANGE: Final = CallKind[SeenLosses, Exchanged]("exchange", SeenLosses, Exchanged, is_once=True)
RAISE_ALARM: Final = CallKind[RaisedAlarm, Nothing]("raise-alarm", RaisedAlarm, Nothing, is_once=True)
LOWER_ALARM: Final = CallKind[OneAlarm, Nothing]("lower-alarm", OneAlarm, Nothing, is_once=True)
SLOTS: Final = CallKind[SlotsWanted, dict[HostKey, SlotState]]("slots", SlotsWanted, dict[HostKey, SlotState])
REST: Final = CallKind[Rest, Nothing]("rest", Rest, Nothing)
ASK_LOOK: Final = CallKind[LookWanted, LookState]("ask-look", LookWanted, LookState)
TAKE_LOOKS: Final = CallKind[LooksTaken, list[TakenLook]]("take-looks", LooksTaken, list[TakenLook])
ANSWER_LOOK: Final = CallKind[LookAnswered, Nothing]("answer-look", LookAnswered, Nothing)
LIFE: Final = CallKind[Life, Nothing]("life", Life, Nothing)
