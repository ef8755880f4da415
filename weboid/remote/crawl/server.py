"""The server's side of the calls of remote crawlers (O-1).

A machine with a token may fall into other hands: so it reaches no lease but its own, and no day but today. A refusal
comes before anything is written; whether a crawler may still write is decided by the epochs of leases, however late its
call comes.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from time import monotonic
from typing import Final

from weboid.checking.slots import StoreSlots
from weboid.config import CrawlConfig
from weboid.core.record.moment import Moment
from weboid.core.record.policy import Policy
from weboid.core.verdict.partial_loss import WINDOW_DAYS, Contacts, HostGroup
from weboid.mechanism.bounded import BoundedMap
from weboid.remote.crawl.calls import Alarms, CrawlerCalls, CrawlStore, Days, LossExchange, SecondLooks
from weboid.remote.crawl.sightings import Sighting, judged
from weboid.remote.crawl.work import Work
from weboid.remote.http.messages import BadMessage
from weboid.remote.http.rpc import Connections, OnStore, implementations, table_of
from weboid.remote.http.server import CallServer, Handlers, NotAllowed
from weboid.store.db.pool import Pool
from weboid.store.db.rows import HostKey
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.days import find_lived
from weboid.store.schedule.lease import Held, find_excess, list_foreign, list_own, record_release, record_renewal
from weboid.store.schedule.turn import SlotNote, SlotState, WantedSlot
from weboid.store.upkeep.alarm import AlarmKind

MOST_INFLATED: Final = 16 << 20
"""Bytes of a call before it was compressed: several times those of 2,000 checks; as values it is twenty times that."""
_ABOUT: Final = 1
"""Days: two clocks at midnight."""
_CLAIMS: Final = 100_000
"""The claims of some minutes."""
_LATE_S: Final = 1.0
_KEPT_S: Final = 600.0
"""Seconds within which a crawler gives back what others are to have: longer than the visits that are under way."""
_LONGEST_PAUSE_S: Final = 240.0
"""Between two requests to a host; crawlers themselves wait two minutes at most, and hold a turn for one."""
_OTHER_DAY: Final = "the day there is not that of this server: set the clock right, there or here"
_ALARMS: Final = frozenset({AlarmKind.OFFLINE, AlarmKind.LOOP_LAG, AlarmKind.OWN_FAULT})
"""The alarms that are a crawler's own."""

_Written = Mapping[tuple[HostGroup, int], Contacts]


class CrawlServer(CallServer):
    """Does the calls of remote crawlers, in one web process. `today` is the day here."""

    calls = table_of(CrawlerCalls, CrawlStore)
    most_inflated = MOST_INFLATED

    def __init__(self, pool: Pool, config: CrawlConfig, policy: Policy, today: Callable[[], int]) -> None:
        super().__init__(pool)
        self._today = today
        self._config = config
        self._policy = policy
        self._kept: dict[str, float] = {}
        self._slots = _ShortSlots(pool, max(_LONGEST_PAUSE_S, config.delay))
        self._any = Work(pool, "", config, policy)  # its paces are kept, for all calls

    def handlers(self, connections: Connections, client: str, worker: str) -> Handlers:
        """The store's own work, by a worker named for its token; its place is its client (D-456)."""
        work = _OwnWork(connections, f"{client}:{worker}", self._config, self._policy)
        work.client, work.kept, work.today = client, self._kept, self._today
        days, losses, alarms = Days(connections), LossExchange(connections), Alarms(connections)
        looks = SecondLooks(connections, client)
        store = CrawlStore(work, days, losses, alarms, self._slots, looks, self._pool.away)
        process = CrawlerCalls(self._pool, client, self._config, self._policy)
        here = CrawlerRights(connections, client, work.worker, self._any, self._today)
        return Handlers(here, {CrawlerCalls: process, **implementations(store)})


class _OwnWork(Work):
    """The work of one remote worker, whose checks are counted at once.

    `kept`: since when the crawlers of a client have held what is more than their part.
    """

    client: str
    kept: dict[str, float]
    today: Callable[[], int]

    async def renew(self, held: Held) -> set[int]:
        """As `Work`; ends leases above the part of a token that gives none back for minutes, while others wait."""
        async with self._connections.connection() as conn:
            if excess := await find_excess(conn, self.worker, Moment(self.today())):
                if monotonic() - self.kept.setdefault(self.client, monotonic()) >= _KEPT_S:
                    await record_release(conn, self.worker, dict(islice(held.items(), excess)))
            else:
                self.kept.pop(self.client, None)
            return await record_renewal(conn, self.worker, held, lease_s=self._config.lease_s)

    async def record(self, checks: Sequence[Checked], held: Held) -> Tally:
        """As `Work`; adds the checks to the store's numbers in the same transaction."""
        if not checks:
            return Tally()
        tally = await super().record(checks, held)
        await self.note_checked()
        return tally


class CrawlerRights(OnStore):
    """Checks and conversions of the arguments of a crawler's calls; the methods raise NotAllowed."""

    def __init__(
        self, connections: Connections, client: str, worker: str, any_work: Work, today: Callable[[], int]
    ) -> None:
        super().__init__(connections)
        self._worker = worker
        self._any = any_work
        self._client = client
        self._today = today

    async def require_day(self, day: int) -> None:
        """Refuses a day that is not about today."""
        if abs(day - self._today()) > _ABOUT:
            raise NotAllowed("day", _OTHER_DAY)

    async def require_due(self, until: int | Moment) -> None:
        """Refuses work that is due on a day to come; no past day does harm."""
        day = until.day if isinstance(until, Moment) else until
        await self.require_day(max(day, self._today()))

    async def refuse_day(self, day: int) -> None:
        """Refuses every day: after a jump an operator looks at the clock of the database's server."""
        raise NotAllowed(
            "confirm-day",
            "a day is confirmed on the server's machine alone: if it is right, run `weboid crawl --once --confirm-day` "
            "there",
        )

    async def require_alarm(self, kind: AlarmKind) -> None:
        """Raises BadMessage for an alarm that is not a crawler's."""
        if kind not in _ALARMS:
            raise BadMessage("this alarm is not a crawler's")

    async def require_own(self, held: Held) -> None:
        """Refuses leases of others."""
        if await self._run(list_foreign, self._worker, held):
            raise NotAllowed("lease", "a lease of another crawler is its own: only who holds a bucket may use it")

    async def require_host(self, host: HostKey) -> None:
        """Refuses a host whose bucket this worker does not hold."""
        if not await self._run(list_own, self._worker, [host.bucket]):
            raise NotAllowed("rest", "a host that this crawler does not hold gets no pause from it")

    async def rest_of(self, seconds: float) -> float:
        """A pause, cut to the longest interval between two checks."""
        return min(seconds, (await self._any.find_paces()).usual.longest_interval * 86_400.0)

    async def require_days(self, sightings: Sequence[Sighting]) -> None:
        """Refuses what was seen on days that are not about today."""
        for day in {each.day for each in sightings}:
            await self.require_day(day)

    async def judged(self, sightings: Sequence[Sighting]) -> Sequence[Checked]:
        """The checks of what was seen, judged by the paces of this server."""
        paces = await self._any.find_paces()
        return await self._run(judged, self._client, sightings, paces.of, self._today())

    async def lived(self) -> int:
        """The newest day on which any worker worked."""
        return await self._run(find_lived) or 0

    async def signed(self, detail: str) -> str:
        """The words of an alarm, with the crawler that raises it."""
        return f"{self._client}: {detail}"

    async def counting(self, written: _Written) -> _Written:
        """Contacts without those that are too old to count; refuses those of a day to come."""
        today = self._today()
        await self.require_day(max([today, *(seen_on for _, seen_on in written)]))
        return {key: contacts for key, contacts in written.items() if key[1] > today - WINDOW_DAYS}


class _ShortSlots(StoreSlots):
    """Turns at hosts for remote crawlers, held until it is known that their requests were sent.

    Redirects and robots.txt lead to hosts that no lease covers, so pauses there are short ones only.
    """

    def __init__(self, pool: Pool, longest_s: float) -> None:
        super().__init__(pool)
        self._longest_s = longest_s
        self._over: BoundedMap[int, bool] = BoundedMap(_CLAIMS)
        """Claims whose turns are over: what still wants one, or holds it, is late, and would hold a host for nobody."""

    async def exchange(
        self, notes: Mapping[HostKey, SlotNote], wanted: Mapping[HostKey, WantedSlot], *, are_held: bool = True
    ) -> dict[HostKey, SlotState]:
        """Leaves out what is late."""
        for note in notes.values():
            if not note.is_held:
                self._over[note.claim] = True
        noted = {
            host: note._replace(seconds=self._pause(note.seconds))
            for host, note in notes.items()
            if not (note.is_held and note.claim in self._over)
        }
        asked = {
            host: slot._replace(delay_s=self._pause(slot.delay_s))
            for host, slot in wanted.items()
            if slot.claim not in self._over
        }
        states = await super().exchange(noted, asked, are_held=are_held)
        late = SlotState(is_ours=False, is_held=False, free_s=_LATE_S)
        return {host: states.get(host, late) for host in wanted}

    def _pause(self, seconds: float) -> float:
        return min(max(seconds, 0.0), self._longest_s)
