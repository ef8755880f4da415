"""What crawlers need of the store, over HTTP, for crawlers elsewhere (O-1).

``calling`` makes the calls. One law: what has failed and is tried again with the same arguments is the same request, so
that it is done once.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Final
from uuid import UUID

from weboid.central.crawl import calls
from weboid.central.crawl.core import CrawlCore, Exchanged, Paces
from weboid.central.http.calling import Caller
from weboid.central.http.kinds import OUR_SCHEME, Nothing, fit_detail
from weboid.core.record.moment import Moment
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.partial_loss import Contacts, Failing, HostGroup
from weboid.errors import StoreError, StoreRefuses
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held
from weboid.store.schedule.second_look import LookState, TakenLook
from weboid.store.schedule.turn import SlotNote, SlotState, WantedSlot
from weboid.store.upkeep.alarm import AlarmKind

log = logging.getLogger(__name__)

_PACES_S: Final = 60.0


def remote_core(caller: Caller) -> CrawlCore:
    """All that a crawler elsewhere needs."""
    return CrawlCore(
        RemoteWork(caller),
        RemoteDays(caller),
        RemoteLosses(caller),
        RemoteAlarms(caller),
        RemoteSlots(caller),
        RemoteSecondLooks(caller),
        caller.away,
    )


async def greet(caller: Caller) -> calls.Greeting:
    """What the core says at the start; raises StoreAway, and StoreError if its keys are not ours (O-10)."""
    greeting = await caller.call(calls.GREET, Nothing())
    if greeting.scheme != OUR_SCHEME:
        raise StoreError(
            f"the core (version {greeting.version}) has keys of another URL form or suffix list than this program: "
            "use the same version here"
        )
    return greeting


class RemoteWork:
    """The work of one worker, as in `Work`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._paces: tuple[float, Paces] | None = None

    async def count_due(self, until: Moment, limit: int) -> int:
        """About how many URLs are due by then, `limit` at most; 0 if there is nothing to do."""
        return await self._caller.call(calls.COUNT_DUE, calls.Due(until, limit, OUR_SCHEME))

    async def list_canaries(self, limit: int) -> Sequence[str]:
        """URLs that were fine when they were last checked (C-16)."""
        return await self._caller.call(calls.CANARIES, calls.Limit(limit))

    async def lease(self, until: Moment) -> Held:
        """Some buckets with hosts due by then, from now on this worker's; none = there are no more."""
        return await self._caller.call(calls.LEASE, calls.Until(until))

    async def renew(self, held: Held) -> set[int]:
        """Keeps these buckets for as long again; returns those that still are this worker's."""
        return await self._caller.call(calls.RENEW, calls.HeldNow(dict(held)))

    async def release(self, held: Held) -> None:
        """Gives buckets back."""
        await self._caller.call(calls.RELEASE, calls.HeldNow(dict(held)))

    async def count_due_buckets(self, until: Moment) -> int:
        """How many buckets have hosts due by then, whoever holds them."""
        return await self._caller.call(calls.COUNT_BUCKETS, calls.Until(until))

    async def list_hosts(
        self, buckets: Collection[int], *, until: Moment, but: Sequence[HostKey], limit: int
    ) -> Sequence[StoredHost]:
        """Hosts of these buckets that are due by then, oldest first, without those in `but` (C-3)."""
        given = calls.HostsWanted(list(buckets), until, list(but), min(limit, calls.MOST_LISTED))
        return await self._caller.call(calls.HOSTS, given)

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        """The URLs of these hosts that are due by `day`, so many a host as one visit may have."""
        found: dict[HostKey, list[StoredUrl]] = {}
        for start in range(0, len(hosts), calls.MOST_HOSTS):
            part = list(hosts[start : start + calls.MOST_HOSTS])
            due = await self._caller.call(calls.URLS, calls.UrlsWanted(part, day))
            found |= due
        return found

    async def record(self, batch: Sequence[Checked], held: Held) -> Tally:
        """Takes the results of checks, but for buckets that are no longer this worker's."""
        buckets = sorted({checked.url.key.bucket for checked in batch} & held.keys())
        given = calls.Batch(list(batch), {bucket: held[bucket] for bucket in buckets})
        return await self._caller.call(calls.RECORD, given)

    async def find_paces(self) -> Paces:
        """By which policy the URLs of each host are judged, as it was found a minute ago at the most."""
        if self._paces is None or monotonic() - self._paces[0] > _PACES_S:
            found = await self._caller.call(calls.PACES, Nothing())
            self._paces = monotonic(), Paces(found.usual, found.of_hosts)
        return self._paces[1]


class RemoteDays:
    """The day by the clock of the core's database, as in `Days`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def find_moment(self) -> datetime:
        """What the clock of the store says, in UTC."""
        return await self._caller.call(calls.MOMENT, Nothing())

    async def find_lived(self) -> int | None:
        """The newest day on which a worker worked, None before the first round."""
        return await self._caller.call(calls.LIVED, Nothing())

    async def accept(self, day: int, *, is_over: bool) -> None:
        """Records that a worker works on a day; `is_over`: the alarm of a clock that has jumped, too."""
        await self._caller.call(calls.ACCEPT_DAY, calls.AcceptedDay(day, is_over))

    async def confirm(self, day: int) -> None:
        """Takes a day as right, whatever was lived before."""
        await self._caller.call(calls.CONFIRM_DAY, calls.OnDay(day))

    async def refuse(self, since: int, detail: str) -> None:
        """Raises the alarm of a clock that has jumped."""
        await self._caller.call(calls.REFUSE_DAY, calls.RefusedDay(since, fit_detail(detail)))


class RemoteLosses:
    """What workers tell each other of parts of the net that are lost to us, as in `LossExchange`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def exchange(
        self, day: int, written: Mapping[tuple[HostGroup, int], Contacts], found: Mapping[HostGroup, Failing]
    ) -> Exchanged:
        """Adds what one worker has seen, and what it has found lost; raises alarms and lowers them."""
        seen = [(group, seen_on, contacts) for (group, seen_on), contacts in written.items()]
        return await self._caller.call(calls.EXCHANGE, calls.SeenLosses(day, seen, dict(found)))


class RemoteAlarms:
    """The alarms that are a crawler's own, as in `Alarms`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def raise_alarm(self, kind: AlarmKind, day: int, detail: str) -> None:
        """Raises an alarm, or updates the detail of one that is raised already."""
        await self._caller.call(calls.RAISE_ALARM, calls.RaisedAlarm(kind, day, fit_detail(detail)))

    async def lower_alarm(self, kind: AlarmKind) -> None:
        """Lowers an alarm; does nothing if it is not raised."""
        await self._caller.call(calls.LOWER_ALARM, calls.OneAlarm(kind))


class RemoteSecondLooks:
    """Second looks between crawlers of different places, as in `SecondLooks`; the place is the name of our token."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        """Wants a look from another place; how it stands."""
        return await self._caller.call(calls.ASK_LOOK, calls.LookWanted(look, key))

    async def take(self, limit: int) -> Sequence[TakenLook]:
        """Some looks that other places want, for this one to answer."""
        return await self._caller.call(calls.TAKE_LOOKS, calls.LooksTaken(min(limit, calls.MOST_LOOKS)))

    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        """What a look that was taken has found."""
        await self._caller.call(calls.ANSWER_LOOK, calls.LookAnswered(look, outcome))


class RemoteSlots:
    """Where processes that share turns meet, as in `Slots`: turns are held until it is told that requests are sent."""

    is_far = True

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def exchange(
        self, notes: Mapping[HostKey, SlotNote], wanted: Mapping[HostKey, WantedSlot]
    ) -> dict[HostKey, SlotState]:
        """Writes the notes, then takes one turn at each wanted host that is free; how it stands there."""
        told, asked, most = list(notes.items()), list(wanted.items()), calls.MOST_SLOTS
        states: dict[HostKey, SlotState] = {}
        for start in range(0, max(len(told), len(asked)), most):
            part = slice(start, start + most)
            taken = await self._caller.call(calls.SLOTS, calls.SlotsWanted(dict(told[part]), dict(asked[part])))
            states |= taken
        return states

    async def rest(self, host: HostKey, seconds: float) -> None:
        """Allows no request to the host for so many seconds (Retry-After)."""
        try:
            await self._caller.call(calls.REST, calls.Rest(host, seconds))
        except StoreRefuses as error:
            # Such as a canary's, whose bucket is another's: this crawler keeps the pause for itself.
            log.debug("other workers do not know of a pause: %s", error)
