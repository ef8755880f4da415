"""A part elsewhere: its way to the core and its signals; and the sign of life of a crawler elsewhere (O-1).

As ``part`` is for parts with a database. One law: from the first moment on a signal to stop sets `stopped`, also
while the core is waited for.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from click.exceptions import Exit

from weboid.cli.processes.database import LAST_AWAY_S, LAST_S
from weboid.cli.processes.line import parent_line
from weboid.cli.processes.notify import notify
from weboid.cli.processes.part import tell_alive
from weboid.cli.processes.process import from_environment
from weboid.cli.processes.sign_of_life import IsGone, LivingPart, SignOfLife, own_process
from weboid.cli.processes.stopping import stop_signals
from weboid.config import BY_CRAWLERS, Config
from weboid.mechanism.patience import patiently
from weboid.mechanism.tasks import in_background
from weboid.remote.crawl.core import CrawlCore, Greeting
from weboid.remote.crawl.remote import crawler_calls, remote_core
from weboid.remote.http.calling import Caller, open_caller
from weboid.remote.http.entrance import CRAWLERS, Entrance
from weboid.remote.http.kinds import Life, of_our_scheme
from weboid.store.schedule.process import ProcessRole, RunningProcess, SeenProcess

_LOOK_S: Final = 0.2

_Greeting = TypeVar("_Greeting")


@dataclass(slots=True)
class RemotePart(LivingPart):
    """A running crawler elsewhere: the core, and the configuration as the core has it."""

    core: CrawlCore
    config: Config


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
        agreed = _agreed(config, way.greeting)
        part = RemotePart(ProcessRole.CRAWL, way.stopped, remote_core(way.caller), agreed)
        part.tell_ready()
        async with SignOfLife(part, _CrawlerRow(way.caller)).shown():
            yield part


async def greet(caller: Caller) -> Greeting:
    """The greeting of a crawler's server; raises StoreAway, and StoreError if its keys are not ours (O-10)."""
    return of_our_scheme(await crawler_calls(caller).greet())


def _agreed(config: Config, greeting: Greeting) -> Config:
    """The configuration as the core has it, where all crawlers must be of one mind (D-391)."""
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


class _CrawlerRow:
    """The row of a crawler elsewhere in the core's store. As many may run as one likes: it never waits for a role."""

    def __init__(self, caller: Caller) -> None:
        self.process = own_process(ProcessRole.CRAWL)
        self.away = caller.away
        self._calls = crawler_calls(caller)

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        """Nobody has it alone."""
        return None

    async def write(self, doing: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        """Tells the core that the crawler lives."""
        await self._calls.live(life_of(self.process, doing, figures))
        return None

    async def delete(self) -> None:
        """Tells the core that the crawler ends."""
        await self._calls.live(life_of(self.process, "", {}, is_last=True))


def life_of(process: RunningProcess, doing: str, figures: Mapping[str, float], *, is_last: bool = False) -> Life:
    """A sign of life as it is sent to a core."""
    said = doing.encode(errors="replace").decode()[:500]
    return Life(
        process.name,
        process.host[:200],
        process.machine[:200],
        process.pid,
        process.version,
        said,
        dict(figures),
        is_last,
    )
