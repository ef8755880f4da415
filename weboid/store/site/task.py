"""Tasks of the robot and their runs (R-5). Two runs of one task never overlap, as the session of a run holds a lock.

No queue is stored: a run that was killed begins again at its starts, and takes from the store what it had found.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import psycopg

from weboid.store.db.statements import Connection, fetch_one, fetch_value, statements

SQL: Final = statements("site/task")
KEPT_DAYS: Final = 200
"""Days without a run after which a task is deleted, and without a link after which one of its URLs is."""
GOES_ON_DAYS: Final = 1
"""A run that was killed on an earlier day does not go on: what it had found is too old."""


class KeptTask(NamedTuple):
    """A task in a run: the number of the run, and of the newest that came to its end (0 = none)."""

    task: int
    run: int
    whole_run: int


async def lock_task(conn: Connection, name: str) -> bool:
    """Locks a task for as long as the session lasts; False if another session has it."""
    return bool(await fetch_value(conn, SQL["lock_task"], {"name": name}))


async def unlock_task(conn: Connection, name: str) -> None:
    """Unlocks it again; a session that has ended holds no lock."""
    with suppress(psycopg.OperationalError):
        await conn.execute(SQL["unlock_task"], {"name": name})


async def find_starts(conn: Connection, name: str) -> list[str] | None:
    """The starts of the last run of a locked task; None if there was none."""
    starts: list[str] | None = await fetch_value(conn, SQL["find_starts"], {"name": name})
    return starts


async def begin_run(
    conn: Connection, name: str, starts: Sequence[str], orders: str, day: int, *, goes_on_days: int = GOES_ON_DAYS
) -> KeptTask:
    """Begins a run of a locked task, or goes on with one that was not ended; `orders` are JSON."""
    row = {"name": name, "starts": list(starts), "orders": orders, "day": day, "oldest": day - goes_on_days}
    task = await fetch_one(conn, KeptTask, SQL["begin_run"], row)
    assert task
    return task


async def end_run(conn: Connection, task: int, statistics: str, *, is_whole: bool) -> None:
    """Writes the statistics (JSON) of a run; one that `is_whole` is compared with the next, another goes on there."""
    await conn.execute(SQL["end_run"], {"task": task, "statistics": statistics, "is_whole": is_whole})


async def expire_entries(conn: Connection, day: int, *, limit: int) -> int:
    """Deletes at most `limit` URLs of tasks that no run has asked for in KEPT_DAYS; returns how many.

    After the last it deletes the tasks that had no run so long, too.
    """
    row = {"before": day - KEPT_DAYS, "limit": limit}
    past = [key async for key in await conn.execute(SQL["list_past"], row)]
    keys = {"task": [task for task, _ in past], "url_key": [key for _, key in past]}
    for name in ("delete_links", "delete_pages", "delete_entries") if past else ("delete_past_tasks",):
        await conn.execute(SQL[name], keys if past else row)
    return len(past)
