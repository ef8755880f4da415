"""The queue of URLs whose copies are to be looked up: newly dead ones first, then doubtful ones, then those that are due
again; each newest first (A-1).

One law: every URL that is dead or doubtful by the log is in the queue, waiting or done, once the queue has followed the
log; one that works is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import Finding
from weboid.store.archives.cited_copy import CitedCopy
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl


class Rank(IntEnum):
    """Which URLs come first. The numbers are stored and never change their meaning."""

    DEAD = 0
    DOUBTFUL = 1
    AGAIN = 2


@dataclass(frozen=True, slots=True)
class WantedCopy:
    """A URL whose copies are to be looked up, with the cited copies of it, newest first.

    `day` is that of the change by which it was queued, or on which it was due again.
    """

    known: KnownUrl
    rank: Rank
    day: int
    cited: tuple[tuple[CitedCopy, Url], ...] = ()

    @property
    def key(self) -> UrlKey:
        return self.known.key

    @property
    def url(self) -> Url:
        return self.known.url

    @property
    def finding(self) -> Finding:
        """What is concluded of it now."""
        raise NotImplementedError

    @property
    def last_alive(self) -> int | None:
        """The newest day on which it is known to have worked; None if it never did, as far as is remembered."""
        raise NotImplementedError

    @property
    def first_checked(self) -> int | None:
        """The oldest day that is remembered of it: no later than that, it was cited."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class QueueLength:
    """How many URLs wait, by rank, and since when the one that came first; `is_more` = counting stopped at the limit."""

    count: int
    is_more: bool
    oldest: int | None


async def follow_changes(conn: Connection, *, limit: int = 5_000) -> int:
    """Queues what the log of changes says since it was last followed, at most `limit` lines; returns how many were read.

    In a transaction that has written nothing. Raises StoreError if a transaction that was writing to the log does not
    end within two seconds, or if the keys are being moved (O-10).
    """
    raise NotImplementedError


async def record_wanted(conn: Connection, keys: Sequence[UrlKey], day: int, rank: Rank = Rank.AGAIN) -> int:
    """Queues watched URLs, such as those whose snapshot was withdrawn; returns how many there were."""
    raise NotImplementedError


async def record_due_again(conn: Connection, day: int, *, limit: int = 5_000) -> int:
    """Lets URLs wait again whose look-ups have become old by `day`, at most `limit`; returns how many."""
    raise NotImplementedError


async def lease_wanted(conn: Connection, *, limit: int, lease_s: float) -> list[WantedCopy]:
    """Takes the next URLs of the queue for this worker alone, until they are done or `lease_s` seconds are over."""
    raise NotImplementedError


async def record_done(conn: Connection, days: dict[UrlKey, int]) -> None:
    """Records that URLs were looked up, and on which days they are due again."""
    raise NotImplementedError


async def record_released(conn: Connection, keys: Sequence[UrlKey]) -> None:
    """Gives leased URLs back that were not looked up, for a service is paused or the worker stops."""
    raise NotImplementedError


async def count_queue(conn: Connection, *, limit: int = 100_000) -> dict[Rank, QueueLength]:
    """How many URLs wait, by rank; of each no more than `limit` are counted."""
    raise NotImplementedError
