"""``weboid crawl``: checks the links that are due."""

import asyncio
import contextlib
import logging
import os
import platform
import secrets
import shlex
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Final

import click
from rich.console import Console

from weboid.archive.visits.suggestions import Suggestions
from weboid.central.core import CrawlCore
from weboid.central.on_store import store_core
from weboid.checking.checker import Checker
from weboid.checking.date_witnesses import is_witnessed
from weboid.checking.lagged import LaggedChecker
from weboid.checking.online import Online
from weboid.checking.second_opinion import CommandOpinion, SecondOpinion
from weboid.checking.slots import Slots
from weboid.checking.turns import SharedTurns, Turns
from weboid.cli.arguments import online_of
from weboid.cli.console import PartConsole, bar
from weboid.cli.database import LAST_S
from weboid.cli.days import day_option, moments
from weboid.cli.part import RunningPart, open_part
from weboid.cli.process import raise_open_files, run_async
from weboid.cli.remote_part import RemotePart, open_remote_part
from weboid.cli.watched import with_stored
from weboid.config import Config, NetConfig
from weboid.core.record.days import iso
from weboid.core.record.moment import Moment
from weboid.crawl.figures import CrawlFigures
from weboid.crawl.lag_watch import LagWatch
from weboid.crawl.losses import Losses
from weboid.crawl.round import Round, RoundProgress
from weboid.crawl.worker_day import WorkerDay
from weboid.errors import DayRefused, StoreAway, WeboidError
from weboid.mechanism.background import in_background
from weboid.mechanism.cancelling import cancel
from weboid.mechanism.ending import ending
from weboid.mechanism.loop_lag import LoopLag
from weboid.mechanism.patience import patiently
from weboid.net.outbound import Outbound, open_session
from weboid.store.db.pool import Pool
from weboid.store.results.record import Tally
from weboid.store.schedule.day_total import DayFigure, record_totals
from weboid.store.schedule.part import PartRole
from weboid.store.upkeep.alarm import AlarmKind

log = logging.getLogger(__name__)

_IDLE_S = 5.0
"""The pause before due links are searched for again, when a round has found no more."""
_CUT_OFF_S = 60.0
"""The pause before another try, when our own connection is down, or the day cannot be right (C-16)."""
_ROUND_GRACE_S: Final = 30.0
"""A round ends by itself within 12 s after a stop."""
_CANARIES: Final = 64
"""URLs of which some are asked for the day, if none are configured."""
_COUNTED = 1_000_000
"""The most due URLs that are counted for the progress bar; if there are more, no total is shown."""


@click.command("crawl")
@click.option("--once", is_flag=True, help="End when nothing is due any more.")
@click.option("--confirm-day", is_flag=True, help="The clock is right, although it has jumped.")
@day_option
@click.option("--hour", type=click.IntRange(0, 23), help="Use this hour (UTC); what is due later that day is left.")
@click.option("--core", help="Check the links of the Weboid at this address, without a database (WEBOID_CRAWL_CORE).")
@click.pass_obj
def command(config: Config, once: bool, confirm_day: bool, day: int | None, hour: int | None, core: str | None) -> None:
    """Checks the links that are due, the oldest hosts and the oldest links of each first, and writes the results.

    Each host has its hour of the day, another one each day. With --once all hosts of the day are visited, whatever
    their hours; nothing is called dead that only fails at one hour, so do not run it always at the same one.
    The day is that of the database's clock; one that has jumped is refused without --confirm-day, but a --day is meant
    as it is given. Ctrl-C or SIGTERM ends it in order: results so far are written. Several workers share the links.
    With --core it gets its work from another Weboid over HTTP and gives its results back there; its token is in
    WEBOID_CRAWL_TOKEN.
    """
    waits = not once or hour is not None
    confirmed = confirm_day or day is not None

    now = None if day is None else moments(day, hour)
    core = core or config.crawl.core

    async def elsewhere() -> None:
        async with open_remote_part(config, core, worker_name(), lasting=not once) as part:
            await crawl_by(
                part.config,
                part.core,
                now,
                once=once,
                waits=waits,
                console=PartConsole(part.tell),
                hour=hour,
                confirmed=confirmed,
                stopped=part.stopped,
                part=part,
            )

    async def main() -> None:
        async with open_part(config, PartRole.CRAWL, size=4, lasting=not once, idle_s=config.crawl.lease_s) as part:
            console = PartConsole(part.tell)
            await crawl(
                config,
                part.pool,
                now,
                once=once,
                waits=waits,
                console=console,
                hour=hour,
                confirmed=confirmed,
                stopped=part.stopped,
                part=part,
            )

    run_async(elsewhere() if core else main())


async def crawl(
    config: Config,
    pool: Pool,
    now: Callable[[], Moment] | None,
    *,
    once: bool,
    console: Console,
    waits: bool = False,
    hour: int | None = None,
    confirmed: bool = False,
    stopped: asyncio.Event | None = None,
    part: RunningPart | None = None,
    open_outbound: Callable[[NetConfig], AbstractAsyncContextManager[Outbound]] = open_session,
    open_turns: Callable[[Slots, float], Turns] = SharedTurns,
) -> bool:
    """Runs `crawl_by` beside the database; checks suggestions, too."""
    core = store_core(pool, worker_name(), config.crawl, config.policy)
    return await crawl_by(
        await with_stored(config, pool),
        core,
        now,
        once=once,
        console=console,
        waits=waits,
        hour=hour,
        confirmed=confirmed,
        stopped=stopped,
        pool=pool,
        part=part,
        open_outbound=open_outbound,
        open_turns=open_turns,
    )


def worker_name() -> str:
    """The name of this process among all crawlers."""
    return f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}"


async def crawl_by(
    config: Config,
    core: CrawlCore,
    now: Callable[[], Moment] | None,
    *,
    once: bool,
    console: Console,
    waits: bool = False,
    hour: int | None = None,
    confirmed: bool = False,
    stopped: asyncio.Event | None = None,
    pool: Pool | None = None,
    part: RunningPart | RemotePart | None = None,
    open_outbound: Callable[[NetConfig], AbstractAsyncContextManager[Outbound]] = open_session,
    open_turns: Callable[[Slots, float], Turns] = SharedTurns,
) -> bool:
    """Runs rounds until `stopped` is set, or one round, and prints what each has done; returns whether it was stopped.

    `now` = None: the moment is that of the database's clock, but for `hour` if that is given. `confirmed`: the day is
    right, however far the clock has jumped. With `waits` only hosts whose hour has come are visited, otherwise all that
    are due that day. With a `pool`, suggestions are checked, too. The last two parameters are for simulations.
    Raises WeboidError if one round was to be run and our own connection is down, or the day is refused (C-16).
    """
    connections = raise_open_files(config.net.connections)
    if not config.contact:
        console.print("no contact is configured: set WEBOID_CONTACT, so that site owners can reach you", style="yellow")
    turns = open_turns(core.slots, config.crawl.delay)
    second = CommandOpinion(shlex.split(config.crawl.vantage)) if config.crawl.vantage else None
    async with open_outbound(replace(config.net, connections=connections)) as session:
        lag = LoopLag()
        checker = LaggedChecker(session, turns, config.crawl, lag)

        async def witnessed(day: int) -> bool:
            canaries = config.crawl.canaries or await core.work.list_canaries(_CANARIES)
            return await is_witnessed(checker.check, canaries, day)

        # A given day was meant so by whoever gave it: other hosts have nothing to say about it.
        days = WorkerDay(core.days, now, None if now else witnessed, hour=hour)
        losses = Losses(core.losses, days.today, addresses=session.addresses, name_servers=session.name_servers)
        online = online_of(config, checker, session)
        figures = CrawlFigures(session, lag)
        crawler = _Crawler(
            config, core, checker, second, days, losses, online, connections, console, waits, figures, pool
        )
        crawler.lags = LagWatch(core.alarms, lag, days.today, connections)
        crawler.stopped = stopped or crawler.stopped
        if part:
            part.figures = figures.read
        try:
            async with in_background(crawler.heed_stop()):
                with lag.open():
                    if confirmed:
                        await patiently(days.confirm, crawler.stopped, core.away)
                    await crawler.run(once=once)
        finally:
            await turns.close()
    return crawler.stopped.is_set()


@dataclass(slots=True)
class _Crawler:
    """A worker: runs rounds, shows their progress, and stops in order."""

    config: Config
    core: CrawlCore
    checker: Checker
    second: SecondOpinion | None
    days: WorkerDay
    losses: Losses
    online: Online
    connections: int
    console: Console
    waits: bool
    figures: CrawlFigures
    pool: Pool | None
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    work: Round | None = None
    lags: LagWatch = field(init=False)

    async def run(self, *, once: bool) -> None:
        """Rounds until a signal to stop, or one round; alongside, the day is followed and suggestions are checked.

        Raises WeboidError if one round was to be run and our own connection is down, or the day is refused (C-16).
        """
        await self.await_day(once=once)
        if self.stopped.is_set():
            return
        keeping = asyncio.create_task(self.days.keep())
        alongside = asyncio.create_task(self._check_suggestions(once=once))
        try:
            await self._rounds(once=once)
            # They end by themselves, but not while they wait for the database and the program is to end.
            async with ending(self.stopped, LAST_S):
                await alongside
        finally:
            await cancel(keeping, alongside)

    async def _check_suggestions(self, *, once: bool) -> None:
        """Those that are due, or from now on; far from the database none, as crawlers beside it do so."""
        if self.pool is None:
            return
        suggestions = Suggestions(self.pool, self.checker.ask, self.online, today=self.days.today, stopped=self.stopped)
        if once:
            await patiently(suggestions.sweep, self.stopped, self.core.away)
        else:
            await suggestions.run()

    async def _rounds(self, *, once: bool) -> None:
        while not self.stopped.is_set():
            if (due := await patiently(self.due, self.stopped, self.core.away)) is None:
                return
            why = await self.round(due)
            if once and why:
                raise WeboidError(
                    f"this machine seems to be cut off: {why}. No link was counted as failing; try again later"
                )
            if once:
                return
            await self.pause(_CUT_OFF_S if why else _IDLE_S)
            await self.await_day(once=once)

    async def due(self) -> int:
        """About how many URLs are due, `_COUNTED` at most; 0 if there is nothing to do now. Raises StoreAway."""
        day, hour = self.days.now()
        await self.lags.look()
        return await self.core.work.count_due(Moment(day, hour if self.waits else None), _COUNTED)

    async def round(self, due: int) -> str | None:
        """One round, if anything is due; returns why it was given up, None if it was not."""
        if not due:
            return None
        day = self.days.today()
        start = time.monotonic()
        with bar(self.console) as shown:
            task = shown.add_task(iso(day), total=due if due < _COUNTED else None)

            def show(progress: RoundProgress) -> None:
                done = progress.tally.written + progress.tally.postponed
                waiting = f", waiting for {progress.busy} buckets of other workers" if progress.busy else ""
                shown.update(task, completed=done, description=f"{iso(day)}: {progress.hosts} hosts{waiting}")

            work = self.work = self._new_round(show)
            if self.stopped.is_set():
                work.stop()
            async with self.losses.open(), self.lags.open():
                tally = await patiently(work.run, self.stopped, self.core.away, grace_s=_ROUND_GRACE_S)
        if tally is None:
            return None
        self.console.print(f"{iso(day)}: {_summary(tally, time.monotonic() - start)}", highlight=False)
        why = work.why_cut_off if work.is_cut_off else None
        if tally.written:
            await self._add_up(day, time.monotonic() - start)
        await self._tell(why, day)
        return why

    async def _add_up(self, day: int, seconds: float) -> None:
        """Adds a round to those of the day; those of crawlers elsewhere are not counted."""
        if self.pool is None:
            return
        try:
            async with self.pool.connection() as conn:
                await record_totals(conn, {(day, DayFigure.ROUNDS): 1, (day, DayFigure.ROUND_SECONDS): round(seconds)})
        except StoreAway as error:
            log.debug("the round is not added up: %s", error)

    async def _tell(self, why: str | None, day: int) -> None:
        """Raises the alarm of a round that was given up; a good one lowers it (C-16)."""
        if why:
            self.console.print(f"{iso(day)}: the round was given up: {why}", style="red", markup=False, highlight=False)
        try:
            if why:
                await self.core.alarms.raise_alarm(AlarmKind.OFFLINE, day, f"the last round was given up: {why}")
            else:
                await self.core.alarms.lower_alarm(AlarmKind.OFFLINE)
        except StoreAway as error:
            log.debug("the alarm of our connection is not written: %s", error)

    async def await_day(self, *, once: bool) -> None:
        """Waits until the day can be right, or a signal to stop; raises DayRefused at once if `once` (C-16)."""
        told = ""
        while not self.stopped.is_set():
            try:
                await patiently(self.days.require, self.stopped, self.core.away)
                return
            except DayRefused as refused:
                if once:
                    raise
                if told != (told := str(refused)):
                    self.console.print(told, style="red", markup=False, highlight=False)
            await self.pause(_CUT_OFF_S)

    async def heed_stop(self) -> None:
        """Ends the round that is under way once `stopped` is set."""
        await self.stopped.wait()
        if self.work:
            self.work.stop()

    async def pause(self, seconds: float) -> None:
        """Waits, but not after a signal to stop."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopped.wait(), seconds)

    def _new_round(self, show: Callable[[RoundProgress], None]) -> Round:
        return Round(
            self.core.work,
            self.figures.timed(self.checker.ask),
            self.online,
            now=self.days.now,
            config=self.config.crawl,
            connections=self.connections,
            policy=self.config.policy,
            second_opinion=self.second.outcome if self.second else None,
            losses=self.losses,
            is_away=lambda: self.core.away.times > 0,
            waits=self.waits,
            show=show,
            count=self.figures.count,
            find_address=self.checker.find_address,
        )


def _summary(tally: Tally, seconds: float) -> str:
    lost = f", {tally.lost} left to other workers" if tally.lost else ""
    postponed = f", {tally.postponed} could not be checked" if tally.postponed else ""
    return (
        f"{tally.written} checks in {seconds:.1f} s ({tally.inferred} without contact), "
        f"{tally.changes} changes of verdict{postponed}{lost}"
    )
