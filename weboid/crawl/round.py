"""A round: leases buckets and visits their due hosts, oldest first, until nothing is due or it is stopped (C-3).

A host is visited by one task at a time, and its visit ends only when all its results are written. ``crawl/shares`` says
which hosts must wait for others of their domain or address.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Final

from weboid.checking.connectivity import CANARIES, Ask, Connectivity
from weboid.checking.online import LOOK_S, Online
from weboid.config import CrawlConfig
from weboid.core.record.moment import Moment
from weboid.core.record.pace import FEW_URLS
from weboid.core.record.policy import Policy
from weboid.crawl.leases import Leases
from weboid.crawl.losses import Losses
from weboid.crawl.own_faults import Failed, is_own_fault, log_failure
from weboid.crawl.recorder import Recorder
from weboid.crawl.shares import Shares, Waiting
from weboid.crawl.visit import SecondOutcome, Visit, postponed
from weboid.errors import StoreAway
from weboid.mechanism.patience import is_stopped_within
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.tasks import cancel
from weboid.remote.crawl.work import Paces, Work
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked, Tally

log = logging.getLogger(__name__)

_GRACE_S: Final = 10.0
"""Seconds that checks under way may take after a stop: Toolforge kills 15 s after SIGTERM."""
_WINDOWS: Final = 4
"""Windows of due hosts that are read at a time."""
_TICK_S: Final = 0.02
"""Visits that end within one tick are replaced together."""
_BUSY_S: Final = 0.5
_RETRY_S: Final = 1.0
_RETRY_LIMIT_S: Final = 15.0
_AWAY_GRACE_S: Final = 2.0
"""The same while the store is away."""
_LOOK_WHETHER_AWAY_S: Final = 0.5
_ANY: Final = "FIRST_COMPLETED"


@dataclass(slots=True)
class RoundProgress:
    """The progress of a round. `busy`: the number of buckets with due hosts that other workers hold."""

    tally: Tally
    hosts: int = 0
    busy: int = 0


class Round:
    """One worker's round. `now` is called at every check, so that a round may go on past midnight.

    With `waits` only hosts whose hour has come are visited; otherwise all that are due that day. `is_away`: the store
    cannot do its work now. `count` takes all checks that were written, `failed` each error of our own by which a visit
    has ended.
    """

    def __init__(
        self,
        work: Work,
        ask: Ask,
        online: Online,
        *,
        now: Callable[[], Moment],
        config: CrawlConfig,
        connections: int,
        policy: Policy,
        second_opinion: SecondOutcome | None = None,
        losses: Losses | None = None,
        is_away: Callable[[], bool] = lambda: False,
        waits: bool = False,
        show: Callable[[RoundProgress], None] = lambda progress: None,
        count: Callable[[Sequence[Checked]], None] = lambda written: None,
        find_address: Callable[[str], Awaitable[str | None]] | None = None,
        failed: Failed = log_failure,
    ) -> None:
        self._work = work
        self._failed = failed
        self._second_opinion = second_opinion
        self._losses = losses
        self._is_away = is_away
        self._now = now
        self._waits = waits
        self._config = config
        self._paces = Paces(policy, {})
        self._show = show
        # Some visits wait for their turn or for the database while others have a connection.
        self._window = connections + connections // 2 + 1
        self._shares = Shares(self._window)
        self._find_address = find_address
        self._changed = asyncio.Event()
        """Set whenever a visit or the recorder has ended, buckets may be leased, or the round is stopped."""
        self._leases = Leases(work, lease_s=config.lease_s, lost=self._give_up, more=self._changed.set)
        self._read: deque[Waiting] = deque()
        self._open: dict[HostKey, asyncio.Task[None]] = {}
        self._recorder = Recorder(work, self._leases.held, batch=config.batch, count=count)
        self._stopping = asyncio.Event()
        self._ended: list[HostKey] = []
        self._without_place: dict[HostKey, Waiting] = {}
        """Hosts whose visits ended at once, since their addresses have their shares."""
        self._connectivity = Connectivity(ask, online, down=self.stop)
        self._progress = RoundProgress(self._recorder.tally)

    def stop(self) -> None:
        """Starts no new checks from now on; those under way are finished and written."""
        self._stopping.set()
        self._changed.set()

    @property
    def is_cut_off(self) -> bool:
        """Returns whether the round ended because our own connection is down (C-16)."""
        return self._connectivity.is_down

    @property
    def why_cut_off(self) -> str:
        """The fault of our connection, for an operator."""
        return self._connectivity.explanation

    @property
    def why_names_are_doubted(self) -> str:
        """The lie of our name servers, for an operator; empty if none is known."""
        return self._connectivity.why_names_are_doubted

    async def run(self) -> Tally:
        """Returns when no host is due any more, soon after `stop`, or when our connection is found to be down."""
        self._connectivity.know(await self._work.list_canaries(CANARIES))
        await self._connectivity.look()
        recording = asyncio.create_task(self._recorder.run())
        recording.add_done_callback(lambda _: self._changed.set())
        renewing = asyncio.create_task(self._leases.keep())
        sharing = asyncio.create_task(self._leases.share(self._until, self._visited))
        looking = asyncio.create_task(self._keep_looking())
        try:
            await self._visit_all(recording)
            await self._finish()
        finally:
            await cancel(*self._open.values())
            if not recording.done():
                self._recorder.close()
            await recording
            await cancel(renewing, sharing, looking)
            await self._connectivity.close()
            try:
                await self._leases.release_all_but()
            except StoreAway as error:
                log.debug("the leases are left to run out: %s", error)
            self._show(self._progress)
        if self._recorder.unwritten:
            log.warning("%d checks could not be written and will be made again", self._recorder.unwritten)
        return self._recorder.tally

    async def _keep_looking(self) -> None:
        """Stops the round when somebody is found to answer for all hosts."""
        while not self.is_cut_off:
            await asyncio.sleep(LOOK_S)
            await self._connectivity.look()

    async def _visit_all(self, recording: asyncio.Task[None]) -> None:
        pause = GrowingPause(_RETRY_S, _RETRY_LIMIT_S)
        while not self._stopping.is_set() and not recording.done():
            try:
                more = await self._refill()
                over = not self._open and not more and not await self._have_others_due()
            except StoreAway as error:
                log.debug("the round waits: %s", error)
                await is_stopped_within(self._stopping, pause.grown_s())
                self._remove_ended()
                continue
            pause.reset()
            self._progress.hosts = len(self._open)
            self._show(self._progress)
            if over:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0 if more else None if self._open else _BUSY_S):
                    await self._changed.wait()
            await asyncio.sleep(_TICK_S)
            self._remove_ended()

    async def _refill(self) -> bool:
        """Opens visits until the window is full; returns whether new buckets were leased, so that more may be due."""
        room = self._window - len(self._open)
        if room <= self._window // 4:
            return False
        until = self._until()
        self._paces = await self._work.find_paces()
        hosts: list[Waiting] = []
        put_off: list[Waiting] = []
        try:
            await self._take_hosts(room, until, hosts, put_off)
            due = await self._work.list_urls([host.key for host, _ in (*hosts, *put_off)], until.day)
            many = [host.key for host, _ in hosts if len(due[host.key]) > FEW_URLS]
            # Without an hour no host rests: portions would follow each other, only more dearly.
            portions = await self._work.begin_portions(many, until) if many and self._waits else {}
        except StoreAway:
            for waiting in hosts:
                self._read.extendleft(self._shares.give_back(waiting.host.key))
            self._read.extendleft((*hosts, *put_off))
            raise
        for waiting in hosts:
            if (urls := due[waiting.host.key]) and self._leases.may_visit(waiting):
                most = portions.get(waiting.host.key, len(urls))
                self._begin(waiting.host.key, self._visit(waiting, urls, most))
            else:
                self._read.extendleft(self._shares.give_back(waiting.host.key))
                self._changed.set()  # its place in the window is another host's, at once
        for waiting in put_off:
            if (urls := due[waiting.host.key]) and self._leases.may_visit(waiting):
                self._begin(waiting.host.key, self._put_off(waiting.host, urls))
        if len(hosts) + len(put_off) >= room:
            return False
        # The held buckets have no other host that is due before those in other buckets.
        waiting_buckets = {key.bucket for key in self._shares.aside} | {host.key.bucket for host, _ in self._read}
        await self._leases.release_all_but(waiting_buckets | self._visited())
        return await self._leases.add(until)

    async def _take_hosts(self, room: int, until: Moment, hosts: list[Waiting], put_off: list[Waiting]) -> None:
        """Adds the next hosts to visit, as many as there is room for, and those that are put off for a day.

        Hosts beyond the share of their domain are set aside, or put off if too many are.
        """
        self._read.extendleft(self._shares.take_back())
        more = len(self._read) >= room or await self._read_more(until)
        while True:
            for waiting in self._unread():
                if self._shares.take(waiting.host):
                    hosts.append(waiting)
                elif not self._shares.set_aside(waiting):
                    put_off.append(waiting)
                if len(hosts) + len(put_off) == room:
                    return
            if not more:
                return
            more = await self._read_more(until, (*hosts, *put_off))

    def _visited(self) -> set[int]:
        return {key.bucket for key in self._open}

    def _begin(self, key: HostKey, visit: Coroutine[Any, Any, None]) -> None:
        task = self._open[key] = asyncio.create_task(visit)
        task.add_done_callback(partial(self._end, key))

    def _until(self) -> Moment:
        moment = self._now()
        return moment if self._waits else Moment(moment.day)

    async def _read_more(self, until: Moment, taken: Sequence[Waiting] = ()) -> bool:
        """Reads due hosts for several windows at once: passing the list of open hosts costs more than reading them.

        `taken` are about to be opened. Returns whether there may be more.
        """
        but = [*self._open, *(host.key for host, _ in (*self._read, *taken)), *self._shares.aside]
        held = {bucket: self._leases.held[bucket] for bucket in self._leases.held.keys() - self._leases.leaving}
        limit = _WINDOWS * self._window
        hosts = await self._work.list_hosts(held, until=until, but=but, limit=limit)
        self._read.extend(Waiting(host, held[host.key.bucket]) for host in hosts)
        return len(hosts) >= limit

    def _unread(self) -> Iterator[Waiting]:
        """The hosts read whose bucket is still held under the same lease as when they were read, and is to be kept."""
        while self._read:
            waiting = self._read.popleft()
            if self._leases.may_visit(waiting):
                yield waiting

    async def _visit(self, waiting: Waiting, urls: list[StoredUrl], most: int) -> None:
        """One visit. An error of ours within it puts off the URLs that have no result yet."""
        host, visit = waiting.host, None
        try:
            if await self._has_place(waiting, urls):
                visit = self._new_visit(host, urls, most)
                await visit.run()
        except Exception as error:
            if not is_own_fault(error):
                raise
            self._failed(host.key, visit.at if visit else host.host, error)
            await (visit.give_up() if visit else self._put_off(host, urls))

    async def _has_place(self, waiting: Waiting, urls: list[StoredUrl]) -> bool:
        """Takes a host's place as one of its address, too; without one it is set aside, or put off for a day."""
        host = waiting.host
        address = await self._find_address(host.host) if self._find_address else None
        if self._shares.take_at(host.key, address):
            return True
        if self._shares.has_room:
            self._without_place[host.key] = waiting
        else:
            await self._put_off(host, urls)
        return False

    async def _put_off(self, host: StoredHost, urls: Sequence[StoredUrl]) -> None:
        await asyncio.gather(*map(self._recorder.record, postponed(host, urls, self._now().day)))

    def _new_visit(self, host: StoredHost, urls: list[StoredUrl], most: int) -> Visit:
        is_last = most >= len(urls)
        check = partial(self._connectivity.check, raises=True)
        watched = self._losses.watched(host, urls, check, is_last=is_last) if self._losses else None
        return Visit(
            host,
            urls,
            check=watched.check if watched else check,
            on_failing=watched.failing if watched else None,
            second_opinion=self._second_opinion,
            report=self._recorder.record,
            now=self._now,
            policy=self._paces.of(host.key),
            stopping=self._stopping.is_set,
            leaving=lambda: host.key.bucket in self._leases.leaving,
            most=most,
            more=partial(self._more_of, host.key),
        )

    async def _more_of(self, host: HostKey, day: int) -> Sequence[StoredUrl]:
        return (await self._work.list_urls([host], day))[host]

    def _end(self, host: HostKey, _: asyncio.Task[None]) -> None:
        self._ended.append(host)
        self._changed.set()

    def _remove_ended(self) -> None:
        self._changed.clear()
        ended, self._ended = self._ended, []
        for host in ended:
            task = self._open.pop(host)
            if not task.cancelled():
                task.result()
        for host in ended:
            self._read.extendleft(self._shares.give_back(host))
        for host in ended:
            waiting = self._without_place.pop(host, None)
            if waiting and not self._shares.set_aside(waiting):  # there is a place for it by now
                self._read.appendleft(waiting)

    async def _have_others_due(self) -> bool:
        """Returns whether buckets that we could not lease have due hosts, which others finish or we take over later.

        Buckets that were just given back count, too: the last lease may just have run out.
        """
        self._progress.busy = await self._work.count_due_buckets(self._until())
        return self._progress.busy > 0

    def _give_up(self, bucket: int) -> None:
        for key, task in self._open.items():
            if key.bucket == bucket:
                task.cancel()

    async def _finish(self) -> None:
        """Waits for the open visits to end, at most `_GRACE_S`, or `_AWAY_GRACE_S` while the store is away."""
        begun = monotonic()
        while self._open:
            grace_s = _AWAY_GRACE_S if self._is_away() else _GRACE_S
            if (left := begun + grace_s - monotonic()) <= 0:
                return
            await asyncio.wait(self._open.values(), timeout=min(left, _LOOK_WHETHER_AWAY_S), return_when=_ANY)
            self._remove_ended()
