"""A part of Weboid: a process with its database, its signals and its sign of life in the store.

What it does is its command's. One law: from the first moment on a signal to stop sets `stopped`, also while the
database, or a role that another process has, is waited for.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC
from time import monotonic
from typing import TYPE_CHECKING, Final

import click

from weboid import __version__
from weboid.cli.processes.database import open_store
from weboid.cli.processes.line import BEAT_S, parent_line
from weboid.cli.processes.notify import keep_watchdog, notify
from weboid.cli.processes.process import host_name, is_running, machine
from weboid.cli.processes.stopping import stop_signals
from weboid.cli.terminal.logs import name_part
from weboid.config import Config
from weboid.errors import StoreAway, StoreError, WeboidError
from weboid.mechanism.background import in_background
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.ending import is_stopped_within
from weboid.mechanism.patience import FIRST_PAUSE_S, LONGEST_PAUSE_S
from weboid.mechanism.pauses import GrowingPause
from weboid.store.schedule.part import (
    EXPIRY_S,
    KEPT_DAYS,
    PartProcess,
    PartRole,
    SeenPart,
    delete_part,
    record_seen,
    take_role,
)

if TYPE_CHECKING:
    from weboid.store.db.pool import Pool

log = logging.getLogger(__name__)

_SEEN_S: Final = 15.0
"""The interval at which a part writes that it lives."""
_LOOK_S: Final = 2.0
"""The interval at which a role that another process has is asked for again."""
_ALIVE_S: Final = 2 * _SEEN_S + 5
"""A process on another machine that was seen since counts as one that runs; later it may have died a moment ago."""
_STATEMENT_S: Final = 10.0
_WRITING_S: Final = 30.0
"""How long the sign of life may take: longer than it takes to find the server silent, which would else be told by none
of a part that has nothing else to do; shorter than `EXPIRY_S`."""
_FAREWELL_S: Final = 3.0
_STATUS_S: Final = 1.0
"""The shortest time between two words to systemd: bars tell up to 50 times a second, and it tells others each time."""


@dataclass(slots=True)
class RunningPart:
    """A running part: its pool of connections, the event that is set when it is to stop, and figures of its own."""

    role: PartRole
    pool: "Pool"
    stopped: asyncio.Event
    figures: Callable[[], Mapping[str, float]] = dict
    """Reads the part's own figures, whenever its sign of life is written; must not raise."""
    doing: str = ""
    _shown: str = ""
    _shown_at: float = float("-inf")

    def tell(self, doing: str) -> None:
        """Says in a few words of plain text what it is doing, for the status page and systemd (O-5). Never raises."""
        self.doing = doing
        if monotonic() - self._shown_at > _STATUS_S:
            self.show()

    def show(self) -> None:
        """Lets systemd know what was told last, which `tell` does not always do at once."""
        if self.doing != self._shown and parent_line() is None:
            self._shown, self._shown_at = self.doing, monotonic()
            notify(STATUS=self.doing)

    def tell_ready(self) -> None:
        """Says that it does its work from now on; a web part itself, once it answers. Once is enough."""
        self.show()
        tell_ready()


def tell_ready() -> None:
    """Says to who started this process that it does its work from now on. Once is enough."""
    if line := parent_line():
        line.tell_ready()
    else:
        notify(READY="1")


@asynccontextmanager
async def open_part(
    config: Config,
    role: PartRole,
    *,
    size: int,
    lasting: bool,
    statement_timeout_s: float = 0,
    idle_s: float = 120,
    wait_s: float = 30,
) -> AsyncIterator[RunningPart]:
    """Opens the store for one part, `size` connections at most and one for its sign of life; the other limits are
    those of `open_store`.

    A `lasting` part runs until it is stopped, waits for a database that is away, and has its role alone if that is
    exclusive: it waits for another one to end, or to have been silent for `EXPIRY_S`; ``up`` does not. Stopped
    meanwhile, it raises click's Exit(0), one that works once WeboidError. Raises StoreError, WeboidError.
    """
    name_part(role.value)
    stopped = asyncio.Event()
    process = PartProcess(
        role, f"{os.getpid()}-{secrets.token_hex(4)}", host_name(), machine(), os.getpid(), __version__
    )
    async with AsyncExitStack() as stack:
        opening = stack.enter_context(_orders(stopped))
        await stack.enter_async_context(in_background(tell_alive()))
        with opening.until_open(is_cut_off=not lasting):
            pool = await stack.enter_async_context(
                open_store(
                    config,
                    size=size + 1,
                    part=role.value,
                    statement_timeout_s=statement_timeout_s,
                    idle_s=idle_s,
                    wait_s=wait_s,
                    stopped=stopped,
                    waits=lasting,
                )
            )
            part = RunningPart(role, pool, stopped)
            sign = _SignOfLife(part, process)
            if lasting and role.is_exclusive:
                await sign.take()
                if stopped.is_set():
                    await sign.leave()
                    raise click.exceptions.Exit(0)
        # A second part of an exclusive role that works once, beside the lasting one, has no row.
        if lasting or not role.is_exclusive:
            await stack.enter_async_context(sign.shown())
        if role not in (PartRole.WEB, PartRole.UP):
            part.tell_ready()
        yield part
    if sign.lost_to:
        raise WeboidError(f"another {role.value} has taken over: {named_part(sign.lost_to)}")


@dataclass(slots=True)
class _Orders:
    """What a signal to stop means: while the part is opened, that it is not; then that its work is to end."""

    stopped: asyncio.Event
    task: "asyncio.Task[object] | None" = None

    def stop(self) -> None:
        self.stopped.set()
        if parent_line() is None:
            notify(STOPPING="1")
        if self.task:
            self.task.cancel()

    @contextmanager
    def until_open(self, *, is_cut_off: bool) -> Iterator[None]:
        """A block that an order to stop cancels, so that all that was opened is closed; raises WeboidError then.

        Not `is_cut_off`: it looks at `stopped` itself. To be cancelled twice would leave what it has begun.
        """
        self.task = asyncio.current_task() if is_cut_off else None
        try:
            yield
        except asyncio.CancelledError:
            if not self.stopped.is_set() or self.task is None:
                raise
            self.task.uncancel()
            raise WeboidError("stopped before it has begun; run it again") from None
        finally:
            self.task = None


@contextmanager
def _orders(stopped: asyncio.Event) -> Iterator[_Orders]:
    orders = _Orders(stopped)
    with stop_signals(orders.stop, tells=parent_line() is None):
        yield orders


async def tell_alive() -> None:
    """Tells who started this process, again and again, that its event loop turns: the parent, or systemd."""
    if (line := parent_line()) is None:
        return await keep_watchdog()
    while True:
        line.tell_alive()
        await asyncio.sleep(BEAT_S)


class _SignOfLife:
    """The row of a part in the store. To write it disturbs nothing: when the database is away it says nothing."""

    def __init__(self, part: RunningPart, process: PartProcess) -> None:
        self.lost_to: SeenPart | None = None
        """Who has taken the exclusive role, while this process was silent for longer than `EXPIRY_S`."""
        self._part = part
        self._process = process

    async def take(self) -> None:
        """Waits for the exclusive role, or a stop; for ``up`` raises WeboidError if another one runs."""
        told = ""
        while other := await self._other():
            is_here = other.machine == self._process.machine  # and has not ended, as take_role has asked
            if self._part.role is PartRole.UP and (other.silent_s < _ALIVE_S or is_here):
                raise WeboidError(
                    f"weboid up runs already: {named_part(other)}; stop it first, or use another database"
                )
            if told != other.name:
                told = other.name
                log.warning("another %s runs: %s; waiting for it to end", self._process.role.value, named_part(other))
                self._part.tell_ready()
            self._part.tell("waits for another one to end")
            await is_stopped_within(self._part.stopped, _LOOK_S)
        self._part.tell("")

    async def _other(self) -> SeenPart | None:
        """Who has the role; None: this process has taken it, or is stopped."""
        pool, stopped = self._part.pool, self._part.stopped
        pause = GrowingPause(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        was_away = pool.away.times > 0
        while not stopped.is_set():
            try:
                async with pool.connection() as conn:
                    expiry_s = KEPT_DAYS * 86_400.0 if was_away else EXPIRY_S
                    other = await take_role(conn, self._process, self._is_gone, expiry_s=expiry_s)
            except StoreAway as error:
                log.debug("the role waits for the database: %s", error)
                was_away = True
                await is_stopped_within(stopped, pause.grown_s())
                continue
            if other is None or other.is_running:
                return other
            # Nobody could be seen: whoever has the role is given the time to write first.
            log.warning("while the database was away another %s may have run: %s", *(other.role, named_part(other)))
            was_away = False
            await is_stopped_within(stopped, 2 * _SEEN_S)
        return None

    def _is_gone(self, other: SeenPart) -> bool:
        """Whether it is known to have ended. A container that is started again may have the numbers it had before:
        whoever had this process's number has ended.
        """
        is_here = other.machine == self._process.machine
        return is_here and (other.pid == self._process.pid or not is_running(other.pid))

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """The row is there, and written again and again, until the block ends."""
        try:
            async with in_background(self._beat()):
                yield
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Takes the row away, if the database is there; else it is silent from now on."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_FAREWELL_S), self._part.pool.connection(_FAREWELL_S) as conn:
                await delete_part(conn, self._process)

    async def _beat(self) -> None:
        failing = Disturbance(log, "the sign of life is not written")
        while True:
            self._part.show()
            try:
                async with asyncio.timeout(_WRITING_S):
                    await self._write()
                failing.passed()
            except (StoreError, TimeoutError) as error:
                log.debug("the sign of life is not written: %s", error)
            except Exception as error:  # such as a missing table, until another part has made it again
                failing.met(error)
            if self.lost_to:
                log.error("another %s has taken over: %s", self._process.role.value, named_part(self.lost_to))
                self._part.stopped.set()
                return
            await asyncio.sleep(_SEEN_S)

    async def _write(self) -> None:
        async with self._part.pool.connection(_STATEMENT_S) as conn:
            if await record_seen(conn, self._process, self._part.doing, self._part.figures()):
                return
            self.lost_to = await take_role(conn, self._process, self._is_gone)
            if self.lost_to is None:
                await record_seen(conn, self._process, self._part.doing, self._part.figures())


def named_part(other: SeenPart) -> str:
    """Who that is, in words."""
    return f"process {other.pid} on {other.host}, since {other.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
