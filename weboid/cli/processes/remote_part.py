"""A part elsewhere: its way to the core and its signals; and the sign of life of a crawler elsewhere (O-1).

As ``part`` is for parts with a database. One law: from the first moment on a signal to stop sets `stopped`, also
while the core is waited for.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from click.exceptions import Exit

from weboid import __version__
from weboid.central.crawl import calls
from weboid.central.crawl.core import CrawlCore
from weboid.central.crawl.remote import greet, remote_core
from weboid.central.http.calling import Caller, open_caller
from weboid.central.http.entrance import CRAWLERS, Entrance
from weboid.central.http.kinds import Life
from weboid.cli.processes.database import LAST_AWAY_S, LAST_S
from weboid.cli.processes.line import parent_line
from weboid.cli.processes.notify import notify
from weboid.cli.processes.part import tell_alive, tell_ready
from weboid.cli.processes.process import from_environment, host_name, machine
from weboid.cli.processes.stopping import stop_signals
from weboid.config import BY_CRAWLERS, Config
from weboid.errors import StoreError
from weboid.mechanism.background import in_background
from weboid.mechanism.patience import patiently

log = logging.getLogger(__name__)

_SEEN_S: Final = 15.0
_FAREWELL_S: Final = 3.0
_LOOK_S: Final = 0.2

_Greeting = TypeVar("_Greeting")


@dataclass(slots=True)
class RemotePart:
    """A running crawler elsewhere: the core, the configuration as the core has it, the event that is set to stop."""

    core: CrawlCore
    config: Config
    stopped: asyncio.Event
    doing: str = ""
    figures: Callable[[], Mapping[str, float]] = dict
    """Reads the part's own figures, whenever its sign of life is written; must not raise."""

    def tell(self, doing: str) -> None:
        """Says in a few words of plain text what it is doing. Never raises."""
        if doing != self.doing:
            self.doing = doing
            if parent_line() is None:
                notify(STATUS=doing)


@dataclass(frozen=True, slots=True)
class Way(Generic[_Greeting]):
    """An open way to the core, and what it has said at the start."""

    caller: Caller
    stopped: asyncio.Event
    greeting: _Greeting


@asynccontextmanager
async def open_way(
    config: Config,
    core: str,
    worker: str,
    entrance: Entrance,
    greet: Callable[[Caller], Awaitable[_Greeting]],
    *,
    lasting: bool,
) -> AsyncIterator[Way[_Greeting]]:
    """Opens the way to the core. A `lasting` part waits for a core that is away; stopped meanwhile, it raises Exit(0).

    Raises ConfigError, StoreError, and StoreAway unless it is lasting.
    """
    stopped = asyncio.Event()

    def stop() -> None:
        stopped.set()
        if parent_line() is None:
            notify(STOPPING="1")

    token = from_environment(entrance.token)
    async with open_caller(core, token, worker, ca=config.net.ca, entrance=entrance) as caller:
        with stop_signals(stop, tells=parent_line() is None):
            async with in_background(tell_alive()), in_background(_end(caller, stopped)):
                greeting = await (
                    patiently(lambda: greet(caller), stopped, caller.away, grace_s=0) if lasting else greet(caller)
                )
                if greeting is None:
                    raise Exit(0)
                yield Way(caller, stopped, greeting)


@asynccontextmanager
async def open_remote_part(config: Config, core: str, worker: str, *, lasting: bool) -> AsyncIterator[RemotePart]:
    """A crawler elsewhere: opens its way to the core, as `open_way` does, and shows that it lives."""
    async with open_way(config, core, worker, CRAWLERS, greet, lasting=lasting) as way:
        part = RemotePart(remote_core(way.caller), _as_told(config, way.greeting), way.stopped)
        tell_ready()
        async with _shown(way.caller, part):
            yield part


def _as_told(config: Config, greeting: calls.Greeting) -> Config:
    """The configuration as the core has it, where all crawlers must be of one mind."""
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


async def _end(caller: Caller, stopped: asyncio.Event) -> None:
    """Lets nobody wait for the core for long once `stopped` is set."""
    loop = asyncio.get_running_loop()
    await stopped.wait()
    begun = loop.time()
    while loop.time() < begun + (LAST_AWAY_S if caller.away.times else LAST_S):  # noqa: ASYNC110 (it may change)
        await asyncio.sleep(_LOOK_S)
    caller.give_up()


@asynccontextmanager
async def _shown(caller: Caller, part: RemotePart) -> AsyncIterator[None]:
    """Writes the sign of life in the core, again and again, until the block ends."""
    name = f"{os.getpid()}-{secrets.token_hex(4)}"
    life = Life(name, host_name()[:200], machine()[:200], os.getpid(), __version__)

    async def write(*, is_last: bool = False) -> None:
        doing = part.doing.encode(errors="replace").decode()[:500]
        await caller.call(
            calls.LIFE,
            Life(life.name, life.host, life.machine, life.pid, life.version, doing, dict(part.figures()), is_last),
        )

    async def beat() -> None:
        while True:
            try:
                await write()
            except StoreError as error:
                log.debug("the sign of life is not written: %s", error)
            await asyncio.sleep(_SEEN_S)

    try:
        async with in_background(beat()):
            yield
    finally:
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_FAREWELL_S):
                await write(is_last=True)
