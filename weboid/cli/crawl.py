"""``weboid crawl``: checks the links that are due."""

import asyncio
import contextlib
import os
import platform
import secrets
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import click
from rich.console import Console

from weboid.archive.suggestions import Suggestions
from weboid.checking.checker import Checker
from weboid.checking.second_opinion import CommandOpinion, SecondOpinion
from weboid.checking.turns import SharedTurns
from weboid.cli.console import bar
from weboid.cli.runtime import clock, day_option, open_store, raise_open_files, run_async, stop_signals
from weboid.config import Config
from weboid.crawl.round import Round, RoundProgress
from weboid.crawl.work import StoreWork
from weboid.errors import WeboidError
from weboid.net.outbound import open_session
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Pool
from weboid.store.results.record import Tally
from weboid.store.schedule.lease import is_due
from weboid.store.urls.url import count_due

_IDLE_S = 5.0
"""The pause before due links are searched for again, when a round has found no more."""
_CUT_OFF_S = 60.0
"""The pause before another try, when our own connection is down (C-16)."""
_COUNTED = 1_000_000
"""The most due URLs that are counted for the progress bar; if there are more, no total is shown."""


@click.command("crawl")
@click.option("--once", is_flag=True, help="End when nothing is due any more.")
@day_option
@click.pass_obj
def command(config: Config, once: bool, day: int | None) -> None:
    """Checks the links that are due, hosts in random order and the oldest links of each first, and writes the results.

    Ctrl-C or SIGTERM ends it in order: results so far are written. Several workers share the links.
    """

    async def main() -> None:
        async with open_store(config, size=4, part="crawl", idle_s=config.crawl.lease_s) as pool:
            await crawl(config, pool, clock(day), once=once, console=Console(stderr=True, soft_wrap=True))

    run_async(main())


async def crawl(config: Config, pool: Pool, today: Callable[[], int], *, once: bool, console: Console) -> None:
    """Runs rounds until a signal to stop, or one round, and prints what each has done.

    Raises WeboidError if one round was to be run and our own connection is down.
    """
    connections = raise_open_files(config.net.connections)
    if not config.contact:
        console.print("no contact is configured: set WEBOID_CONTACT, so that site owners can reach you", style="yellow")
    turns = SharedTurns(pool, config.crawl.delay)
    second = CommandOpinion(shlex.split(config.crawl.vantage)) if config.crawl.vantage else None
    async with open_session(replace(config.net, connections=connections)) as session:
        checker = Checker(session, turns, config.crawl)
        crawler = _Crawler(config, pool, checker, second, today, connections, console)
        suggestions = Suggestions(
            pool, checker.ask, today=today, stopped=crawler.stopped, canaries=config.crawl.canaries
        )
        with stop_signals(crawler.stop):
            alongside = asyncio.create_task(suggestions.sweep() if once else suggestions.run())
            try:
                while not crawler.stopped.is_set():
                    is_cut_off = await crawler.round()
                    if once and is_cut_off:
                        raise WeboidError(
                            "this machine seems to be cut off: no link was counted as failing; try again later"
                        )
                    if once:
                        break
                    await crawler.pause(_CUT_OFF_S if is_cut_off else _IDLE_S)
                await alongside
            finally:
                alongside.cancel()
                await asyncio.gather(alongside, return_exceptions=True)


@dataclass(slots=True)
class _Crawler:
    """A worker: runs rounds, shows their progress, and stops in order."""

    config: Config
    pool: Pool
    checker: Checker
    second: SecondOpinion | None
    today: Callable[[], int]
    connections: int
    console: Console
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    work: Round | None = None
    name: str = field(default_factory=lambda: f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}")

    async def round(self) -> bool:
        """One round, if anything is due; returns whether it ended because we are cut off."""
        day = self.today()
        async with self.pool.connection() as conn:
            await require_scheme(conn)  # There may have been a rekey since the last round (O-10).
            if not await is_due(conn, day):
                return False
            due = await count_due(conn, day, limit=_COUNTED)
        start = time.monotonic()
        with bar(self.console) as shown:
            task = shown.add_task(f"day {day}", total=due if due < _COUNTED else None)

            def show(progress: RoundProgress) -> None:
                done = progress.tally.written + progress.tally.postponed
                waiting = f", waiting for {progress.busy} buckets of other workers" if progress.busy else ""
                shown.update(task, completed=done, description=f"day {day}: {progress.hosts} hosts{waiting}")

            work = self.work = self._new_round(show)
            if self.stopped.is_set():
                work.stop()
            tally = await work.run()
        self.console.print(f"day {day}: {_summary(tally, time.monotonic() - start)}", highlight=False)
        return work.is_cut_off

    def stop(self) -> None:
        """Ends the round that is under way, and begins no other."""
        self.stopped.set()
        if self.work:
            self.work.stop()

    async def pause(self, seconds: float) -> None:
        """Waits, but not after a signal to stop."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopped.wait(), seconds)

    def _new_round(self, show: Callable[[RoundProgress], None]) -> Round:
        return Round(
            StoreWork(self.pool, self.name, self.config.crawl, self.config.policy),
            self.checker.ask,
            today=self.today,
            config=self.config.crawl,
            connections=self.connections,
            policy=self.config.policy,
            second_opinion=self.second.outcome if self.second else None,
            show=show,
        )


def _summary(tally: Tally, seconds: float) -> str:
    lost = f", {tally.lost} left to other workers" if tally.lost else ""
    postponed = f", {tally.postponed} could not be checked" if tally.postponed else ""
    return (
        f"{tally.written} checks in {seconds:.1f} s ({tally.inferred} without contact), "
        f"{tally.changes} changes of verdict{postponed}{lost}"
    )
