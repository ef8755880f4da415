"""Savings: living URLs that an archive is asked to save (A-1), and the state of each.

A URL is queued once; one that was refused permanently is not asked for again. Savings have a table of their own, not a
rank in the queue of look-ups, which a store of any size would fill.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import Connection, statements

SQL: Final = statements("archives/saving")
BUDGET: Final = 5_000
"""URLs that one call reads at most."""
BEFORE_ALL: Final = UrlKey(-1, 0, 0)
"""A key before all others."""


class SavingState(IntEnum):
    """The state of a saving. The numbers are stored and never change their meaning."""

    WAITING = 0
    SENT = 1
    """The service has a job for it."""
    SAVED = 2
    """The service says so; the copy is still to be played. `job` is the capture's stamp, None if that is not known."""
    REFUSED = 3
    """Permanently."""
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
    """The number of URLs queued, and the last key that was read; None = there is none after it."""

    queued: int
    after: UrlKey | None


async def record_savable(conn: Connection, day: int, after: UrlKey = BEFORE_ALL, *, limit: int) -> Savable:
    """Queues at most `limit` of the next URLs after a key, the most used first.

    They are found working, are used, are no cited copies, and have neither a snapshot nor a saving. The log of verdicts
    has no line of a URL that works when it is checked first, so all are looked through, one stretch after another.
    """
    rows = await conn.execute(SQL["list_stretch"], {**after._asdict(), "budget": BUDGET})
    stretch = [(UrlKey(*columns), is_savable) async for *columns, is_savable in rows]
    savable = [key for key, is_savable in stretch if is_savable]
    queued = 0
    if kept := await lock_kept(conn, savable):
        columns = key_columns(key for key in savable if key in kept)
        values = {**columns, "day": day, "limit": limit, "state": int(SavingState.WAITING)}
        queued = (await conn.execute(SQL["record_savable"], values)).rowcount
    return Savable(queued, stretch[-1][0] if len(stretch) == BUDGET else None)


async def lease_savings(conn: Connection, *, state: SavingState, limit: int, lease_s: float) -> list[Saving]:
    """Takes savings of this state whose time has come for this worker alone, for `lease_s` seconds.

    Those that wait come newest first, those whose job is under way oldest first.
    """
    await require_scheme(conn)
    row = {"state": int(state), "limit": limit, "lease_s": lease_s}
    statement = SQL["lease_newest"] if state is SavingState.WAITING else SQL["lease_oldest"]
    rows = await (await conn.execute(statement, row)).fetchall()
    urls = await list_plain_urls(conn, [UrlKey(*columns[:3]) for columns in rows])
    return [
        Saving(key, urls[key], columns[3], SavingState(columns[4]), *columns[5:])
        for columns in rows
        if (key := UrlKey(*columns[:3])) in urls
    ]


async def record_saving(
    conn: Connection,
    key: UrlKey,
    *,
    state: SavingState,
    next_s: float = 0,
    job: str | None = None,
    why: str = "",
    tries: int = 0,
) -> None:
    """Records the state of a saving, and in how many seconds it is to be taken up again."""
    row = {**key._asdict(), "state": int(state), "next_s": next_s, "job": job, "why": why, "tries": tries}
    await conn.execute(SQL["record_saving"], row)


async def count_savings(conn: Connection, *, limit: int = 100_000) -> dict[SavingState, int]:
    """The number of savings of each state; of each no more than `limit` are counted."""
    rows = await conn.execute(SQL["count_savings"], {"states": [int(state) for state in SavingState], "limit": limit})
    return {SavingState(state): count async for state, count in rows}
