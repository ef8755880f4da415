"""``weboid crawl``: checks the links that are due."""

import asyncio
import os
import platform
import secrets
import time
from collections.abc import Callable

import click
from rich.console import Console

from weboid.cli.runtime import clock, day_option, open_store, raise_open_files, run_async, stop_signals
from weboid.cli.tables import bar
from weboid.config import Config
from weboid.core.observation import Observation
from weboid.crawl.recorder import Tally
from weboid.crawl.round import Progress, Round
from weboid.crawl.slots import Slots
from weboid.crawl.visit import Ask
from weboid.net.fetch import fetch
from weboid.net.session import Session, open_session
from weboid.store.lease import is_due
from weboid.store.pool import Pool
from weboid.store.url import count_due

_IDLE_S = 5.0
"""Between two looks for due links, when a round found no more."""
_COUNTED = 1_000_000
"""Due URLs that are counted for the progress bar; if there are more, nobody is told how many."""


@click.command("crawl")
@click.option("--once", is_flag=True, help="End when nothing is due any more.")
@day_option
@click.pass_obj
def command(config: Config, once: bool, day: int | None) -> None:
    """Checks the links that are due, oldest hosts at random, and writes what became of them.

    Ctrl-C or SIGTERM ends it in order: what was answered is written. Several workers share the links out.
    """

    async def main() -> None:
        async with open_store(config, size=4, part="crawl") as pool:
            await crawl(config, pool, clock(day), once=once, console=Console(stderr=True, soft_wrap=True))

    run_async(main())


async def crawl(config: Config, pool: Pool, today: Callable[[], int], *, once: bool, console: Console) -> Tally:
    """Rounds until told to stop, or one; tells on the console what each has done."""
    connections = raise_open_files(config.net.connections)
    slots = Slots(config.crawl.delay)
    worker = f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}"
    stopped = asyncio.Event()
    if not config.contact:
        console.print("no contact is configured: set WEBOID_CONTACT, so that site owners can reach you", style="yellow")
    async with open_session(config.net) as session:
        while True:
            tally = await _round(config, pool, _ask(session, slots), today, worker, connections, stopped, console)
            if once or stopped.is_set():
                return tally
            with stop_signals(stopped.set):
                await asyncio.wait([asyncio.create_task(stopped.wait())], timeout=_IDLE_S)
            if stopped.is_set():
                return tally


def _ask(session: Session, slots: Slots) -> Ask:
    async def ask(url: str) -> Observation:
        return await fetch(session, url, turn=slots.turn)

    return ask


async def _round(
    config: Config,
    pool: Pool,
    ask: Ask,
    today: Callable[[], int],
    worker: str,
    connections: int,
    stopped: asyncio.Event,
    console: Console,
) -> Tally:
    async with pool.connection() as conn:
        if not await is_due(conn, today()):
            return Tally()
        due = await count_due(conn, today(), limit=_COUNTED)
    start = time.monotonic()
    with bar(console) as shown:
        task = shown.add_task(f"day {today()}", total=due if due < _COUNTED else None)

        def show(progress: Progress) -> None:
            done = progress.tally.written + progress.tally.postponed
            waiting = f", waiting for {progress.busy} buckets of other workers" if progress.busy else ""
            shown.update(task, completed=done, description=f"day {today()}: {progress.hosts} hosts{waiting}")

        work = Round(
            pool,
            ask,
            worker=worker,
            today=today,
            config=config.crawl,
            connections=connections,
            policy=config.policy,
            show=show,
        )

        def stop() -> None:
            stopped.set()
            work.stop()

        with stop_signals(stop):
            tally = await work.run()
    seconds = time.monotonic() - start
    lost = f", {tally.lost} left to other workers" if tally.lost else ""
    postponed = f", {tally.postponed} could not be asked" if tally.postponed else ""
    console.print(
        f"day {today()}: {tally.written} checks in {seconds:.1f} s ({tally.inferred} without contact), "
        f"{tally.changes} changes of verdict{postponed}{lost}",
        highlight=False,
    )
    return tally
