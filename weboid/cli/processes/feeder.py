"""The process of a feeder, beside the database or elsewhere (O-1): its core, its signals, its role.

One law: of each role, feed and events, one process runs for good at a time, wherever it is.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import click
from click.exceptions import Exit

from weboid.cli.days import moment_now
from weboid.cli.processes.part import open_part
from weboid.cli.processes.remote_part import life_of, open_way
from weboid.cli.processes.sign_of_life import IsGone, LivingPart, SignOfLife, own_process
from weboid.cli.terminal.logs import name_part
from weboid.config import Config
from weboid.core.url.farms import Farm
from weboid.errors import StoreError
from weboid.remote.feed.core import FeedCore, FeedGreeting, FeedLife, ServedFarm, feeder_calls, remote_feed
from weboid.remote.feed.on_store import store_feed
from weboid.remote.http.calling import Caller
from weboid.remote.http.entrance import FEEDERS
from weboid.remote.http.kinds import of_our_scheme
from weboid.store.schedule.process import ProcessRole, RunningProcess, SeenProcess

core_option = click.option("--core", help="Bring pages in for the Weboid at this address, without a database.")
_MOST_OFF_S: Final = 300.0
"""Seconds between the clock here and the core's, at most: days and lags are computed by the clock here."""


@dataclass(slots=True)
class Feeder:
    """A running feeder: its core, the event that is set to stop, how it says what it is doing, and how it has its
    configuration as the core has it where all must agree."""

    core: FeedCore
    stopped: asyncio.Event
    tell: Callable[[str], None]
    as_told: Callable[[Config], Config] = field(default=lambda config: config)


@asynccontextmanager
async def open_feeder(
    config: Config, role: ProcessRole, core: str | None, *, size: int, lasting: bool, day: int | None = None
) -> AsyncIterator[Feeder]:
    """Opens a feeder beside the database, as `open_part` does; with the address of a core, or one that is configured,
    far from it. `day`: the clock does not count. Raises as `open_part` and `open_way`.
    """
    if not (address := core or config.feed.core):
        async with open_part(config, role, size=size, lasting=lasting) as beside:
            yield Feeder(store_feed(beside.pool), beside.stopped, beside.tell)
        return
    name_part(role.value)
    process = own_process(role)
    async with open_way(config, address, process.name, FEEDERS, greet_feed, lasting=lasting) as way:
        if day is None:
            _require_time(way.greeting)
        part = LivingPart(role, way.stopped)
        sign = SignOfLife(part, _FeederRow(way.caller, process))
        farms = tuple(_farm(sent) for sent in way.greeting.farms)
        feeder = Feeder(remote_feed(way.caller), way.stopped, part.tell, lambda config: replace(config, farms=farms))
        async with AsyncExitStack() as stack:
            # As beside the database: one that works once has no row.
            if lasting:
                await sign.take()
                if way.stopped.is_set():
                    await sign.leave()
                    raise Exit(0)
                await stack.enter_async_context(sign.shown())
            part.tell_ready()
            yield feeder
    sign.require_role()


async def greet_feed(caller: Caller) -> FeedGreeting:
    """The greeting of a feeder's server; raises StoreAway, and StoreError if its keys are not ours (O-10)."""
    return of_our_scheme(await feeder_calls(caller).greet())


def _require_time(greeting: FeedGreeting) -> None:
    off_s = (moment_now() - greeting.moment).total_seconds()
    if abs(off_s) > _MOST_OFF_S:
        raise StoreError(f"the clock here is {off_s:+.0f} s from that of the core's database: set it right")


def _farm(sent: ServedFarm) -> Farm:
    return Farm(sent.code, sent.name, sent.api, frozenset(sent.domains), sent.hosts, sent.spam_wiki)


class _FeederRow:
    """The row of a feeder elsewhere in the core's store."""

    def __init__(self, caller: Caller, process: RunningProcess) -> None:
        self.process = process
        self.away = caller.away
        self._calls = feeder_calls(caller)

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        """Asks the core for the role."""
        return await self._write("", {}, is_gone, takes=True, was_away=was_away)

    async def write(self, doing: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        """Tells the core that the feeder lives."""
        return await self._write(doing, figures, is_gone)

    async def delete(self) -> None:
        """Tells the core that the feeder ends."""
        await self._write("", {}, lambda _: False, is_last=True)

    async def _write(
        self,
        doing: str,
        figures: Mapping[str, float],
        is_gone: IsGone,
        *,
        takes: bool = False,
        was_away: bool = False,
        is_last: bool = False,
    ) -> SeenProcess | None:
        """One call; a second one where who has the role is known here, and only here, to have ended."""
        life, role = life_of(self.process, doing, figures, is_last=is_last), self.process.role.value
        other = await self._calls.live(FeedLife(role, life, takes, was_away))
        if other and is_gone(other):
            return await self._calls.live(FeedLife(role, life, takes, was_away, [other.name]))
        return other
