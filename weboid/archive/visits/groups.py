"""Visits to copies in groups, service by service side by side, a few copies of one at a time (A-3).

What a visit is, and what follows from a group as a whole, is the business of ``snapshot_rounds`` and ``cited_rounds``.
One law: a service that rests, is paused for the day or fails us is asked for no more, and stops no other.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from weboid.archive.service.client import Resting
from weboid.archive.service.replays import Replays
from weboid.core.url.archives import BY_NUMBER
from weboid.core.url.keys import UrlKey
from weboid.errors import StoreAway
from weboid.mechanism.patience import ending
from weboid.store.archives.service_limit import list_services
from weboid.store.db.pool import Connection, Pool

log = logging.getLogger(__name__)

TAKEN_AT_ONCE: Final = 60
"""Copies of each service that are taken for one worker at a time: the most that a crash puts off by a day."""
_AT_ONCE: Final = 4
"""Copies of one service that are played at the same time, in its turns."""


class _OfArchive(Protocol):
    @property
    def key(self) -> UrlKey: ...
    @property
    def archive(self) -> int: ...


Copy = TypeVar("Copy", bound=_OfArchive)
Known = TypeVar("Known")
Seen = TypeVar("Seen")


@dataclass(slots=True)
class VisitGroup(Generic[Copy, Known, Seen]):
    """Copies of one service that are visited together. `playing` counts those that play; what becomes of `failing` ones
    depends on the service. Not `is_open` = it is not asked for more."""

    archive: int
    keys: frozenset[UrlKey]
    waiting: Iterator[tuple[Copy, Known]]
    playing: int = 0
    failing: list[Seen] = field(default_factory=list)
    is_open: bool = True


class GroupVisits(Generic[Copy, Known, Seen]):
    """One worker's visits; `today` is called for each, `stopped` ends them in order.

    `lease` takes copies that are due at these archives, `visit` makes one visit, `conclude` follows when all of a group
    were made; `what` names the copies for the log.
    """

    def __init__(
        self,
        pool: Pool,
        replays: Replays,
        *,
        today: Callable[[], int],
        stopped: asyncio.Event,
        what: str,
        lease: Callable[[Connection, int, list[int]], Awaitable[Sequence[tuple[Copy, Known]]]],
        visit: Callable[[Copy, Known, VisitGroup[Copy, Known, Seen]], Awaitable[None]],
        conclude: Callable[[VisitGroup[Copy, Known, Seen]], Awaitable[None]],
    ) -> None:
        self._pool = pool
        self._replays = replays
        self._today = today
        self._stopped = stopped
        self._what = what
        self._lease = lease
        self._visit = visit
        self._conclude = conclude
        self._paused: dict[int, int] = {}

    def pause(self, archive: int) -> None:
        """Leaves a service alone for the rest of the day."""
        self._paused[archive] = self._today()

    async def sweep(self) -> None:
        """Visits all that are due; ends early if stopped. Raises StoreError."""
        async with self._pool.connection() as conn:
            beside = {state.archive for state in await list_services(conn) if state.resting_s > 0}
        while not self._stopped.is_set():
            day = self._today()
            beside |= {archive for archive, paused in self._paused.items() if paused == day}
            asked = [archive for archive in self._replays.archives if archive not in beside]
            async with self._pool.connection() as conn:
                taken = await self._lease(conn, day, asked)
            if not taken:
                break
            by_archive = defaultdict(list)
            for copy, known in taken:
                by_archive[copy.archive].append((copy, known))
            async with asyncio.TaskGroup() as tasks:
                visits = {
                    archive: tasks.create_task(self._visit_all(archive, waiting))
                    for archive, waiting in by_archive.items()
                }
            beside |= {archive for archive, visit in visits.items() if not visit.result()}

    async def _visit_all(self, archive: int, waiting: Sequence[tuple[Copy, Known]]) -> bool:
        """Visits copies at one service; returns whether it may be asked for more now."""
        keys = frozenset(copy.key for copy, _ in waiting)
        group: VisitGroup[Copy, Known, Seen] = VisitGroup(archive, keys, iter(waiting))
        try:
            async with ending(self._stopped):
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(_AT_ONCE):
                        tasks.create_task(self._visit_some(group))
                await self._conclude(group)
        except StoreAway as error:
            log.debug("%s at %s will be visited again tomorrow: %s", self._what, BY_NUMBER[archive].name, error)
            return False
        return group.is_open

    async def _visit_some(self, group: VisitGroup[Copy, Known, Seen]) -> None:
        for copy, known in group.waiting:
            if self._stopped.is_set() or not group.is_open:
                return
            try:
                await self._visit(copy, known, group)
            except (Resting, StoreAway) as error:
                log.debug("%s", error)
                group.is_open = False
                return
