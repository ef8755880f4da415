"""``weboid crawl``: checks the links that are due."""

import asyncio
import os
import platform
import secrets
import shlex
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import click
from rich.console import Console

from weboid.checking.checker import Checker
from weboid.checking.date_witnesses import is_witnessed
from weboid.checking.second_opinion import CommandOpinion, SecondOpinion
from weboid.checking.slots import Slots
from weboid.checking.turns import LocalTurns, SharedTurns
from weboid.cli.crawler import Crawler
from weboid.cli.days import day_option, moments
from weboid.cli.processes.process import raise_open_files, run_async
from weboid.cli.processes.remote_process import open_remote_crawler
from weboid.cli.processes.running import OwnProcess
from weboid.cli.processes.sources import online_of
from weboid.cli.processes.store_process import open_process
from weboid.cli.terminal.console import ProcessConsole
from weboid.cli.watched import with_stored
from weboid.config import Config, CrawlConfig, NetConfig
from weboid.core.record.moment import Moment
from weboid.crawl.figures import CrawlFigures
from weboid.crawl.lag_watch import LagWatch
from weboid.crawl.losses import Losses
from weboid.crawl.own_faults import OwnFaults
from weboid.crawl.second_looks import CrawlersOpinion
from weboid.crawl.worker_day import WorkerDay
from weboid.errors import ConfigError
from weboid.mechanism.loop_lag import LoopLag
from weboid.mechanism.patience import patiently
from weboid.mechanism.tasks import in_background
from weboid.net.outbound import Outbound, open_session
from weboid.remote.crawl.calls import CrawlStore, local_crawl_store
from weboid.store.db.pool import Pool
from weboid.store.schedule.process import ProcessRole

_NO_CONTACT: Final = "no contact is configured: set WEBOID_CONTACT, so that site owners can reach you"
_AT_ONE_HOUR: Final = (
    "all hosts that are due are visited now, whatever their hours: run --once at another hour each day, or what is"
    " closed daily at this hour will be called dead"
)
_CANARIES: Final = 64
"""URLs of which some are asked for the day, if none are configured."""


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
    their hours: run it at another hour each day, or what is closed daily at that hour will be called dead.
    The day is that of the database's clock; one that has jumped is refused without --confirm-day, but a --day is meant
    as it is given. The exit status with --once is 1 if errors of this program have kept it from checking some links,
    and 3 if this machine has no network.
    Ctrl-C or SIGTERM ends it in order: results so far are written. Several workers share the links.
    With --core it gets its work from another Weboid over HTTP and gives its results back there; its token is in
    WEBOID_CRAWL_TOKEN.
    """
    waits = not once or hour is not None
    core = core or config.crawl.core
    if core and confirm_day:
        raise ConfigError("--confirm-day works on the machine of the server alone: run it there, without --core")
    if not waits and day is None:
        click.echo(_AT_ONE_HOUR, err=True)
    confirmed = confirm_day or (day is not None and not core)

    now = None if day is None else moments(day, hour)

    def options(process: OwnProcess[Any]) -> CrawlOptions:
        console = ProcessConsole(process.report)
        return CrawlOptions(once, console, waits, hour, confirmed, process.stopped, process)

    async def remote() -> None:
        async with open_remote_crawler(config, core, worker_name(), lasting=not once) as process:
            store, agreed = process.store
            await crawl_by(agreed, store, now, options(process))

    async def local() -> None:
        opening = open_process(config, ProcessRole.CRAWL, size=4, lasting=not once, idle_s=config.crawl.lease_s)
        async with opening as process:
            await crawl(config, process.store, now, options(process))

    run_async(remote() if core else local())


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """The work of a worker: one round or round after round, and its surroundings.

    `hour`: instead of the clock's. `confirmed`: the day is right, however far the clock has jumped. With `waits` only
    hosts whose hour has come are visited, otherwise all that are due that day. The last two are for simulations.
    """

    once: bool
    console: Console
    waits: bool = False
    hour: int | None = None
    confirmed: bool = False
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    process: OwnProcess[Any] | None = None
    open_outbound: Callable[[NetConfig], AbstractAsyncContextManager[Outbound]] = open_session
    open_turns: Callable[[Slots, float], LocalTurns] = SharedTurns


def words_of(vantage: str) -> list[str]:
    """The words of the command in [crawl] vantage, as a shell takes them. Raises ConfigError."""
    try:
        return shlex.split(vantage)
    except ValueError as error:
        raise ConfigError(f"[crawl] vantage: {error}") from None


def worker_name() -> str:
    """The name of this process among all crawlers."""
    return f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}"


async def crawl(config: Config, pool: Pool, now: Callable[[], Moment] | None, options: CrawlOptions) -> bool:
    """Runs `crawl_by` with a database; checks suggestions, too."""
    # No name of a token has a slash: so none can be a crawler with a database.
    core = local_crawl_store(pool, f"here/{worker_name()}", config.crawl, config.policy)
    return await crawl_by(await with_stored(config, pool), core, now, options, pool)


async def crawl_by(
    config: Config, core: CrawlStore, now: Callable[[], Moment] | None, options: CrawlOptions, pool: Pool | None = None
) -> bool:
    """Runs rounds until it is stopped, or one round, and prints what each has done; returns whether it was stopped.

    Without `now` the moment is the database clock's; with a `pool`, suggestions are checked, too. Raises WeboidError if
    one round was to be run and we are offline or the day is refused (C-16), ClickException if it met errors of ours.
    """
    connections = raise_open_files(config.net.connections)
    if not config.contact:
        options.console.print(_NO_CONTACT, style="yellow")
    turns = options.open_turns(core.slots, config.crawl.delay)
    async with options.open_outbound(replace(config.net, connections=connections)) as session:
        lag = LoopLag()
        checker = Checker(session, turns, config.crawl, lag=lag, own_farms=config.own_farms)

        async def witnessed(day: int) -> bool:
            canaries = config.crawl.canaries or await core.work.list_canaries(_CANARIES)
            return await is_witnessed(checker.check, canaries, day)

        # A given day was meant so: other hosts need not confirm it.
        days = WorkerDay(core.days, now, None if now else witnessed, hour=options.hour)
        names = session.resolver
        losses = Losses(core.losses, days.today, addresses=names.address_of, name_servers=names.name_servers_of)
        figures = CrawlFigures(session, lag)
        crawler = Crawler(
            config,
            core,
            checker,
            _second_opinion(config.crawl, core),
            days,
            losses,
            LagWatch(core.alarms, lag, days.today, connections),
            online_of(config, checker, session),
            connections,
            options.console,
            options.waits,
            figures,
            OwnFaults(core.alarms, days.today, figures.count_own_fault),
            pool,
            options.stopped,
        )
        if options.process:
            options.process.figures = figures.read
        try:
            async with in_background(crawler.heed_stop()):
                with lag.open():
                    if options.confirmed:
                        await patiently(days.confirm, options.stopped, core.away)
                    await crawler.run(once=options.once)
        finally:
            await turns.close()
            if isinstance(crawler.second, CrawlersOpinion):
                crawler.second.close()
    return options.stopped.is_set()


def _second_opinion(config: CrawlConfig, core: CrawlStore) -> SecondOpinion | None:
    """The second vantage point, if there is one (C-14)."""
    if config.are_second_looks:
        return CrawlersOpinion(core.second_looks)
    return CommandOpinion(words_of(config.vantage)) if config.vantage else None
