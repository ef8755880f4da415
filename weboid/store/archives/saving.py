"""Savings: living URLs that an archive is asked to save (A-1), and how far each has come.

One law: a URL is queued once; one that was refused for good is not asked for again.
They have a table of their own, not a rank in the queue of look-ups, which a store of any size would fill.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("archives/saving")
BUDGET: Final = 5_000
"""Lines of the log that one call reads at most."""
_END: Final = 2**63 - 1


class SavingState(IntEnum):
    """How far a saving has come. The numbers are stored and never change their meaning."""

    WAITING = 0
    SENT = 1
    """The service has a job for it."""
    SAVED = 2
    """The service says so; the copy is still to be played. `job` is the capture's stamp, None if that is not known."""
    REFUSED = 3
    """For good."""
    KEPT = 4
    """There is a snapshot: of what was saved, or of what was found before."""


@dataclass(frozen=True, slots=True)
class Saving:
    """A URL to be saved. `day` is the day on which it came, `tries` how often it was sent or asked about.

    `job` is the service's name of the job, `why` a stable word for what went wrong last.
    """

    key: UrlKey
    url: Url
    day: int
    state: SavingState
    tries: int = 0
    job: str | None = None
    why: str = ""


class Savable(NamedTuple):
    """How many URLs were queued, and the place in the log before which to go on; None = all of it was read."""

    queued: int
    before: int | None


async def record_savable(conn: Connection, day: int, *, before: int | None = None, limit: int) -> Savable:
    """Queues at most `limit` URLs, the newest stretch of the log first (or that before a place), in it the most used.

    They were found working for the first time there, are still found so, are used, are no cited copies, and have
    neither a snapshot nor a saving.
    """
    row = {"before": _END if before is None else before, "budget": BUDGET}
    lines = await (await conn.execute(SQL["list_log"], row)).fetchall()
    firsts = list(dict.fromkeys(UrlKey(*line[1:4]) for line in lines if line[4]))
    kept = await lock_kept(conn, firsts)
    queued = 0
    if kept:
        given = {**key_columns(key for key in firsts if key in kept), "day": day, "limit": limit}
        queued = (await conn.execute(SQL["record_savable"], {**given, "state": int(SavingState.WAITING)})).rowcount
    return Savable(queued, lines[-1][0] if len(lines) == BUDGET else None)


async def lease_savings(conn: Connection, *, state: SavingState, limit: int, lease_s: float) -> list[Saving]:
    """Takes savings of this state whose time has come for this worker alone, for `lease_s` seconds.

    Those that wait come newest first, those whose job is under way oldest first.
    """
    await require_scheme(conn)
    row = {"state": int(state), "limit": limit, "lease_s": lease_s}
    statement = SQL["lease_newest"] if state is SavingState.WAITING else SQL["lease_oldest"]
    return await _savings(conn, await (await conn.execute(statement, row)).fetchall())


async def record_saving(
    conn: Connection,
    key: UrlKey,
    *,
    state: SavingState,
    next_s: float = 0,
    job: str | None = None,
    why: str = "",
    tries: int = 0,
) -> bool:
    """Records how far a saving has come, and in how many seconds it is to be taken up again.

    Returns whether there was one.
    """
    row = {**key._asdict(), "state": int(state), "next_s": next_s, "job": job, "why": why, "tries": tries}
    return (await conn.execute(SQL["record_saving"], row)).rowcount > 0


async def list_savings(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, Saving]:
    """The savings of these URLs."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    rows = await (await conn.execute(SQL["list_savings"], key_columns(wanted))).fetchall()
    return {each.key: each for each in await _savings(conn, rows)}


async def count_savings(conn: Connection, *, limit: int = 100_000) -> dict[SavingState, int]:
    """How many savings there are of each state; of each no more than `limit` are counted."""
    rows = await conn.execute(SQL["count_savings"], {"states": [int(state) for state in SavingState], "limit": limit})
    return {SavingState(state): count async for state, count in rows}


async def _savings(conn: Connection, rows: Sequence[Sequence[Any]]) -> list[Saving]:
    urls = await list_plain_urls(conn, [UrlKey(*row[:3]) for row in rows])
    return [
        Saving(key, urls[key], row[3], SavingState(row[4]), *row[5:])
        for row in rows
        if (key := UrlKey(*row[:3])) in urls
    ]
