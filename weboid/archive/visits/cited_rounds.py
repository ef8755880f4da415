"""Visits the copies in archives that pages cite, which are ordinary links to their readers (A-2, A-3).

They are judged as all links are (``core/verdict/judge``), by what their archive shows raw and not by a status; the link
checker never visits them. A copy at a service that is not to be contacted, or that proves nothing, keeps its verdict:
unknown, at first.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

from weboid.archive.service.replays import CitedPlay
from weboid.archive.visits.cited_verdict import list_snapshots_from, record_cited_visit
from weboid.archive.visits.groups import LEASED, GroupVisits, VisitGroup
from weboid.archive.visits.snapshot_rounds import SnapshotRounds
from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.captures import Capture
from weboid.core.archive.visits import MOST_WAIT_DAYS, QUARTER_DAYS
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import planned_hour
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.url.spellings import archived
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import Verdict
from weboid.store.archives.cited_copy import CitedCopy, lease_cited, record_cited_due, record_named
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl


@dataclass(slots=True)
class CitedTally:
    """The counts of a sweep. `held` copies fail, but so does their service."""

    visited: int = 0
    recorded: int = 0
    held: int = 0


class _CitedVisit(NamedTuple):
    copy: CitedCopy
    known: KnownUrl
    play: CitedPlay
    seen: Observation


_Group = VisitGroup[CitedCopy, KnownUrl, _CitedVisit]


@dataclass(eq=False)
class CitedRounds(GroupVisits[CitedCopy, KnownUrl, _CitedVisit]):
    """One worker's visits to cited copies; snapshots that came from the same copies share their fate.

    With `waits`, the visits of a day begin at its hour, another one each day, so that no copy is called gone that is
    missing at one hour only (U-7).
    """

    name = "cited copies"
    snapshots: SnapshotRounds
    _: KW_ONLY
    waits: bool = False
    _tally: CitedTally = field(init=False, default_factory=CitedTally)

    async def sweep(self) -> CitedTally:
        """Visits all cited copies that are due; ends early if stopped. Raises StoreError."""
        self._tally = CitedTally()
        moment = self.now()
        if not (self.waits and moment.hour is not None and moment.hour < planned_hour(0, moment.day)):
            await self._sweep()
        return self._tally

    async def _lease(self, conn: Connection, day: int, archives: Sequence[int]) -> list[tuple[CitedCopy, KnownUrl]]:
        return await lease_cited(conn, day, archives, limit=LEASED)

    async def _visit(self, copy: CitedCopy, known: KnownUrl, group: _Group) -> None:
        play = await self.replays.play_cited(known.url)
        self._tally.visited += play is not None
        if play is None or play.seen is None:
            await self._put_off(copy, known, is_asked=play is not None)
        elif play.seen.outcome is Outcome.FAILING:
            group.failing.append(_CitedVisit(copy, known, play, play.seen))
        else:
            group.playing += play.seen.outcome is Outcome.WORKING
            await self._record(_CitedVisit(copy, known, play, play.seen))

    async def _conclude(self, group: _Group) -> None:
        if await self._is_held(group):
            self._tally.held += len(group.failing)
            return
        for visit in group.failing:
            await self._record(visit)

    def _is_firm(self, failed: _CitedVisit) -> bool:
        before = failed.known.record.reason
        return before is not None and before.outcome is Outcome.WORKING and failed.seen.reason is not Reason.GONE

    async def _put_off(self, copy: CitedCopy, known: KnownUrl, *, is_asked: bool) -> None:
        """Looks again in a quarter at what cannot be requested, after a day or more at what has proved nothing."""
        day = self._today
        checked = known.record.checked
        late = 1 if checked is None else max(1, min(day - checked - QUARTER_DAYS, MOST_WAIT_DAYS))
        async with self.pool.connection() as conn:
            await record_cited_due(conn, {copy.key: day + (late if is_asked else QUARTER_DAYS)})

    async def _record(self, visit: _CitedVisit) -> None:
        """Writes what was seen of a copy. The snapshots that are this copy share its fate: one request is enough."""
        verdict = await record_cited_visit(self.pool, visit.known, visit.seen, self.now(), self.policy)
        self._tally.recorded += verdict is not None
        if verdict is Verdict.WORKING and visit.play.named is not None and visit.copy.page is None:
            await self._record_named(visit.copy, visit.known.url, visit.play.named)
        if verdict in (Verdict.WORKING, Verdict.DEAD) and visit.play.replayed is not None:
            async with self.pool.connection() as conn:
                same = await list_snapshots_from(conn, visit.copy, visit.known.url)
            for snapshot, url in same:
                if verdict is Verdict.WORKING:
                    await self.snapshots.verify(snapshot, url, visit.play.replayed)
                else:
                    await self.snapshots.drop(snapshot, url, visit.play.replayed)

    async def _record_named(self, copy: CitedCopy, address: Url, named: Capture) -> None:
        """Keeps what a short address shows, so that it is a snapshot of that page from now on."""
        if (original := archived(named.original)) is not None:
            async with self.pool.connection() as conn:
                await record_named(conn, copy, address, original, stamp_of(named.taken), self._today)
