"""``weboid serve``: the webservice alone."""

import asyncio
import fcntl
import logging
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import replace
from functools import partial
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
import click

from weboid.checking.looks import open_looks
from weboid.cli.days import clock, day_option
from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import add_to_environment, own_call, raise_open_files, run_async
from weboid.cli.processes.stopping import stop_signals, until
from weboid.cli.processes.store_process import open_process
from weboid.cli.processes.supervisor import own_parent, report_alive, report_ready
from weboid.cli.processes.unavailable import answering_unavailable
from weboid.cli.processes.workers import Inherited, Workers
from weboid.cli.terminal.logs import print_message
from weboid.cli.watched import with_stored
from weboid.config import MOST_WORKERS, Config
from weboid.core.url.farms import WMF, api_url
from weboid.errors import WeboidError
from weboid.feed.intake import SpamFilters
from weboid.mechanism.patience import patiently
from weboid.mechanism.tasks import in_background
from weboid.net.outbound import open_client
from weboid.remote.feed.calls import SpamLists
from weboid.store.db.pool import Pool
from weboid.store.db.standby import ReadStandby
from weboid.store.pages.wiki import StoredWiki
from weboid.store.schedule.process import ProcessRole
from weboid.web.answer.live import Sources
from weboid.web.app import make_app
from weboid.web.health.worker_share import FOLDER_VARIABLE, WorkerShare
from weboid.web.http.lanes import CONNECTIONS
from weboid.web.http.listening import open_listeners, url_of
from weboid.web.http.server import MOST_CONNECTIONS, open_site
from weboid.wiki.action import ApiPatience
from weboid.wiki.api import ApiSource

log = logging.getLogger(__name__)

_FEWEST_CONNECTIONS = 4
_OTHER_CONNECTIONS = 25
"""The connections that other programs need, and that PostgreSQL keeps for superusers."""
_STATEMENT_S = 10.0
"""The time limit for a statement, as no reader waits longer."""
_CONNECTION_S = 5.0
"""The limit for the wait of an answer for a connection: there is one for each, unless the database is away."""
_MOST_LISTS = 50
"""Wikis whose spam lists are kept ready in a process."""
_IMPATIENT = ApiPatience(tries=1, timeout_s=5)
"""Short, because a reader waits: if the wiki does not answer in time, the last pass is used instead (W-10)."""
_TARGET = ApiPatience(tries=1, timeout_s=2, answer_mib=1)
"""Of a look whether pages of other wikis are missing: fifty take some ten kilobytes."""


class _InheritedType(click.ParamType[Inherited]):
    name = "inherited"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Inherited:
        try:
            return Inherited.parsed(str(value))
        except ValueError:
            self.fail("workers are started by weboid serve only: use --workers", param, ctx)


@click.command("serve")
@click.option("--host", help="Address to listen on (WEBOID_WEB_HOST).")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on (WEBOID_WEB_PORT, PORT).")
@click.option(
    "--workers", type=click.IntRange(1, MOST_WORKERS), help="Processes that answer (WEBOID_WEB_WORKERS); default: 1."
)
@click.option("--worker", "inherited", type=_InheritedType(), hidden=True)
@day_option
@click.pass_context
def command(
    ctx: click.Context,
    host: str | None,
    port: int | None,
    workers: int | None,
    inherited: Inherited | None,
    day: int | None,
) -> None:
    """Answers requests until Ctrl-C or SIGTERM."""
    config: Config = ctx.obj
    web = config.web
    port = web.port if port is None else port
    config = replace(config, web=replace(web, host=host or web.host, port=port, workers=workers or web.workers))
    if inherited:
        run_async(_work(config, clock(day), inherited))
    elif config.web.workers > 1:
        days = [] if day is None else [f"--day={day}"]
        if status := run_async(_parent(config, clock(day), own_call(ctx, config), ["serve", *days])):
            sys.exit(status)
    else:
        run_async(_alone(config, clock(day)))


async def _alone(config: Config, today: Callable[[], int]) -> None:
    """The webservice in this process."""
    web = config.web
    async with (
        _listening(config) as listeners,
        answering_unavailable(config, today, listeners, partial(_report_listening, listeners)) as end_unavailable,
        open_process(
            config,
            ProcessRole.WEB,
            size=CONNECTIONS,
            lasting=True,
            statement_timeout_s=_STATEMENT_S,
            wait_s=_CONNECTION_S,
        ) as process,
    ):
        await end_unavailable()
        async with serving(config, process.store, today, web.host, web.port, listeners=listeners) as url:
            print_message(f"Weboid answers at {url}/")
            process.report_ready()
            await process.stopped.wait()


@asynccontextmanager
async def _listening(config: Config) -> AsyncIterator[list[socket]]:
    """Sockets that listen from now on, so that connections wait instead of being refused; raises WeboidError."""
    with ExitStack() as closing:
        yield [closing.enter_context(each) for each in await open_listeners(config.web.host, config.web.port)]


def _report_listening(listeners: Sequence[socket]) -> None:
    """It counts as started: a supervisor that waits for its start would end it, and start it again, while its database
    is away (D-406)."""
    print_message(f"Weboid listens at {url_of(listeners[0])}/ until its database is there: what needs it gets 503")
    report_ready()


async def _parent(config: Config, today: Callable[[], int], program: list[str], words: list[str]) -> int:
    """Starts the workers and keeps them running; returns the status with which this process should end."""
    web = config.web
    # The database is started and migrated here, once; the share in it keeps it running while workers come and go.
    async with (
        _listening(config) as listeners,
        answering_unavailable(config, today, listeners, partial(_report_listening, listeners)) as end_unavailable,
        open_process(config, ProcessRole.WEB, size=1, lasting=True) as process,
    ):
        most = await patiently(process.store.find_most_connections, process.stopped, process.store.away)
        if most is None:
            return 0
        await end_unavailable()
        connections = _share_of(most, web.workers)
        with _figures() as folder:
            words = [*words, f"--host={web.host}", f"--port={listeners[0].getsockname()[1]}"]
            message = {"secret": web.secret or secrets.token_hex(), "connections": connections}
            workers = Workers(web.workers, program, words, listeners, message, folder, process.stopped)

            def report() -> None:
                print_message(f"Weboid answers at {url_of(listeners[0])}/ with {web.workers} workers")
                process.report_ready()

            return await workers.run(report)


def _share_of(most: int, workers: int) -> int:
    """The connections to the database for each worker: what its lanes need, or less if the database allows no more."""
    fits = max(_FEWEST_CONNECTIONS, (most - _OTHER_CONNECTIONS) // workers)
    if fits < CONNECTIONS:
        log.warning(
            "the database allows %d connections, too few for %d workers: each gets %d instead of %d; set "
            "max_connections of PostgreSQL to %d",
            most,
            workers,
            fits,
            CONNECTIONS,
            workers * CONNECTIONS + _OTHER_CONNECTIONS,
        )
    return min(fits, CONNECTIONS)


@contextmanager
def _figures() -> Iterator[Path]:
    """The folder where the workers keep their figures; raises WeboidError."""
    try:
        folder = TemporaryDirectory(prefix="weboid-web-", ignore_cleanup_errors=True)
    except OSError as error:
        raise WeboidError(f"the workers need a folder for their figures: {error}; set TMPDIR to one") from None
    with folder as path:
        # Held until we end: what deletes old temporary folders (tmpfiles.d, after ten days) passes over locked ones.
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield Path(path)


async def _work(config: Config, today: Callable[[], int], inherited: Inherited) -> None:
    """A worker: answers what it accepts from its parent's socket, until the socket of the parent is closed."""
    if (parent := own_parent()) is None:
        raise WeboidError("workers are started by weboid serve only: use --workers")
    config = replace(config, web=replace(config.web, secret=parent.given["secret"]))
    folder = Path(parent.given["folder"])
    add_to_environment(FOLDER_VARIABLE, str(folder))
    share = WorkerShare(folder, inherited.number)
    try:
        share.take(os.getpid())
    except OSError as error:
        raise WeboidError(f"the folder of the workers' figures cannot be used: {error}") from None
    stopped = asyncio.Event()

    async def work() -> None:
        web = config.web
        size = int(parent.given["connections"])
        listeners = inherited.sockets()
        async with (
            answering_unavailable(config, today, listeners, report_ready) as end_unavailable,
            open_store(
                config, size=size, part="web", statement_timeout_s=_STATEMENT_S, wait_s=_CONNECTION_S, stopped=stopped
            ) as pool,
        ):
            await end_unavailable()
            async with serving(config, pool, today, web.host, web.port, share=share, listeners=listeners):
                report_ready()
                await asyncio.Event().wait()

    with stop_signals(stopped.set):
        async with in_background(report_alive()):
            await until(stopped, work())


@asynccontextmanager
async def serving(
    config: Config,
    pool: Pool,
    today: Callable[[], int],
    host: str,
    port: int,
    *,
    share: WorkerShare | None = None,
    listeners: Sequence[socket] = (),
) -> AsyncIterator[str]:
    """The webservice, listening until the block ends; gives its URL. Raises WeboidError if the port is taken.

    A worker has a `share` in the figures of all workers, and the `listeners` of its parent.
    """
    config = await with_stored(config, pool)
    public_url = config.web.url or f"http://{host}:{port}"
    async with open_client(config.net) as client, open_looks(config, pool) as look, _reading_standby(config, pool):
        app = make_app(
            config,
            pool,
            today=today,
            sources=_sources(config, client),
            targets=partial(_api_source, config, client, _TARGET),
            spam=SpamFilters(SpamLists(pool), _MOST_LISTS).filter_of,
            public_url=public_url,
            client=client,
            share=share,
            look=look,
        )
        most = raise_open_files(MOST_CONNECTIONS)
        async with open_site(app, host, port, most_connections=most, listeners=listeners) as url:
            yield url


def _reading_standby(config: Config, pool: Pool) -> AbstractAsyncContextManager[None]:
    """Lets the webservice read from the standby that is configured, if there is one."""
    if not config.database_read:
        return nullcontext()
    limits = {"statement_timeout_s": _STATEMENT_S, "timeout_s": _CONNECTION_S}
    lag_s = config.web.standby_lag_s
    return ReadStandby(config.database_read, pool, most_lag_s=lag_s, size=CONNECTIONS, **limits).followed()


def _sources(config: Config, client: aiohttp.ClientSession) -> Sources:
    """The function that finds a wiki's live source: the API known from feeding, or configured, or that of WMF wikis."""
    configured = {(wiki.name.dbname, wiki.name.farm): wiki.api for wiki in config.wikis if wiki.api}
    farms = {farm.code: farm for farm in config.farms}

    def source(wiki: StoredWiki) -> ApiSource | None:
        farm = farms.get(wiki.farm)
        api = wiki.api or (farm and configured.get((wiki.dbname, farm.name)))
        if not api and farm == WMF:
            api = api_url(WMF, wiki.dbname)
        return _api_source(config, client, _IMPATIENT, api) if api else None

    return source


def _api_source(config: Config, client: aiohttp.ClientSession, patience: ApiPatience, api: str) -> ApiSource:
    return ApiSource(api, client, user_agent=config.net.user_agent, patience=patience)
