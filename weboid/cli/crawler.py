"""A worker: runs rounds, shows their progress, and stops in order.

It is wired in ``crawl``; a round is ``weboid/crawl/round``.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import click
from rich.console import Console

from weboid.archive.visits.suggestions import Suggestions
from weboid.checking.checker import Checker
from weboid.checking.online import Online
from weboid.checking.second_opinion import SecondOpinion
from weboid.cli.processes.database import LAST_S
from weboid.cli.terminal.console import bar
from weboid.cli.terminal.escape import many
from weboid.config import Config
from weboid.core.record.days import iso
from weboid.core.record.moment import Moment
from weboid.crawl.figures import CrawlFigures
from weboid.crawl.lag_watch import LagWatch
from weboid.crawl.losses import Losses
from weboid.crawl.own_faults import OwnFaults
from weboid.crawl.round import Round, RoundProgress
from weboid.crawl.second_looks import LookTaker
from weboid.crawl.worker_day import WorkerDay
from weboid.errors import DayRefused, NoNetwork, StoreAway
from weboid.mechanism.patience import ending, is_stopped_within, patiently
from weboid.mechanism.tasks import cancel
from weboid.remote.crawl.calls import CrawlStore
from weboid.store.db.pool import Pool
from weboid.store.results.record import Tally
from weboid.store.schedule.days import DayFigure, record_totals
from weboid.store.upkeep.alarm import AlarmKind

log = logging.getLogger(__name__)

_IDLE_S = 5.0
"""The pause before due links are searched for again, when a round has found no more."""
_CUT_OFF_S = 60.0
"""The pause before another try, when our own connection is down, or the day cannot be right (C-16)."""
_ROUND_GRACE_S: Final = 30.0
"""A round ends by itself within 12 s after a stop."""
_COUNTED = 1_000_000
"""The most due URLs that are counted for the progress bar; if there are more, no total is shown."""


@dataclass(slots=True)
class Crawler:
    """A worker with all that it works with."""

    config: Config
    core: CrawlStore
    checker: Checker
    second: SecondOpinion | None
    days: WorkerDay
    losses: Losses
    lags: LagWatch
    online: Online
    connections: int
    console: Console
    waits: bool
    figures: CrawlFigures
    faults: OwnFaults
    pool: Pool | None
    stopped: asyncio.Event
    work: Round | None = None

    async def run(self, *, once: bool) -> None:
        """Rounds until a signal to stop, or one round; alongside, the day is followed and suggestions are checked.

        Raises NoNetwork if one round was to be run and our own connection is down, DayRefused (C-16), and
        click's ClickException (exit status 1) if one round was run and errors of our own were met in it.
        """
        await self.await_day(once=once)
        if self.stopped.is_set():
            return
        keeping = asyncio.create_task(self.days.keep())
        looking = asyncio.create_task(self._look_for_others())
        alongside = asyncio.create_task(self._check_suggestions(once=once))
        try:
            await self._rounds(once=once)
            # They end by themselves, but not while they wait for the database and the program is to end.
            async with ending(self.stopped, LAST_S):
                await alongside
        finally:
            await cancel(keeping, looking, alongside)
        if once and self.faults.total:
            raise click.ClickException(
                f"errors of this program have ended {self.faults.total} visits; nothing was concluded there, and the "
                "links are checked another day. The log above has each URL with the trace: please report it"
            )

    async def _check_suggestions(self, *, once: bool) -> None:
        """Those that are due, or from now on; without a database none, as crawlers that have it do so."""
        if self.pool is None:
            return
        suggestions = Suggestions(self.pool, self.checker.ask, self.online, today=self.days.today, stopped=self.stopped)
        if once:
            await patiently(suggestions.sweep, self.stopped, self.core.away)
        else:
            await suggestions.run()

    async def _look_for_others(self) -> None:
        """Second looks that crawlers of another place want, in the middle of rounds, too (C-14)."""
        if self.config.crawl.are_second_looks:
            taker = LookTaker(self.core.second_looks, self.checker.ask, self.online, self.core.work.list_canaries)
            await taker.run(self.stopped)

    async def _rounds(self, *, once: bool) -> None:
        while not self.stopped.is_set():
            if (due := await patiently(self.due, self.stopped, self.core.away)) is None:
                return
            why = await self.round(due)
            if once and why:
                raise NoNetwork(
                    f"this machine seems to be cut off: {why}. No link was counted as failing; try again later"
                )
            if once:
                return
            await is_stopped_within(self.stopped, _CUT_OFF_S if why else _IDLE_S)
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
        await self.faults.look(is_whole_day=not self.waits)
        why = work.why_cut_off if work.is_cut_off else None
        if tally.written:
            await self._add_up(day, time.monotonic() - start)
        await self._tell(why, work.why_names_are_doubted, day)
        return why

    async def _add_up(self, day: int, seconds: float) -> None:
        """Adds a round to those of the day; those of remote crawlers are not counted."""
        if self.pool is None:
            return
        try:
            async with self.pool.connection() as conn:
                await record_totals(conn, {(day, DayFigure.ROUNDS): 1, (day, DayFigure.ROUND_SECONDS): round(seconds)})
        except StoreAway as error:
            log.debug("the round is not added up: %s", error)

    async def _tell(self, why: str | None, doubted: str, day: int) -> None:
        """Raises the alarm of a round that was given up, or whose names were `doubted`; a good one lowers it (C-16)."""
        detail = f"the last round was given up: {why}" if why else doubted
        if detail:
            self.console.print(f"{iso(day)}: {detail}", style="red", markup=False, highlight=False)
        try:
            if detail:
                await self.core.alarms.raise_alarm(AlarmKind.OFFLINE, day, detail)
            else:
                await self.core.alarms.lower_alarm(AlarmKind.OFFLINE)
        except StoreAway as error:
            log.debug("the alarm of our connection is not written: %s", error)

    async def await_day(self, *, once: bool) -> None:
        """Waits until the day can be right, or a signal to stop; raises DayRefused at once if `once` (C-16)."""
        printed = ""
        while not self.stopped.is_set():
            try:
                await patiently(self.days.require, self.stopped, self.core.away)
                return
            except DayRefused as refused:
                if once:
                    raise
                if printed != (printed := str(refused)):
                    self.console.print(printed, style="red", markup=False, highlight=False)
            await is_stopped_within(self.stopped, _CUT_OFF_S)

    async def heed_stop(self) -> None:
        """Ends the round that is under way once `stopped` is set."""
        await self.stopped.wait()
        if self.work:
            self.work.stop()

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
            failed=self.faults.met,
        )


def _summary(tally: Tally, seconds: float) -> str:
    lost = f", {tally.lost} left to other workers" if tally.lost else ""
    postponed = f", {tally.postponed} could not be checked" if tally.postponed else ""
    return (
        f"{many(tally.written, 'check')} in {seconds:.1f} s ({tally.inferred} without contact), "
        f"{many(tally.changes, 'new verdict')}{postponed}{lost}"
    )
