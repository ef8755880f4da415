"""Processes without a database, whose store is behind a server: crawlers and feeders (O-1)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, Final, TypeVar

import click
from click.exceptions import Exit
from msgspec import structs

from weboid.cli.days import moment_now
from weboid.cli.processes.database import give_up_after_stop
from weboid.cli.processes.process import from_environment
from weboid.cli.processes.running import IsGone, OwnProcess, ProcessRow, own_process, run_process
from weboid.cli.processes.store_process import connect_store
from weboid.config import BY_CRAWLERS, Config
from weboid.errors import StoreError
from weboid.mechanism.patience import patiently
from weboid.mechanism.tasks import in_background
from weboid.remote.crawl.calls import CrawlerCalls, CrawlStore, Greeting, remote_crawl_store
from weboid.remote.feed.calls import FeederCalls, FeedLife, FeedStore, local_feed_store
from weboid.remote.http.client import ServerClient, open_client
from weboid.remote.http.messages import CRAWLERS, FEEDERS, Endpoint
from weboid.remote.http.rpc import connected, remote
from weboid.remote.http.wire import OUR_SCHEME, Life
from weboid.store.schedule.process import ProcessRole, RunningProcess, SeenProcess

core_option = click.option(
    "--core", "server", help="Bring pages in for the Weboid at this address, without a database."
)
_MOST_OFF_S: Final = 300.0
"""Seconds between the clock here and that of the server's database, at most: days and lags are computed by the clock
here."""
_Calls = TypeVar("_Calls", CrawlerCalls, FeederCalls)


FeederStore = tuple[FeedStore, Callable[[Config], Config]]
"""The store of a feeder, and a configuration with the server's values where all feeders must agree."""


def open_remote_crawler(
    config: Config, server: str, worker: str, *, lasting: bool
) -> AbstractAsyncContextManager[OwnProcess[tuple[CrawlStore, Config]]]:
    """A crawler of the server at this address, as `run_process` has it, and the configuration in which all crawlers
    agree; raises ConfigError, too.
    """

    @asynccontextmanager
    async def connect(stopped: asyncio.Event) -> AsyncIterator[tuple[ProcessRow, tuple[CrawlStore, Config]]]:
        opening = _connected(config, server, worker, CRAWLERS, CrawlerCalls, stopped, waits=lasting)
        async with opening as (client, calls, greeting):
            row = _RemoteRow(client, own_process(ProcessRole.CRAWL), lambda life, *_: calls.live(life))
            yield row, (remote_crawl_store(client), _agreed(config, greeting))

    return run_process(ProcessRole.CRAWL, connect, lasting=lasting)


def open_feeder(
    config: Config, role: ProcessRole, server: str | None, *, size: int, lasting: bool, day: int | None = None
) -> AbstractAsyncContextManager[OwnProcess[FeederStore]]:
    """A feeder, as `run_process` has it, of the server at this address or of the configured one; without one, with a
    database. `day`: the clock does not count.
    """
    process = own_process(role)

    @asynccontextmanager
    async def connect(stopped: asyncio.Event) -> AsyncIterator[tuple[ProcessRow, FeederStore]]:
        if not (address := server or config.feed.core):
            async with connect_store(config, role, size=size, lasting=lasting)(stopped) as (row, pool):
                yield row, (local_feed_store(pool), lambda own: own)
            return
        opening = _connected(config, address, process.name, FEEDERS, FeederCalls, stopped, waits=lasting)
        async with opening as (client, calls, greeting):
            off_s = (moment_now() - greeting.moment).total_seconds()
            if day is None and abs(off_s) > _MOST_OFF_S:
                raise StoreError(f"the clock here is {off_s:+.0f} s from that of the server's database: set it right")
            row = _RemoteRow(client, process, lambda life, *taking: calls.live(FeedLife(role.value, life, *taking)))
            yield row, (remote(FeedStore, client), lambda own: replace(own, farms=tuple(greeting.farms)))

    return run_process(role, connect, lasting=lasting)


@asynccontextmanager
async def _connected(
    config: Config,
    server: str,
    worker: str,
    endpoint: Endpoint,
    interface: type[_Calls],
    stopped: asyncio.Event,
    *,
    waits: bool,
) -> AsyncIterator[tuple[ServerClient, _Calls, Any]]:
    """The way to a server, the calls of the process, and the server's greeting.

    Raises ConfigError, StoreAway unless it `waits`, and StoreError, also if the server's keys are not ours (O-10).
    """
    token = from_environment(endpoint.token)
    async with (
        open_client(server, token, worker, ca=config.net.ca, endpoint=endpoint) as client,
        in_background(give_up_after_stop(client, stopped)),
    ):
        calls = connected(interface, client)
        greeting = await (patiently(calls.greet, stopped, client.away, grace_s=0) if waits else calls.greet())
        if greeting is None:
            raise Exit(0)
        if greeting.scheme != OUR_SCHEME:
            raise StoreError(
                f"the server (version {greeting.version}) has keys of another URL form or suffix list than this "
                "program: use the same version here"
            )
        yield client, calls, greeting


def _agreed(config: Config, greeting: Greeting) -> Config:
    """The configuration, with the server's values where all crawlers must agree (D-391)."""
    crawl = replace(
        config.crawl,
        delay=max(config.crawl.delay, greeting.delay),
        per_host=greeting.per_host,
        batch=greeting.batch,
        lease_s=greeting.lease_s,
        strict=config.crawl.strict or greeting.strict,
        stop=(*config.crawl.stop, *greeting.stop),
        vantage=config.crawl.vantage or (BY_CRAWLERS if greeting.looks else ""),
    )
    return replace(config, crawl=crawl, policy=greeting.policy)


_Send = Callable[[Life, bool, bool, list[str]], Awaitable[SeenProcess | None]]
"""Sends a sign of life: whether the role is taken, whether the server was away, the names of processes that are known
here to have ended. Returns the process that has the exclusive role."""


class _RemoteRow:
    """The row of a process in the store of a server."""

    def __init__(self, client: ServerClient, process: RunningProcess, send: _Send) -> None:
        self.process = process
        self.away = client.away
        self._send = send
        self._life = Life(process.name, process.host[:200], process.machine[:200], process.pid, process.version)

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        return await self._write(is_gone, self._life, takes=True, was_away=was_away)

    async def write(self, activity: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        doing = activity.encode(errors="replace").decode()[:500]
        return await self._write(is_gone, structs.replace(self._life, doing=doing, figures=dict(figures)))

    async def delete(self) -> None:
        await self._send(structs.replace(self._life, is_last=True), False, False, [])

    async def _write(
        self, is_gone: IsGone, life: Life, *, takes: bool = False, was_away: bool = False
    ) -> SeenProcess | None:
        """One call; a second one where the process that has the role is known here, and only here, to have ended."""
        other = await self._send(life, takes, was_away, [])
        return await self._send(life, takes, was_away, [other.name]) if other and is_gone(other) else other
