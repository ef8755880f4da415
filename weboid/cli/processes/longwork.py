"""Commands of people that run for long: without a database they end at their start; later they wait for it."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from weboid.cli.processes.database import open_store
from weboid.cli.processes.stopping import stop_signals, until
from weboid.config import Config
from weboid.errors import WeboidError
from weboid.mechanism.patience import Again, again_until

if TYPE_CHECKING:
    from weboid.store.db.pool import Pool

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class LongWork:
    """The store of such a command, and how its steps are done again while the database is away."""

    pool: "Pool"
    again: Again


async def run_long(
    config: Config,
    work: Callable[[LongWork], Coroutine[Any, Any, _Result]],
    *,
    size: int,
    name: str,
    any_form: bool = False,
) -> _Result:
    """Opens the store for a command of that name, and does its work; a signal breaks the work off.

    Raises StoreError if the database is away at the start, and WeboidError if the command was stopped.
    """
    stopped = asyncio.Event()
    # Until the store is open a signal cancels the program (stoppable), so that it need not wait for other migrations.
    opening = open_store(config, size=size, part=name, any_form=any_form, stopped=stopped, waits=False)
    async with opening as pool:
        with stop_signals(stopped.set, tells=True, ends=True):
            return await run_to_its_end(work(LongWork(pool, again_until(stopped, pool.away))), stopped, name)


async def run_to_its_end(work: Coroutine[Any, Any, _Result], stopped: asyncio.Event, name: str) -> _Result:
    """What the work of a command of that name returns; raises WeboidError if `stopped` is set before."""
    done: list[_Result] = []

    async def run() -> None:
        done.append(await work)

    await until(stopped, run())
    if not done:
        raise WeboidError(f"{name} was stopped before its end: what it has done is kept; run it again for the rest")
    return done[0]
