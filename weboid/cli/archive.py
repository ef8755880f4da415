"""``weboid archive``: looks copies of dead links up in web archives, and watches those that are kept (A-1 … A-3)."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import click
from rich.console import Console

from weboid.archive.lookups.queue_round import QueueRound, QueueTally
from weboid.archive.saving.save_keys import require_save_keys, saves_at
from weboid.archive.saving.saving_round import SavingRound
from weboid.archive.service.client import Limiter, open_archive_client
from weboid.archive.service.limits import JointLimiter, LocalLimiter
from weboid.archive.service.limits_file import limits_file
from weboid.archive.service.replays import Replays
from weboid.archive.service.shared_limits import SharedLimiter
from weboid.archive.visits.copy_rounds import CopyRounds
from weboid.archive.visits.suggestions import SuggestedCopies
from weboid.cli.days import clock, day_option, moments, seconds_now
from weboid.cli.processes.process import run_async
from weboid.cli.processes.store_process import open_process
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.escape import many
from weboid.config import Config
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.record.moment import Moment
from weboid.maintain.transaction import in_transaction
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import patiently
from weboid.mechanism.tasks import cancel
from weboid.store.archives.copy_queue import count_queue
from weboid.store.archives.known_copies import KnownCopiesPlace, record_known_copies
from weboid.store.archives.service_limit import record_rests_over
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Pool
from weboid.store.schedule.process import ProcessRole

_GRACE_S = 12.0
"""Seconds after a stop until work that does not end is cut off: more than any needs to write its results."""

_LONGEST_WAIT_S = 120.0
"""So long a pause of the first archive is waited for by a run that ends when all is done: its first and its second one,
if it does not say how long. A moment of slowness, in which five requests fail, leaves nothing undone."""


class ArchiveWork(Protocol):
    """One of the works of ``weboid archive``."""

    async def run(self) -> None:
        """Works until stopped, whatever fails."""

    async def sweep(self) -> object:
        """Does all that is to be done now; raises StoreError."""


@click.command("archive")
@click.option("--once", is_flag=True, help="End when nothing is to be done any more.")
@click.option("--allow-many", is_flag=True, help="Drop even more than one copy in 100 that archives no longer publish.")
@day_option
@click.pass_obj
def command(config: Config, once: bool, allow_many: bool, day: int | None) -> None:
    """Looks up copies of links that died or are doubtful, the newest first, in the archives of the configuration.

    Limits of archives hold for all workers together, and for all commands of a user on a machine. An archive that
    throttles us, refuses connections or fails is left alone for a while, longer each time; what it was to be asked
    waits, and so does --once, up to two minutes at a time. Copies that are kept are visited once a quarter, and so are
    those that pages link to; what is no longer published is dropped. With keys in WEBOID_ARCHIVE_SAVE_KEY and
    WEBOID_ARCHIVE_SAVE_SECRET the Wayback Machine is asked to save links that live and have no copy. Ctrl-C or SIGTERM
    ends it in order: what was found is written. A crash loses nothing: what was under way is looked up again a quarter
    of an hour later.
    """
    console = ProcessConsole()
    require_save_keys(config)

    async def main() -> None:
        async with open_process(config, ProcessRole.ARCHIVE, size=4, lasting=not once) as process:
            pool, console.report = process.store, process.report
            if day is not None:
                await patiently(in_transaction(pool, record_rests_over, day), process.stopped, pool.away)
            await archive(
                config,
                pool,
                clock(day),
                once=once,
                console=console,
                now=moments(day, None),
                allow_many=allow_many,
                stopped=process.stopped,
                # Simulated days are over before a pause of real time is.
                machine=LocalLimiter(limits_file(seconds_now)) if day is None else None,
            )

    run_async(main())


async def archive(
    config: Config,
    pool: Pool,
    today: Callable[[], int],
    *,
    once: bool,
    console: Console,
    now: Callable[[], Moment] | None = None,
    allow_many: bool = False,
    stopped: asyncio.Event | None = None,
    machine: LocalLimiter | None = None,
) -> QueueTally:
    """Does all works side by side, until `stopped` is set or, if `once`, until all is done; prints what was looked up.
    `now` None = the hour of the day does not matter; `machine` limits requests together with those of other commands.
    """
    if not config.contact:
        console.print("no contact is configured: set WEBOID_CONTACT, so that archives can reach you", style="yellow")
    stopped = stopped or asyncio.Event()
    await patiently(in_transaction(pool, require_scheme), stopped, pool.away)
    with bar(console) as shown:
        await _take_in_known(pool, today, stopped)
        async with open_archive_client(config.net, _limiter(pool, today, machine)) as client:
            total = await patiently(partial(_waiting, pool), stopped, pool.away)
            task = shown.add_task("looking up copies", total=total)

            def show(tally: QueueTally) -> None:
                shown.update(task, completed=tally.done, description=f"looking up copies: {_counts(tally)}")

            begun = time.monotonic()
            queue = QueueRound(
                *(pool, client, config.archive.services),
                today=today,
                stopped=stopped,
                show=show,
                waits_s=_LONGEST_WAIT_S if once else 0.0,
            )
            rounds = CopyRounds(
                *(pool, client, config.archive.services),
                now=now or (lambda: Moment(today())),
                stopped=stopped,
                policy=config.policy,
                allow_many=allow_many,
                waits=not once,
            )
            suggested = SuggestedCopies(pool, Replays(client, config.archive.services), today=today, stopped=stopped)
            later: list[ArchiveWork] = [queue]
            if service := saves_at(config):
                later.append(
                    SavingRound(pool, client, service, config.archive, farms=config.farms, today=today, stopped=stopped)
                )
            visits: list[ArchiveWork] = [suggested, rounds]
            # One after the other if once: a cited copy that plays need not be looked for, and a dropped one is at once.
            for works in [visits, later] if once else [[*visits, *later]]:
                await _work(works, stopped, pool.away, once=once)
            shown.update(task, visible=False)
    console.print(f"{_summary(queue, time.monotonic() - begun)}")
    if rounds.summary:
        console.print(rounds.summary)
    return queue.tally


def _limiter(pool: Pool, today: Callable[[], int], machine: LocalLimiter | None) -> Limiter:
    """The limits of the store, and of the machine if they are shared with its other commands."""
    store = SharedLimiter(pool, today)
    return JointLimiter(machine, store) if machine else store


async def _work(works: Sequence[ArchiveWork], stopped: asyncio.Event, away: Disturbance, *, once: bool) -> None:
    """Runs the works until all end; after a stop they end in order, within `_GRACE_S`."""
    ways = [partial(patiently, work.sweep, stopped, away, grace_s=_GRACE_S) if once else work.run for work in works]
    tasks = [asyncio.create_task(way()) for way in ways]
    stopping = asyncio.create_task(stopped.wait())
    try:
        while not stopped.is_set() and not all(task.done() for task in tasks):
            await asyncio.wait([stopping, *(task for task in tasks if not task.done())], return_when="FIRST_COMPLETED")
        await asyncio.wait(tasks, timeout=_GRACE_S)
    finally:
        ends = await cancel(stopping, *tasks)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end


async def _take_in_known(pool: Pool, today: Callable[[], int], stopped: asyncio.Event) -> None:
    """Finds the cited copies that were stored before they were recognised; soon done where there are none."""
    place: KnownCopiesPlace | None = KnownCopiesPlace()

    async def take(place: KnownCopiesPlace) -> tuple[KnownCopiesPlace | None]:
        async with pool.connection() as conn:
            return (await record_known_copies(conn, place, today()),)

    while place is not None and (taken := await patiently(partial(take, place), stopped, pool.away)):
        (place,) = taken


async def _waiting(pool: Pool) -> int | None:
    """The number of URLs that wait; None if there are too many to count them."""
    async with pool.connection() as conn:
        lengths = (await count_queue(conn)).values()
    return None if any(length.is_more for length in lengths) else sum(length.count for length in lengths)


def _counts(tally: QueueTally) -> str:
    parts = [f"{tally.outcomes[outcome]} {outcome.word}" for outcome in LookupOutcome if tally.outcomes[outcome]]
    return ", ".join(parts) or "none yet"


def _summary(queue: QueueRound, seconds: float) -> str:
    tally = queue.tally
    text = f"{many(tally.outcomes.total(), 'URL')} looked up with {many(tally.requests, 'request')} in {seconds:.1f} s"
    if tally.outcomes:
        text += f": {_counts(tally)}"
    if tally.spared:
        text += f"; {tally.spared} needed none"
    if queue.rests:
        text += f"; what waits for {', '.join(sorted(queue.rests))} stays in the queue, since that rests"
    return text
