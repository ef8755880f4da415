"""Runs the tasks that administrators order (R-1, R-7): some at a time, the others in the order of the store.

A task that was under way when its process ended goes on when the next one begins, whenever that is (D-466): its orders,
its state and all that it found are in the store. Places of links are written anew then, as they come anew. Turns at
hosts and the stop list are those of the link checker, and only what the guard allows is asked.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import msgspec

from weboid.checking.checker import Checker
from weboid.checking.spot_checks import SpotChecks
from weboid.checking.turns import LocalTurns, NotAsked
from weboid.config import CrawlConfig, RobotConfig
from weboid.core.record.moment import Moment
from weboid.core.url.urls import parse
from weboid.errors import StoreAway, WeboidError
from weboid.mechanism.patience import is_stopped_within
from weboid.mechanism.tasks import cancel, in_background
from weboid.net.exchange import Sending
from weboid.net.outbound import Outbound
from weboid.robot.wanted import WantedTask
from weboid.site.externals import Externals
from weboid.site.keep import RunMemory
from weboid.site.place import Summary
from weboid.site.places import KeptPlaces
from weboid.site.rules import RulesOfOrigins
from weboid.site.start import SiteSessions, SiteStart
from weboid.site.walk import SiteWalk
from weboid.store.db.pool import Pool
from weboid.store.site.ordered import OrderedTask, TaskState, delete_places, list_ordered, record_places, record_state

log = logging.getLogger(__name__)

LOOK_S: Final = 1.0
"""The interval at which new orders are looked for, and how far a run has come is written; a stop is heeded then."""
_GOES_ON_DAYS: Final = 10_000
"""An ordered run goes on whenever its process comes back."""


@dataclass
class RobotTasks:
    """The ordered tasks of a store, of which this process alone runs any; `now_s` are seconds since 1970."""

    pool: Pool
    session: Outbound
    turns: LocalTurns
    config: RobotConfig
    crawl: CrawlConfig
    open_checks: Callable[[], AbstractAsyncContextManager[SpotChecks]]
    now: Callable[[], Moment]
    now_s: Callable[[], float]
    _runs: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._checker = Checker(self.session, self.turns, self.crawl)

    @property
    def activity(self) -> str:
        """The work under way, in words."""
        return f"{len(self._runs)} of {self.config.tasks} tasks under way" if self._runs else ""

    async def run(self, stopped: asyncio.Event, *, show: Callable[[str], object] = lambda activity: None) -> None:
        """Runs what is ordered until `stopped` is set; what is under way then goes on the next time."""
        try:
            while not stopped.is_set():
                try:
                    await self._look()
                    self.pool.away.passed()
                except StoreAway as error:
                    self.pool.away.met(error)
                show(self.activity)
                await is_stopped_within(stopped, LOOK_S)
        finally:
            await cancel(*self._runs.values())

    async def _look(self) -> None:
        """Begins what is ordered as far as there is room, and ends what is to be stopped and does not run."""
        self._runs = {number: run for number, run in self._runs.items() if not run.done()}
        async with self.pool.connection() as conn:
            tasks = [each for each in await list_ordered(conn, is_active=True) if each.task not in self._runs]
            for task in tasks:
                if task.is_to_stop:
                    await record_state(conn, task.task, TaskState.STOPPED, {})
        for task in [each for each in tasks if not each.is_to_stop][: self.config.tasks - len(self._runs)]:
            self._runs[task.task] = asyncio.create_task(self._run(task))

    async def _run(self, task: OrderedTask) -> None:
        """Runs a task to its end; without the store it is left as it is, and begins again."""
        try:
            await self._walk(task)
        except StoreAway as error:
            log.debug("%s waits for the store: %s", task.name, error)
        except Exception as error:
            is_known = isinstance(error, WeboidError)
            if not is_known:
                log.error("an error of our own in the task of %r", task.name, exc_info=error)
            fault = str(error) if is_known else f"an error of our own: {type(error).__name__}"
            with suppress(StoreAway):
                async with self.pool.connection() as conn:
                    await record_state(conn, task.task, TaskState.FAILED, {"fault": fault})

    async def _walk(self, task: OrderedTask) -> None:
        wanted = msgspec.convert(task.wanted, WantedTask)
        orders = wanted.orders(age_s=task.age_s, clock_s=monotonic(), now_s=self.now_s(), most_pages=self.config.pages)
        start = SiteStart(parse(task.starts[0]))
        memory = RunMemory(
            self.pool, task.name, self.now(), str(start.url._replace(path="")), with_anchors=wanted.checks_fragments
        )
        places = KeptPlaces()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(memory.run(task.starts, orders, goes_on_days=_GOES_ON_DAYS))
            async with self.pool.connection() as conn:
                await delete_places(conn, task.task)
                await record_state(conn, task.task, TaskState.RUNNING, {})
            externals = None
            if wanted.checks_external:
                externals = Externals(lambda: stack.enter_async_context(self.open_checks()), None, memory)
            walk = SiteWalk(
                SiteSessions(start, self.session, self.session),
                orders,
                self.crawl,
                places.add,
                externals,
                RulesOfOrigins(self._turn),
                memory,
                wanted.checks_fragments,
                queue=self.config.queue,
                turn=self._turn,
                slow=self.turns.slow,
            )
            watch = _Watch(self.pool, task.task, walk, places)
            running = asyncio.create_task(walk.run(task.starts))
            try:
                async with in_background(watch.run(running)):
                    summary = await running
            finally:
                await cancel(running)
            if walk.ended_by:
                raise walk.ended_by
            if watch.is_stopped or not summary.is_interrupted:
                await watch.end()
            await memory.end(summary.statistics, is_whole=not summary.is_interrupted)

    async def _turn(self, host: str) -> Sending | None:
        """The turn at a host, however long that takes."""
        while True:
            try:
                return await self._checker.turn(host)
            except NotAsked:
                await asyncio.sleep(self.turns.delay_of(host))


@dataclass
class _Watch:
    """Writes how far a run has come, and stops it if that is wanted."""

    pool: Pool
    task: int
    walk: SiteWalk
    places: KeptPlaces
    is_stopped: bool = False

    async def run(self, running: asyncio.Task[Summary]) -> None:
        """Writes again and again, and cancels the run once it is to stop."""
        while not self.is_stopped:
            await asyncio.sleep(LOOK_S)
            with suppress(StoreAway):
                self.is_stopped = await self._write(TaskState.RUNNING)
        running.cancel()

    async def end(self) -> None:
        """Writes that the run has come to its end, or was stopped."""
        await self._write(TaskState.STOPPED if self.is_stopped else TaskState.FINISHED)

    async def _write(self, state: TaskState) -> bool:
        is_over = state is not TaskState.RUNNING
        rows, taken = self.places.take(all_of_them=is_over)
        try:
            async with self.pool.connection() as conn:
                await record_places(conn, self.task, rows)
                return await record_state(conn, self.task, state, self._progress(is_over=is_over))
        except BaseException:
            self.places.give_back(taken)
            raise

    def _progress(self, *, is_over: bool) -> dict[str, Any]:
        walk, numbers = self.walk, self.walk.statistics()
        if is_over and numbers:  # what a stop has left waiting or open is dropped
            numbers["dropped"] += numbers["waiting"] + numbers["open"]
            numbers["waiting"] = numbers["open"] = 0
        return {
            "statistics": numbers,
            "filtered_by": dict(walk.task.statistics.filtered_by) if walk.task else {},
            "open": [] if is_over else walk.open_urls,
            "pages": walk.pages,
            "places": dict(walk.counts),
            "left_out": self.places.left_out,
        }
