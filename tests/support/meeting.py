"""For tests in which two writers meet in the store: one is held up between two of its statements, the other comes.

One law: nothing here waits for a time: the one goes on when the other has ended, or waits for a lock.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from weboid.store.db.pool import Connection, Pool

Writer = Callable[[Connection], Awaitable[object]]
"""What a transaction does; its end commits it."""

_LIMIT_S: Final = 30.0
_LOOK_S: Final = 0.001
_BLOCKED: Final = b"SELECT cardinality(pg_blocking_pids(%s))"


async def meet(pool: Pool, first: Writer, second: Writer, *, after: int | None = None) -> int:
    """Runs `first` up to its statement `after` (None = to its end, but not committed), then `second`, then the rest.

    Returns how many statements `first` has. Raises what one of them raises, as a deadlock does.
    """
    reached, going_on = asyncio.Event(), asyncio.Event()
    count = 0

    async def held_up() -> None:
        nonlocal count
        async with pool.connection() as conn:
            execute = conn.execute

            async def counted(*args: Any, **kwargs: Any) -> Any:
                nonlocal count
                answer = await execute(*args, **kwargs)
                count += 1
                if count == after:
                    reached.set()
                    await going_on.wait()
                return answer

            conn.execute = counted  # type: ignore[method-assign]
            try:
                await first(conn)
                reached.set()
                await going_on.wait()
            finally:
                del conn.execute
                reached.set()

    async with asyncio.timeout(_LIMIT_S):
        one = asyncio.create_task(held_up())
        await reached.wait()
        begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        other = asyncio.create_task(_run(pool, second, begun))
        await _ended_or_waiting(pool, other, await begun)
        going_on.set()
        ends = await asyncio.gather(one, other, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
    return count


async def _run(pool: Pool, writer: Writer, begun: asyncio.Future[int]) -> None:
    async with pool.connection() as conn:
        begun.set_result(conn.info.backend_pid)
        await writer(conn)


async def _ended_or_waiting(pool: Pool, task: asyncio.Task[None], pid: int) -> None:
    async with pool.reading() as conn:
        while not task.done():
            row = await (await conn.execute(_BLOCKED, (pid,))).fetchone()
            if row and row[0]:
                return
            await asyncio.sleep(_LOOK_S)
