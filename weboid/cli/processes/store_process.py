"""Processes with connections of their own to the database: those with a role, and commands of people that run long."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from weboid.cli.processes.database import open_store
from weboid.cli.processes.running import FAREWELL_S, Connect, IsGone, OwnProcess, own_process, run_process
from weboid.cli.processes.stopping import stop_signals, until
from weboid.config import Config
from weboid.errors import WeboidError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import Again, again_until
from weboid.store.lists.logs import record_settled
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
_Result = TypeVar("_Result")


def open_process(
    config: Config, role: ProcessRole, *, size: int, lasting: bool, **limits: Any
) -> "AbstractAsyncContextManager[OwnProcess[Pool]]":
    """A process in a role, as `run_process` has it, with `size` connections to the database at most and one for its
    row. The `limits` are those of `open_store`: statement_timeout_s, idle_s, wait_s.
    """
    return run_process(role, connect_store(config, role, size=size, lasting=lasting, **limits), lasting=lasting)


def connect_store(config: Config, role: ProcessRole, *, size: int, lasting: bool, **limits: Any) -> "Connect[Pool]":
    """Opens the store of a process, which waits for it if it is `lasting`."""

    @asynccontextmanager
    async def connect(stopped: asyncio.Event) -> "AsyncIterator[tuple[_StoreRow, Pool]]":
        opening = open_store(config, size=size + 1, part=role.value, stopped=stopped, waits=lasting, **limits)
        async with opening as pool:
            yield _StoreRow(pool, own_process(role)), pool

    return connect


class _StoreRow:
    """The row of a process in the store."""

    def __init__(self, pool: "Pool", process: RunningProcess) -> None:
        self.process = process
        self._pool = pool

    @property
    def away(self) -> Disturbance:
        return self._pool.away

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        async with self._pool.connection() as conn:
            expiry_s = KEPT_DAYS * 86_400.0 if was_away else EXPIRY_S
            return await take_role(conn, self.process, is_gone, expiry_s=expiry_s)

    async def write(self, activity: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        async with self._pool.connection(_STATEMENT_S) as conn:
            other = None
            if not await record_seen(conn, self.process, activity, figures):
                # The row is gone.
                other = await take_role(conn, self.process, is_gone)
                if other is None:
                    await record_seen(conn, self.process, activity, figures)
        async with self._pool.reading(_STATEMENT_S) as conn:
            await record_settled(conn)
        return other

    async def delete(self) -> None:
        async with self._pool.connection(FAREWELL_S) as conn:
            await delete_process(conn, self.process)


@dataclass(frozen=True, slots=True)
class LongCommand:
    """The store of a command that runs long, and the retrying of its steps while the database is away."""

    pool: "Pool"
    again: Again


async def run_long_command(
    config: Config,
    work: Callable[[LongCommand], Coroutine[Any, Any, _Result]],
    *,
    size: int,
    name: str,
    any_form: bool = False,
) -> _Result:
    """Opens the store for a command of that name, and does its work; a signal breaks the work off.

    Raises StoreError if the database is away at the start, later it is waited for; WeboidError if it was stopped.
    """
    stopped = asyncio.Event()
    # Until the store is open a signal cancels the program (stoppable), so that it need not wait for other migrations.
    opening = open_store(config, size=size, part=name, any_form=any_form, stopped=stopped, waits=False)
    async with opening as pool:
        with stop_signals(stopped.set, answers=True, ends=True):
            return await run_to_its_end(work(LongCommand(pool, again_until(stopped, pool.away))), stopped, name)


async def run_to_its_end(work: Coroutine[Any, Any, _Result], stopped: asyncio.Event, name: str) -> _Result:
    """The result of the work of a command of that name; raises WeboidError if `stopped` is set before."""
    done: list[_Result] = []

    async def run() -> None:
        done.append(await work)

    await until(stopped, run())
    if not done:
        raise WeboidError(f"{name} was stopped before its end: what it has done is kept; run it again for the rest")
    return done[0]
