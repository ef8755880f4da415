"""Visits to copies in groups: several services at once, a few copies of each at a time (A-3).

What one visit is, and what follows from it, belong to ``snapshot_rounds`` and ``cited_rounds``; how many copies of a
service may fail, to ``core/archive/visits``. A service that rests, is paused for the day or fails us is requested no
more, and stops no other; one of which nothing plays is not trusted, whatever its replies say.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from weboid.archive.service.client import Resting
from weboid.archive.service.replays import Replays
from weboid.core.archive.replay import ReplayResult
from weboid.core.archive.visits import CANARIES, VisitOutcome, is_down, visit_judgement
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.archives import BY_NUMBER
from weboid.core.url.keys import UrlKey
from weboid.errors import StoreAway
from weboid.mechanism.patience import ending
from weboid.store.archives.service_limit import list_services
from weboid.store.archives.snapshot import StoredSnapshot, list_samples, record_visit
from weboid.store.db.pool import Connection, Pool
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm

log = logging.getLogger(__name__)

LEASED: Final = 60
"""Copies of each service that are leased by one worker at a time: the most that a crash puts off by a day."""
_AT_ONCE: Final = 4
"""Copies of one service that are played at the same time, in its turns."""
_SPARE: Final = 3
"""So many times as many canary copies are read as are needed, since some are being visited themselves."""


class _OfArchive(Protocol):
    @property
    def key(self) -> UrlKey: ...
    @property
    def archive(self) -> int: ...


Copy = TypeVar("Copy", bound=_OfArchive)
Known = TypeVar("Known")
Failed = TypeVar("Failed")


@dataclass(slots=True)
class VisitGroup(Generic[Copy, Known, Failed]):
    """Copies of one service that are visited together. `playing` counts those that play; what becomes of `failing` ones
    depends on the service. Not `is_open` = no more of its copies are requested."""

    archive: int
    keys: frozenset[UrlKey]
    waiting: Iterator[tuple[Copy, Known]]
    playing: int = 0
    failing: list[Failed] = field(default_factory=list)
    is_open: bool = True


@dataclass(eq=False)
class GroupVisits(ABC, Generic[Copy, Known, Failed]):
    """One worker's visits; `now` is called at every visit, `stopped` ends them in order.

    With `allow_many`, an operator's word, a service that seems to be at fault is believed (U-8).
    """

    name: ClassVar[str]
    """The copies' name in the log."""

    pool: Pool
    replays: Replays
    _: KW_ONLY
    now: Callable[[], Moment]
    stopped: asyncio.Event
    policy: Policy = DEFAULT
    allow_many: bool = False
    _paused: dict[int, int] = field(init=False, default_factory=dict)

    @abstractmethod
    async def _lease(self, conn: Connection, day: int, archives: Sequence[int]) -> Sequence[tuple[Copy, Known]]:
        """Leases copies that are due at these archives."""

    @abstractmethod
    async def _visit(self, copy: Copy, known: Known, group: VisitGroup[Copy, Known, Failed]) -> None:
        """Plays one copy, and records it unless it fails: that is concluded later. Raises Resting."""

    @abstractmethod
    async def _conclude(self, group: VisitGroup[Copy, Known, Failed]) -> None:
        """Records what fails, unless the service itself is at fault."""

    @abstractmethod
    def _is_firm(self, failed: Failed) -> bool:
        """Returns whether the copy played at its last visit, and is missing now without a word of the service."""

    @property
    def _today(self) -> int:
        return self.now().day

    async def _sweep(self) -> None:
        async with self.pool.connection() as conn:
            excluded = {state.archive for state in await list_services(conn) if state.resting_s > 0}
        while not self.stopped.is_set():
            day = self._today
            excluded |= {archive for archive, paused in self._paused.items() if paused == day}
            archives = [archive for archive in self.replays.archives if archive not in excluded]
            async with self.pool.connection() as conn:
                leased = await self._lease(conn, day, archives)
            if not leased:
                break
            by_archive = defaultdict(list)
            for copy, known in leased:
                by_archive[copy.archive].append((copy, known))
            async with asyncio.TaskGroup() as tasks:
                visits = {
                    archive: tasks.create_task(self._visit_all(archive, waiting))
                    for archive, waiting in by_archive.items()
                }
            excluded |= {archive for archive, visit in visits.items() if not visit.result()}

    async def _visit_all(self, archive: int, waiting: Sequence[tuple[Copy, Known]]) -> bool:
        """Visits copies at one service; returns whether more of its copies may be requested now."""
        keys = frozenset(copy.key for copy, _ in waiting)
        group: VisitGroup[Copy, Known, Failed] = VisitGroup(archive, keys, iter(waiting))
        try:
            async with ending(self.stopped):
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(_AT_ONCE):
                        tasks.create_task(self._visit_some(group))
                await self._conclude(group)
        except StoreAway as error:
            log.debug("%s at %s will be visited again tomorrow: %s", self.name, BY_NUMBER[archive].name, error)
            return False
        return group.is_open

    async def _visit_some(self, group: VisitGroup[Copy, Known, Failed]) -> None:
        for copy, known in group.waiting:
            if self.stopped.is_set() or not group.is_open:
                return
            try:
                await self._visit(copy, known, group)
            except (Resting, StoreAway) as error:
                log.debug("%s", error)
                group.is_open = False
                return

    async def _is_held(self, group: VisitGroup[Copy, Known, Failed]) -> bool:
        """Returns whether nothing may be held against the copies now; a service at fault is paused for the day.

        What it says to have withdrawn is no failure of its own, unless it shows nothing else: large sites go at once
        (D-140).
        """
        if not group.failing or self.allow_many:
            return False
        try:
            if not await self._is_down(group):
                return False
            self._paused[group.archive] = self._today
        except Resting:
            pass
        group.is_open = False
        return True

    async def _is_down(self, group: VisitGroup[Copy, Known, Failed]) -> bool:
        """Returns whether the service as a whole is at fault; the alarm is raised or lowered. Raises Resting.

        Until enough copies were visited, canary copies are played: snapshots that played before.
        """
        failed, played = sum(map(self._is_firm, group.failing)), group.playing
        unproven = len(group.failing) - failed
        async with self.pool.connection() as conn:
            samples = await list_samples(conn, group.archive, self._today, limit=_SPARE * CANARIES)
        for snapshot, url in samples:
            if failed + played >= CANARIES:
                break
            if snapshot.key in group.keys or (replayed := await self.replays.play(snapshot, url)) is None:
                continue
            is_fine = replayed.result in (ReplayResult.PLAYS, ReplayResult.MOVED)
            failed, played = failed + (not is_fine), played + is_fine
            if is_fine:
                await self._record_canary(snapshot, replayed.result)
        if not (down := is_down(failed, played, unproven)):
            await self._lower_alarm(group.archive)
            return down
        detail = (
            f"{failed + unproven} of {failed + unproven + played} copies do not play, so nothing is held against them"
        )
        async with self.pool.connection() as conn:
            await raise_alarm(conn, AlarmKind.ARCHIVE_DOWN, BY_NUMBER[group.archive].name, self._today, detail)
        return down

    async def _lower_alarm(self, archive: int) -> None:
        async with self.pool.connection() as conn:
            await lower_alarm(conn, AlarmKind.ARCHIVE_DOWN, BY_NUMBER[archive].name)

    async def _record_canary(self, snapshot: StoredSnapshot, result: ReplayResult) -> None:
        """Records that a canary copy plays, as a visit of its own does."""
        day = self._today
        judgement = visit_judgement(result, day, strikes=0, asked=snapshot.asked, spread=snapshot.key.url_key)
        assert judgement.outcome is VisitOutcome.KEPT
        async with self.pool.connection() as conn:
            await record_visit(conn, snapshot, asked=day, due=judgement.due, strikes=judgement.strikes)
