"""The calls of crawlers elsewhere, done on the store (O-1).

One law: what a crawler may still write, epochs of leases say, however late its call comes; what no token may do at all,
``permitted`` says.
"""

from collections.abc import Callable
from typing import Any, Final

from weboid import __version__
from weboid.central.crawl import calls
from weboid.central.crawl.calls import Greeting
from weboid.central.crawl.core import CrawlCore
from weboid.central.crawl.on_store import StoreSecondLooks
from weboid.central.crawl.permitted import TokenAlarms, TokenDays, TokenLosses, TokenWork
from weboid.central.crawl.soundness import require_sound, require_sound_contacts
from weboid.central.crawl.store_work import StoreWork
from weboid.central.http.doing import Answering, OtherScheme, table_of
from weboid.central.http.kinds import OUR_SCHEME, Life, Nothing
from weboid.central.http.messages import BadMessage
from weboid.central.lending import Lender
from weboid.checking.slots import StoreSlots
from weboid.checking.stop_list import StopList
from weboid.config import CrawlConfig
from weboid.core.record.policy import Policy
from weboid.mechanism.bounded import BoundedMap
from weboid.store.db.pool import Pool
from weboid.store.schedule.part import PartProcess, PartRole, delete_part, record_seen, take_role
from weboid.store.schedule.turn import SlotState
from weboid.store.upkeep.alarm import AlarmKind

_CLAIMS: Final = 100_000
"""Those of some minutes."""
_LATE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 3_600.0
"""Between two requests to a host; crawlers themselves wait two minutes at most."""
_ALARMS: Final = frozenset({AlarmKind.OFFLINE, AlarmKind.LOOP_LAG, AlarmKind.OWN_FAULT})
"""The alarms that are a crawler's own."""


def _pause(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_PAUSE_S)


class CrawlAnswering(Answering[CrawlCore]):
    """Does the calls of crawlers elsewhere, in one web process. `today` is the day here."""

    most_given = calls.MOST_GIVEN

    def __init__(self, pool: Pool, config: CrawlConfig, policy: Policy, today: Callable[[], int]) -> None:
        super().__init__(pool)
        self._today = today
        self._config = config
        self._policy = policy
        self._slots = StoreSlots(pool)
        self._over: BoundedMap[int, bool] = BoundedMap(_CLAIMS)
        """Claims whose turns are over: what still wants one, or holds it, is late, and would hold a host for nobody."""

    def core_by(self, lender: Lender, worker: str) -> CrawlCore:
        """What a crawler of that name needs."""
        return CrawlCore(
            TokenWork(lender, worker, self._config, self._policy, self._today),
            TokenDays(lender, self._today),
            TokenLosses(lender, self._today),
            TokenAlarms(lender, self._today),
            self._slots,
            StoreSecondLooks(lender, ""),
            self._pool.away,
        )

    async def finish(self, core: CrawlCore) -> None:
        """Adds what the call has checked to the store's numbers, in the same transaction."""
        if isinstance(core.work, StoreWork):
            await core.work.note_checked()

    async def greet(self, client: str, core: CrawlCore, given: Nothing) -> Greeting:
        """What a crawler is told at its start."""
        config = self._config
        return Greeting(
            __version__,
            OUR_SCHEME,
            self._policy,
            config.delay,
            config.per_host,
            min(config.batch, calls.MOST_CHECKS),
            config.lease_s,
            config.strict,
            sorted(StopList(config.stop, config.stop_file).names),
            config.are_second_looks,
        )

    async def take_slots(self, client: str, core: CrawlCore, given: calls.SlotsWanted) -> Any:
        """Turns at hosts, held until it is known that their requests were sent.

        Redirects and robots.txt lead to hosts that no lease covers, so pauses there are short ones only.
        """
        for note in given.notes.values():
            if not note.is_held:
                self._over[note.claim] = True
        notes = {
            host: note._replace(seconds=_pause(note.seconds))
            for host, note in given.notes.items()
            if not (note.is_held and note.claim in self._over)
        }
        wanted = {
            host: slot._replace(delay_s=_pause(slot.delay_s))
            for host, slot in given.wanted.items()
            if slot.claim not in self._over
        }
        states = await self._slots.exchange(notes, wanted, are_held=True)
        late = SlotState(is_ours=False, is_held=False, free_s=_LATE_S)
        return {host: states.get(host, late) for host in given.wanted}

    def looks_of(self, client: str) -> StoreSecondLooks:
        """The second looks of a crawler elsewhere: its place is its client, whatever it says (D-456)."""
        return StoreSecondLooks(self._pool, client)

    async def live(self, client: str, core: CrawlCore, given: Life) -> Nothing:
        """Writes the sign of life of a crawler, or takes it away."""
        part = PartProcess(
            PartRole.CRAWL, f"{client}:{given.name}", given.host, given.machine, given.pid, given.version
        )
        async with self._pool.connection() as conn:
            if given.is_last:
                await delete_part(conn, part)
            elif not await record_seen(conn, part, given.doing, given.figures):
                await take_role(conn, part)
                await record_seen(conn, part, given.doing, given.figures)
        return Nothing()


async def _count_due(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.Due) -> int:
    if given.scheme != OUR_SCHEME:
        raise OtherScheme
    return await core.work.count_due(given.until, given.limit)


async def _canaries(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.Limit) -> Any:
    return await core.work.list_canaries(given.limit)


async def _lease(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.Until) -> Any:
    return await core.work.lease(given.until)


async def _renew(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.HeldNow) -> set[int]:
    return await core.work.renew(given.held)


async def _release(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.HeldNow) -> Nothing:
    await core.work.release(given.held)
    return Nothing()


async def _count_buckets(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.Until) -> int:
    return await core.work.count_due_buckets(given.until)


async def _hosts(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.HostsWanted) -> Any:
    return await core.work.list_hosts(given.buckets, until=given.until, but=given.but, limit=given.limit)


async def _urls(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.UrlsWanted) -> Any:
    return await core.work.list_urls(given.hosts, given.day)


async def _record(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.Batch) -> Any:
    require_sound(given.checks)
    return await core.work.record(given.checks, given.held)


async def _paces(_: CrawlAnswering, client: str, core: CrawlCore, given: Nothing) -> calls.FoundPaces:
    paces = await core.work.find_paces()
    return calls.FoundPaces(paces.usual, dict(paces.of_hosts))


async def _moment(_: CrawlAnswering, client: str, core: CrawlCore, given: Nothing) -> Any:
    return await core.days.find_moment()


async def _lived(_: CrawlAnswering, client: str, core: CrawlCore, given: Nothing) -> int | None:
    return await core.days.find_lived()


async def _accept_day(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.AcceptedDay) -> Nothing:
    await core.days.accept(given.day, is_over=given.is_over)
    return Nothing()


async def _confirm_day(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.OnDay) -> Nothing:
    await core.days.confirm(given.day)
    return Nothing()


async def _refuse_day(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.RefusedDay) -> Nothing:
    await core.days.refuse(given.since, given.detail)
    return Nothing()


async def _exchange(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.SeenLosses) -> Any:
    require_sound_contacts((group, contacts) for group, _, contacts in given.written)
    written = {(group, day): contacts for group, day, contacts in given.written}
    return await core.losses.exchange(given.day, written, given.found)


async def _raise_alarm(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.RaisedAlarm) -> Nothing:
    if given.kind not in _ALARMS:
        raise BadMessage("this alarm is not a crawler's")
    await core.alarms.raise_alarm(given.kind, given.day, f"{client}: {given.detail}")
    return Nothing()


async def _lower_alarm(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.OneAlarm) -> Nothing:
    if given.kind not in _ALARMS:
        raise BadMessage("this alarm is not a crawler's")
    await core.alarms.lower_alarm(given.kind)
    return Nothing()


async def _rest(_: CrawlAnswering, client: str, core: CrawlCore, given: calls.Rest) -> Nothing:
    assert isinstance(core.work, TokenWork)
    await core.work.require_host(given.host, client)
    await core.slots.rest(given.host, given.seconds)
    return Nothing()


async def _ask_look(answering: CrawlAnswering, client: str, core: CrawlCore, given: calls.LookWanted) -> Any:
    return await answering.looks_of(client).ask(given.look, given.key)


async def _take_looks(answering: CrawlAnswering, client: str, core: CrawlCore, given: calls.LooksTaken) -> Any:
    return await answering.looks_of(client).take(given.limit)


async def _answer_look(answering: CrawlAnswering, client: str, core: CrawlCore, given: calls.LookAnswered) -> Nothing:
    await answering.looks_of(client).answer(given.look, given.outcome)
    return Nothing()


CrawlAnswering.calls = table_of(
    (
        (calls.GREET, CrawlAnswering.greet),
        (calls.COUNT_DUE, _count_due),
        (calls.CANARIES, _canaries),
        (calls.LEASE, _lease),
        (calls.RENEW, _renew),
        (calls.RELEASE, _release),
        (calls.COUNT_BUCKETS, _count_buckets),
        (calls.HOSTS, _hosts),
        (calls.URLS, _urls),
        (calls.RECORD, _record),
        (calls.PACES, _paces),
        (calls.MOMENT, _moment),
        (calls.LIVED, _lived),
        (calls.ACCEPT_DAY, _accept_day),
        (calls.CONFIRM_DAY, _confirm_day),
        (calls.REFUSE_DAY, _refuse_day),
        (calls.EXCHANGE, _exchange),
        (calls.RAISE_ALARM, _raise_alarm),
        (calls.LOWER_ALARM, _lower_alarm),
        (calls.SLOTS, CrawlAnswering.take_slots),
        (calls.REST, _rest),
        (calls.ASK_LOOK, _ask_look),
        (calls.TAKE_LOOKS, _take_looks),
        (calls.ANSWER_LOOK, _answer_look),
        (calls.LIFE, CrawlAnswering.live),
    )
)
