"""The process of a feeder, beside the database or elsewhere (O-1): its core, its signals, its role.

One law: of each role, feed and events, one process runs for good at a time, wherever it is.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

import click
from click.exceptions import Exit

from weboid import __version__
from weboid.central.feed import feed_calls as calls
from weboid.central.feed.feed_core import FeedCore
from weboid.central.feed.feed_on_store import store_feed
from weboid.central.feed.feed_remote import greet_feed, remote_feed
from weboid.central.http.calling import Caller
from weboid.central.http.entrance import FEEDERS
from weboid.central.http.kinds import Life
from weboid.cli.days import moment_now
from weboid.cli.processes.line import parent_line
from weboid.cli.processes.notify import notify
from weboid.cli.processes.part import named_part, open_part, tell_ready
from weboid.cli.processes.process import host_name, is_running, machine
from weboid.cli.processes.remote_part import open_way
from weboid.cli.terminal.logs import name_part
from weboid.config import Config
from weboid.core.url.farms import Farm
from weboid.errors import StoreAway, StoreError, WeboidError
from weboid.mechanism.background import in_background
from weboid.mechanism.ending import is_stopped_within
from weboid.mechanism.patience import FIRST_PAUSE_S, LONGEST_PAUSE_S
from weboid.mechanism.pauses import GrowingPause
from weboid.store.schedule.part import PartRole, SeenPart

log = logging.getLogger(__name__)

core_option = click.option("--core", help="Bring pages in for the Weboid at this address, without a database.")
_SEEN_S: Final = 15.0
_LOOK_S: Final = 2.0
_FAREWELL_S: Final = 3.0
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
    config: Config, role: PartRole, core: str | None, *, size: int, lasting: bool, day: int | None = None
) -> AsyncIterator[Feeder]:
    """Opens a feeder beside the database, as `open_part` does; with the address of a core, or one that is configured,
    far from it. `day`: the clock does not count. Raises as `open_part` and `open_way`.
    """
    if not (address := core or config.feed.core):
        async with open_part(config, role, size=size, lasting=lasting) as part:
            yield Feeder(store_feed(part.pool), part.stopped, part.tell)
        return
    name_part(role.value)
    name = f"{os.getpid()}-{secrets.token_hex(4)}"
    async with open_way(config, address, name, FEEDERS, greet_feed, lasting=lasting) as way:
        if day is None:
            _require_time(way.greeting)
        sign = _SignOfLife(way.caller, role, name, way.stopped)
        farms = tuple(_farm(sent) for sent in way.greeting.farms)
        feeder = Feeder(remote_feed(way.caller), way.stopped, sign.tell, lambda config: replace(config, farms=farms))
        if lasting:
            await sign.take()
            if way.stopped.is_set():
                await sign.leave()
                raise Exit(0)
            async with sign.shown():
                tell_ready()
                yield feeder
        else:
            # As beside the database: one that works once has no row.
            tell_ready()
            yield feeder
    if sign.lost_to:
        raise WeboidError(f"another {role.value} has taken over: {named_part(sign.lost_to)}")


def _require_time(greeting: calls.FeedGreeting) -> None:
    off_s = (moment_now() - greeting.moment).total_seconds()
    if abs(off_s) > _MOST_OFF_S:
        raise StoreError(f"the clock here is {off_s:+.0f} s from that of the core's database: set it right")


def _farm(sent: calls.SentFarm) -> Farm:
    return Farm(sent.code, sent.name, sent.api, frozenset(sent.domains), sent.hosts, sent.spam_wiki)


class _SignOfLife:
    """The row of a feeder elsewhere in the core's store, with its role, as ``cli/processes/part`` has it."""

    def __init__(self, caller: Caller, role: PartRole, name: str, stopped: asyncio.Event) -> None:
        self.lost_to: SeenPart | None = None
        """Who has taken the role while this process could not be seen."""
        self._caller = caller
        self._role = role
        self._life = Life(name, host_name()[:200], machine()[:200], os.getpid(), __version__)
        self._stopped = stopped
        self._doing = ""

    def tell(self, doing: str) -> None:
        """Says in a few words of plain text what it is doing. Never raises."""
        if doing != self._doing:
            self._doing = doing
            if parent_line() is None:
                notify(STATUS=doing)

    async def take(self) -> None:
        """Waits for the role, or a stop."""
        told = ""
        while other := await self._other():
            if told != other.name:
                told = other.name
                log.warning("another %s runs: %s; waiting for it to end", self._role.value, named_part(other))
                tell_ready()
            self.tell("waits for another one to end")
            await is_stopped_within(self._stopped, _LOOK_S)
        self.tell("")

    async def _other(self) -> SeenPart | None:
        """Who has the role; None: this process has taken it, or is stopped."""
        pause = GrowingPause(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        was_away = self._caller.away.times > 0
        gone: list[str] = []
        while not self._stopped.is_set():
            try:
                other = await self._write(takes=True, was_away=was_away, gone=gone)
            except StoreAway as error:
                log.debug("the role waits for the core: %s", error)
                was_away = True
                await is_stopped_within(self._stopped, pause.grown_s())
                continue
            if other is None:
                return None
            if self._has_ended(other) and other.name not in gone:
                gone = [other.name]
                continue
            if other.is_running:
                return other
            # Nobody could be seen: whoever has the role is given the time to write first.
            log.warning("while the core was away another %s may have run: %s", other.role, named_part(other))
            was_away = False
            await is_stopped_within(self._stopped, 2 * _SEEN_S)
        return None

    def _has_ended(self, other: SeenPart) -> bool:
        return other.machine == self._life.machine and (other.pid == os.getpid() or not is_running(other.pid))

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """The row is written again and again, until the block ends."""
        try:
            async with in_background(self._beat()):
                yield
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Takes the row away, if the core is there; else it is silent from now on."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_FAREWELL_S):
                await self._write(is_last=True)

    async def _beat(self) -> None:
        while True:
            try:
                self.lost_to = await self._write()
            except StoreError as error:
                log.debug("the sign of life is not written: %s", error)
            if self.lost_to:
                log.error("another %s has taken over: %s", self._role.value, named_part(self.lost_to))
                self._stopped.set()
                return
            await asyncio.sleep(_SEEN_S)

    async def _write(
        self, *, takes: bool = False, was_away: bool = False, gone: list[str] | None = None, is_last: bool = False
    ) -> SeenPart | None:
        doing = self._doing.encode(errors="replace").decode()[:500]
        own = self._life
        life = Life(own.name, own.host, own.machine, own.pid, own.version, doing, {}, is_last)
        return await self._caller.call(calls.LIFE, calls.FeedLife(self._role.value, life, takes, was_away, gone or []))
