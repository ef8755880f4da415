"""A round: leases buckets, visits their due hosts at random, until nothing is due or it is told to stop (C-3).

One law: a host is visited by one task at a time, and its visit is over only when all it found is written.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import monotonic
from typing import Final

from weboid.checking.connectivity import CANARIES, Connectivity
from weboid.checking.turns import NotAsked
from weboid.config import CrawlConfig
from weboid.core.document.likeness import Portrait
from weboid.core.observe.check_request import CheckRequest, is_sampled
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import Policy
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.judge import is_host_failure
from weboid.crawl.recorder import Recorder
from weboid.crawl.visit import Ask, SecondOutcome, Visit
from weboid.errors import StoreError
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Tally
from weboid.store.schedule.lease import Held, count_busy, lease_buckets, record_release, record_renewal
from weboid.store.urls.check import record_next_days
from weboid.store.urls.portrait import list_portraits
from weboid.store.urls.url import list_canaries, list_due_hosts, list_due_urls

log = logging.getLogger(__name__)

_LEASED_AT_ONCE: Final = 512
_GRACE_S: Final = 10.0
"""After a stop, how long answers under way are waited for: Toolforge kills 15 s after SIGTERM."""
_WINDOWS: Final = 4
"""Due hosts read at a time, in windows."""
_TICK_S: Final = 0.02
"""Visits that end within one tick are replaced together."""
_BUSY_S: Final = 0.5
_RETRY_S: Final = 1.0
_ANY: Final = "FIRST_COMPLETED"


@dataclass(slots=True)
class RoundProgress:
    """Where a round stands. `busy` buckets with due hosts are in the hands of other workers."""

    tally: Tally
    hosts: int = 0
    busy: int = 0


class Round:
    """One worker's round. `today` is asked at every check, so that a round may pass midnight."""

    def __init__(
        self,
        pool: Pool,
        ask: Ask,
        *,
        worker: str,
        today: Callable[[], int],
        config: CrawlConfig,
        connections: int,
        policy: Policy,
        second_opinion: SecondOutcome | None = None,
        show: Callable[[RoundProgress], None] = lambda progress: None,
    ) -> None:
        self._pool = pool
        self._ask = ask
        self._second_opinion = second_opinion
        self._worker = worker
        self._today = today
        self._config = config
        self._policy = policy
        self._show = show
        # Some visits wait for their turn or for the database while others have a connection.
        self._window = connections + connections // 2 + 1
        self._held: dict[int, int] = {}
        self._read: deque[tuple[StoredHost, int]] = deque()
        self._open: dict[HostKey, asyncio.Task[None]] = {}
        self._recorder = Recorder(pool, self._held, policy=policy, batch=config.batch)
        self._stopping = False
        self._news = asyncio.Event()
        """Set whenever a visit or the recorder has ended, or the round is told to."""
        self._ended: list[HostKey] = []
        self._uplink = Connectivity(self._is_answered)
        self._progress = RoundProgress(self._recorder.tally)

    def stop(self) -> None:
        """Nothing new is asked from now on; what is under way is finished and written."""
        self._stopping = True
        self._news.set()

    @property
    def is_cut_off(self) -> bool:
        """Whether the round ended because it is we who are down (C-16)."""
        return self._uplink.is_down

    async def run(self) -> Tally:
        """Returns when no host is due any more, soon after `stop`, or when we are found to be cut off."""
        async with self._pool.connection() as conn:
            self._uplink.know(self._config.canaries or await list_canaries(conn, limit=CANARIES))
        recording = asyncio.create_task(self._recorder.run())
        recording.add_done_callback(lambda _: self._news.set())
        renewing = asyncio.create_task(self._renew())
        try:
            await self._visit_all(recording)
            await self._finish()
        finally:
            for task in self._open.values():
                task.cancel()
            await asyncio.gather(*self._open.values(), return_exceptions=True)
            if not recording.done():
                await self._recorder.close()
            await recording
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await self._uplink.close()
            await self._release(self._held)
            self._show(self._progress)
        return self._recorder.tally

    async def _visit_all(self, recording: asyncio.Task[None]) -> None:
        while not self._stopping and not recording.done():
            try:
                more = await self._refill()
                over = not self._open and not more and not await self._others_are_busy()
            except StoreError as error:
                log.warning("the round waits: %s; next try in %.0f s", error, _RETRY_S)
                await asyncio.sleep(_RETRY_S)
                continue
            self._progress.hosts = len(self._open)
            self._show(self._progress)
            if over:
                return
            await self._wait(None if self._open else 0 if more else _BUSY_S)
            await asyncio.sleep(_TICK_S)
            self._reap()

    async def _wait(self, limit_s: float | None) -> None:
        """Returns when there is news, or after so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._news.wait()

    async def _refill(self) -> bool:
        """Opens visits until the window is full; returns whether new buckets came in, so that more may be due."""
        room = self._window - len(self._open)
        if room <= self._window // 4:
            return False
        day = self._today()
        async with self._pool.connection() as conn:
            if len(self._read) < room:
                await self._read_more(conn, day)
            hosts = list(islice(self._unread(), room))
            urls = await list_due_urls(conn, [host.key for host in hosts], day=day, per_host=self._config.per_host)
            sampled = [url.key for due in urls.values() for url in due if is_sampled(url.key.url_key)]
            portraits = await list_portraits(conn, sampled)
            # Their last due URL was orphaned: nothing to ask, but another day to wait for.
            await record_next_days(conn, [host for host, due in urls.items() if not due])
        for host in hosts:
            if due := urls[host.key]:
                task = self._open[host.key] = asyncio.create_task(self._visit(host, due, portraits))
                task.add_done_callback(partial(self._end, host.key))
        if len(hosts) == room:
            return False
        await self._release_done()
        return await self._lease(day)

    async def _read_more(self, conn: Connection, day: int) -> None:
        """Reads due hosts for more than one window: the list of those that are open already costs more than they do."""
        beside = [*self._open, *(host.key for host, _ in self._read)]
        hosts = await list_due_hosts(conn, list(self._held), day=day, beside=beside, limit=_WINDOWS * self._window)
        self._read.extend((host, self._held[host.key.bucket]) for host in hosts)

    def _unread(self) -> Iterator[StoredHost]:
        """The hosts read that are still ours, under the lease under which they were read."""
        while self._read:
            host, epoch = self._read.popleft()
            if self._held.get(host.key.bucket) == epoch:
                yield host

    async def _visit(self, host: StoredHost, urls: list[StoredUrl], portraits: Mapping[UrlKey, Portrait]) -> None:
        visit = Visit(
            host,
            urls,
            portraits,
            ask=self._asked,
            second_opinion=self._second_opinion,
            report=self._recorder.record,
            today=self._today,
            policy=self._policy,
            stopping=lambda: self._stopping,
        )
        await visit.run()

    async def _asked(self, question: CheckRequest) -> Observation | None:
        """One check, believed only if it is not we who are down; None for whatever is no fault of theirs."""
        self._uplink.begin()
        try:
            seen = await self._ask(question)
        except NotAsked as why:
            log.debug("not asked now: %s", why)
            return None
        except Exception as error:
            # Sockets and name servers of our own need no stack trace; a bug does.
            log.warning("could not check %r: %r", question.url, error, exc_info=not isinstance(error, OSError))
            seen = None
        finally:
            self._uplink.end()
        if seen is not None and not is_host_failure(seen):
            # Who wants to be left alone is not asked again to see whether we are down.
            self._uplink.answered(None if seen.retry_after_s else question.url)
        elif not await self._uplink.is_believed(question.url.split("/", 3)[2]):
            self.stop()
            return None
        return seen

    async def _is_answered(self, url: str) -> bool:
        """Whether a canary lives."""
        try:
            seen = await self._ask(CheckRequest(url))
        except Exception as error:
            log.warning("could not ask the canary %r: %r", url, error)
            return False
        return seen is not None and not is_host_failure(seen)

    def _end(self, host: HostKey, _: asyncio.Task[None]) -> None:
        self._ended.append(host)
        self._news.set()

    def _reap(self) -> None:
        """Takes away the visits that have ended: those alone are looked at, however many are open."""
        self._news.clear()
        ended, self._ended = self._ended, []
        for host in ended:
            task = self._open.pop(host)
            if not task.cancelled():
                task.result()

    async def _lease(self, day: int) -> bool:
        async with self._pool.connection() as conn:
            leased = await lease_buckets(
                conn,
                self._worker,
                day=day,
                limit=_LEASED_AT_ONCE,
                lease_s=self._config.lease_s,
                rest_s=self._config.delay,
            )
        self._held.update(leased)
        return bool(leased)

    async def _release_done(self) -> None:
        """Gives back buckets in which nothing is due but what is open; called when no other due host was found."""
        busy = {key.bucket for key in self._open} | {host.key.bucket for host, _ in self._read}
        done = {bucket: epoch for bucket, epoch in self._held.items() if bucket not in busy}
        await self._release(done)
        for bucket in done:
            del self._held[bucket]

    async def _release(self, held: Held) -> None:
        if held:
            async with self._pool.connection() as conn:
                await record_release(conn, held)

    async def _others_are_busy(self) -> bool:
        """Whether other workers hold buckets with due hosts: they finish them, or vanish and we take over."""
        async with self._pool.connection() as conn:
            self._progress.busy = await count_busy(conn, self._today(), rest_s=self._config.delay)
        return self._progress.busy > 0

    async def _renew(self) -> None:
        """Renews the leases; visits to buckets that were taken over meanwhile are given up."""
        while True:
            await asyncio.sleep(self._config.lease_s / 3)
            held = dict(self._held)
            try:
                async with self._pool.connection() as conn:
                    ours = await record_renewal(conn, held, lease_s=self._config.lease_s)
            except StoreError as error:
                log.warning("leases not renewed: %s", error)
                continue
            for bucket in held.keys() - ours:
                if self._held.get(bucket) == held[bucket]:
                    log.warning("bucket %d was taken over by another worker", bucket)
                    del self._held[bucket]
                    for key, task in self._open.items():
                        if key.bucket == bucket:
                            task.cancel()

    async def _finish(self) -> None:
        """Lets what is under way come to its end, within the grace of a stop."""
        end = monotonic() + _GRACE_S
        while self._open and (left := end - monotonic()) > 0:
            await asyncio.wait(self._open.values(), timeout=left, return_when=_ANY)
            self._reap()
