"""A part of Weboid: a process with its database, its signals and its row in the store.

What it does is its command's. One law: from the first moment on a signal to stop sets `stopped`, also while the
database, or a role that another process has, is waited for.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from weboid.cli.processes.database import open_store
from weboid.cli.processes.line import BEAT_S, parent_line
from weboid.cli.processes.notify import keep_watchdog, notify
from weboid.cli.processes.sign_of_life import FAREWELL_S, IsGone, LivingPart, SignOfLife, own_process
from weboid.cli.processes.stopping import stop_signals
from weboid.cli.terminal.logs import name_part
from weboid.config import Config
from weboid.errors import WeboidError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.tasks import in_background
from weboid.store.schedule.process import (
    EXPIRY_S,
    KEPT_DAYS,
    ProcessRole,
    RunningProcess,
    SeenProcess,
    delete_process,
    record_seen,
    take_role,
)

if TYPE_CHECKING:
    from weboid.store.db.pool import Pool

_STATEMENT_S: Final = 10.0


@dataclass(slots=True)
class RunningPart(LivingPart):
    """A running part with its pool of connections."""

    pool: "Pool"


@asynccontextmanager
async def open_part(
    config: Config,
    role: ProcessRole,
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
            part = RunningPart(role, stopped, pool)
            sign = SignOfLife(part, _StoreRow(pool, own_process(role)))
            if lasting and role.is_exclusive:
                await sign.take()
                if stopped.is_set():
                    await sign.leave()
                    raise click.exceptions.Exit(0)
        # A second part of an exclusive role that works once, beside the lasting one, has no row.
        if lasting or not role.is_exclusive:
            await stack.enter_async_context(sign.shown())
        if role not in (ProcessRole.WEB, ProcessRole.UP):
            part.tell_ready()
        yield part
    sign.require_role()


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


class _StoreRow:
    """The row of a part in the store."""

    def __init__(self, pool: "Pool", process: RunningProcess) -> None:
        self.process = process
        self._pool = pool

    @property
    def away(self) -> Disturbance:
        """The store's."""
        return self._pool.away

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        """As `take_role` does."""
        async with self._pool.connection() as conn:
            expiry_s = KEPT_DAYS * 86_400.0 if was_away else EXPIRY_S
            return await take_role(conn, self.process, is_gone, expiry_s=expiry_s)

    async def write(self, doing: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        """As `record_seen` does; takes the role again if the row is gone."""
        async with self._pool.connection(_STATEMENT_S) as conn:
            if await record_seen(conn, self.process, doing, figures):
                return None
            other = await take_role(conn, self.process, is_gone)
            if other is None:
                await record_seen(conn, self.process, doing, figures)
            return other

    async def delete(self) -> None:
        """As `delete_process` does."""
        async with self._pool.connection(FAREWELL_S) as conn:
            await delete_process(conn, self.process)
