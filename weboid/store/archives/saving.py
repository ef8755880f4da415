"""Savings: living URLs that an archive is asked to save (A-1), and how far each has come.

One law: a URL is saved once; one that was refused for good is not asked for again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.pool import Connection


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
    """A URL to be saved. `day` is the day on which it came, `tries` how often it was sent or asked about, `job` the
    service's name of the job, `why` a stable word for what went wrong last."""

    key: UrlKey
    url: Url
    day: int
    state: SavingState
    tries: int = 0
    job: str | None = None
    why: str = ""


async def record_savable(conn: Connection, day: int, *, limit: int) -> int:
    """Queues at most `limit` URLs for saving, newest in the log first: those that were found working for the first time,
    are used, are no cited copies and have neither a snapshot nor a saving. Returns how many."""
    raise NotImplementedError


async def lease_savings(conn: Connection, *, state: SavingState, limit: int, lease_s: float) -> list[Saving]:
    """Takes savings of this state whose time has come for this worker alone, for `lease_s` seconds: newest first."""
    raise NotImplementedError


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
    """Records how far a saving has come, and in how many seconds it is to be taken up again; returns whether there was
    one."""
    raise NotImplementedError


async def list_savings(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, Saving]:
    """The savings of these URLs."""
    raise NotImplementedError


async def count_savings(conn: Connection, *, limit: int = 100_000) -> dict[SavingState, int]:
    """How many savings there are of each state; of each no more than `limit` are counted."""
    raise NotImplementedError
