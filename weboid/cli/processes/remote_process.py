"""Processes without a database, whose store is behind a server: crawlers and feeders (O-1)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

import click
from click.exceptions import Exit

from weboid.cli.days import moment_now
from weboid.cli.processes.database import give_up_after_stop
from weboid.cli.processes.process import from_environment
from weboid.cli.processes.running import IsGone, OwnProcess, ProcessRow, own_process, run_process
from weboid.cli.processes.store_process import connect_store
from weboid.config import BY_CRAWLERS, Config
from weboid.core.url.farms import Farm
from weboid.errors import StoreError
from weboid.mechanism.patience import patiently
from weboid.mechanism.tasks import in_background
from weboid.remote.crawl.calls import CrawlerCalls, CrawlStore, Greeting, remote_crawl_store
from weboid.remote.feed.calls import FeederCalls, FeedGreeting, FeedLife, FeedStore, ServedFarm, local_feed_store
from weboid.remote.http.client import ServerClient, open_client
from weboid.remote.http.endpoint import CRAWLERS, FEEDERS, Endpoint
from weboid.remote.http.rpc import connected, remote
from weboid.remote.http.wire import Life, of_our_scheme
from weboid.store.schedule.process import ProcessRole, RunningProcess, SeenProcess

core_option = click.option(
    "--core", "server", help="Bring pages in for the Weboid at this address, without a database."
)
_MOST_OFF_S: Final = 300.0
"""Seconds between the clock here and that of the server's database, at most: days and lags are computed by the clock
here."""
_Greeting = TypeVar("_Greeting")


@dataclass(frozen=True, slots=True)
class CrawlerStore:
    """The store of a remote crawler, and the configuration in which all crawlers must agree."""

    core: CrawlStore
    config: Config


@dataclass(frozen=True, slots=True)
class FeederStore:
    """The store of a feeder, and the farms of the server's configuration; None: those of its own."""

    core: FeedStore
    farms: tuple[Farm, ...] | None = None

    def agreed(self, config: Config) -> Config:
        """The configuration, where all feeders must agree that of the server."""
        return config if self.farms is None else replace(config, farms=self.farms)


def open_remote_crawler(
    config: Config, server: str, worker: str, *, lasting: bool
) -> AbstractAsyncContextManager[OwnProcess[CrawlerStore]]:
    """A crawler of the server at this address, as `run_process` has it; raises ConfigError, too."""

    @asynccontextmanager
    async def connect(stopped: asyncio.Event) -> AsyncIterator[tuple[ProcessRow, CrawlerStore]]:
        async with _connected(config, server, worker, CRAWLERS, greet, stopped, waits=lasting) as (client, greeting):
            calls = connected(CrawlerCalls, client)
            row = _RemoteRow(client, own_process(ProcessRole.CRAWL), lambda life, *_: calls.live(life))
            yield row, CrawlerStore(remote_crawl_store(client), _agreed(config, greeting))

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
                yield row, FeederStore(local_feed_store(pool))
            return
        opening = _connected(config, address, process.name, FEEDERS, greet_feed, stopped, waits=lasting)
        async with opening as (client, greeting):
            off_s = (moment_now() - greeting.moment).total_seconds()
            if day is None and abs(off_s) > _MOST_OFF_S:
                raise StoreError(f"the clock here is {off_s:+.0f} s from that of the server's database: set it right")
            calls = connected(FeederCalls, client)
            row = _RemoteRow(client, process, lambda life, *taking: calls.live(FeedLife(role.value, life, *taking)))
            yield row, FeederStore(remote(FeedStore, client), tuple(_farm(sent) for sent in greeting.farms))

    return run_process(role, connect, lasting=lasting)


@asynccontextmanager
async def _connected(
    config: Config,
    server: str,
    worker: str,
    endpoint: Endpoint,
    greet: Callable[[ServerClient], Awaitable[_Greeting]],
    stopped: asyncio.Event,
    *,
    waits: bool,
) -> AsyncIterator[tuple[ServerClient, _Greeting]]:
    """The way to a server and its greeting. Raises ConfigError, StoreError, and StoreAway unless it `waits`."""
    token = from_environment(endpoint.token)
    async with (
        open_client(server, token, worker, ca=config.net.ca, endpoint=endpoint) as client,
        in_background(give_up_after_stop(client, stopped)),
    ):
        greeting = await (
            patiently(partial(greet, client), stopped, client.away, grace_s=0) if waits else greet(client)
        )
        if greeting is None:
            raise Exit(0)
        yield client, greeting


async def greet(client: ServerClient) -> Greeting:
    """The greeting of a crawler's server; raises StoreAway, and StoreError if its keys are not ours (O-10)."""
    return of_our_scheme(await connected(CrawlerCalls, client).greet())


async def greet_feed(client: ServerClient) -> FeedGreeting:
    """The greeting of a feeder's server; raises StoreAway, and StoreError if its keys are not ours (O-10)."""
    return of_our_scheme(await connected(FeederCalls, client).greet())


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


def _farm(sent: ServedFarm) -> Farm:
    return Farm(sent.code, sent.name, sent.api, frozenset(sent.domains), sent.hosts, sent.spam_wiki)


_Send = Callable[[Life, bool, bool, list[str]], Awaitable[SeenProcess | None]]
"""Sends a sign of life: whether the role is taken, whether the server was away, the names of processes that are known
here to have ended. Returns the process that has the exclusive role."""


class _RemoteRow:
    """The row of a process in the store of a server."""

    def __init__(self, client: ServerClient, process: RunningProcess, send: _Send) -> None:
        self.process = process
        self.away = client.away
        self._send = send

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        return await self._write(self._life(), is_gone, takes=True, was_away=was_away)

    async def write(self, activity: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        return await self._write(self._life(activity, figures), is_gone)

    async def delete(self) -> None:
        await self._write(self._life(is_last=True), lambda _: False)

    async def _write(
        self, life: Life, is_gone: IsGone, *, takes: bool = False, was_away: bool = False
    ) -> SeenProcess | None:
        """One call; a second one where the process that has the role is known here, and only here, to have ended."""
        other = await self._send(life, takes, was_away, [])
        if other and is_gone(other):
            return await self._send(life, takes, was_away, [other.name])
        return other

    def _life(self, activity: str = "", figures: Mapping[str, float] | None = None, *, is_last: bool = False) -> Life:
        """A sign of life as it is sent."""
        own = self.process
        sent = activity.encode(errors="replace").decode()[:500]
        return Life(
            own.name, own.host[:200], own.machine[:200], own.pid, own.version, sent, dict(figures or {}), is_last
        )
