"""Visits the copies in archives that pages cite, which are ordinary links to their readers (A-2, A-3).

They are judged as all links are (``core/verdict/judge``), by what their archive shows raw and not by a status; the link
checker never visits them.
One law: a copy at a service that is not to be contacted, or that proves nothing, stays as it is: unknown, at first.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from weboid.archive.service.client import Resting
from weboid.archive.service.replays import CitedPlay, Replays
from weboid.archive.visits.canary_copies import CanaryCopies
from weboid.archive.visits.cited_verdict import list_snapshots_from, record_cited_visit
from weboid.archive.visits.groups import TAKEN_AT_ONCE, GroupVisits, VisitGroup
from weboid.archive.visits.snapshot_rounds import SnapshotRounds
from weboid.core.archive.visits import MOST_WAIT_DAYS, QUARTER_DAYS
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment, planned_hour
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.verdict.verdict import Verdict
from weboid.store.archives.cited_copy import CitedCopy, lease_cited, record_cited_due
from weboid.store.db.pool import Pool
from weboid.store.db.rows import KnownUrl


@dataclass(slots=True)
class CitedTally:
    """What a run has done so far. `held` copies fail, but so does their service."""

    visited: int = 0
    recorded: int = 0
    held: int = 0


class _Seen(NamedTuple):
    copy: CitedCopy
    known: KnownUrl
    play: CitedPlay
    seen: Observation


_Group = VisitGroup[CitedCopy, KnownUrl, _Seen]


class CitedRounds:
    """One worker's visits to cited copies; `now` is called at every visit, `stopped` ends them in order.

    Snapshots that came from the same copies share their fate through `snapshots`. With `allow_many`, an operator's
    word, a service that seems to be at fault is believed. With `waits`, the visits of a day begin at its hour, another
    one each day, so that no copy is called gone that is missing at one hour only (U-7).
    """

    def __init__(
        self,
        pool: Pool,
        replays: Replays,
        snapshots: SnapshotRounds,
        *,
        now: Callable[[], Moment],
        stopped: asyncio.Event,
        policy: Policy = DEFAULT,
        allow_many: bool = False,
        waits: bool = False,
    ) -> None:
        self._pool = pool
        self._replays = replays
        self._snapshots = snapshots
        self._now = now
        self._stopped = stopped
        self._policy = policy
        self._allow_many = allow_many
        self._waits = waits
        self._canaries = CanaryCopies(pool, replays, today=self._today)
        self._tally = CitedTally()
        self._groups: GroupVisits[CitedCopy, KnownUrl, _Seen] = GroupVisits(
            pool,
            replays,
            today=self._today,
            stopped=stopped,
            what="cited copies",
            lease=partial(lease_cited, limit=TAKEN_AT_ONCE),
            visit=self._visit,
            conclude=self._conclude,
        )

    def _today(self) -> int:
        return self._now().day

    async def sweep(self) -> CitedTally:
        """Visits all that are due, service by service side by side; ends early if stopped. Raises StoreError."""
        self._tally = CitedTally()
        moment = self._now()
        if not (self._waits and moment.hour is not None and moment.hour < planned_hour(0, moment.day)):
            await self._groups.sweep()
        return self._tally

    async def _visit(self, copy: CitedCopy, known: KnownUrl, group: _Group) -> None:
        """Plays one copy and records what is proven, unless it fails: that is concluded later. Raises Resting."""
        play = await self._replays.play_cited(known.url)
        self._tally.visited += play is not None
        if play is None or play.seen is None:
            await self._put_off(copy, known, is_asked=play is not None)
        elif play.seen.outcome is Outcome.FAILING:
            group.failing.append(_Seen(copy, known, play, play.seen))
        else:
            group.playing += play.seen.outcome is Outcome.WORKING
            await self._record(_Seen(copy, known, play, play.seen))

    async def _conclude(self, group: _Group) -> None:
        """Records what fails, unless the service itself is at fault: then it is paused for the day."""
        if group.failing and not self._allow_many and await self._is_at_fault(group):
            group.is_open = False
            self._tally.held += len(group.failing)
            return
        for each in group.failing:
            await self._record(each)

    async def _is_at_fault(self, group: _Group) -> bool:
        """Whether nothing may be held against the service's copies now, as for snapshots."""
        firm = sum(1 for each in group.failing if _is_firm(each))
        unproven = len(group.failing) - firm
        try:
            if not await self._canaries.is_down(group.archive, firm, group.playing, unproven=unproven):
                return False
        except Resting:
            return True
        self._groups.pause(group.archive)
        return True

    async def _put_off(self, copy: CitedCopy, known: KnownUrl, *, is_asked: bool) -> None:
        """What cannot be requested is looked at once a quarter; what has proved nothing, again after a day or more."""
        day = self._today()
        checked = known.record.checked
        late = 1 if checked is None else max(1, min(day - checked - QUARTER_DAYS, MOST_WAIT_DAYS))
        async with self._pool.connection() as conn:
            await record_cited_due(conn, {copy.key: day + (late if is_asked else QUARTER_DAYS)})

    async def _record(self, told: _Seen) -> None:
        """Writes what was seen of a copy. The snapshots that are this copy share its fate: one request is enough."""
        verdict = await record_cited_visit(self._pool, told.known, told.seen, self._now(), self._policy)
        self._tally.recorded += verdict is not None
        if verdict in (Verdict.WORKING, Verdict.DEAD) and told.play.replayed is not None:
            async with self._pool.connection() as conn:
                same = await list_snapshots_from(conn, told.copy, told.known.url)
            for snapshot, url in same:
                if verdict is Verdict.WORKING:
                    await self._snapshots.verify(snapshot, url, told.play.replayed)
                else:
                    await self._snapshots.drop(snapshot, url, told.play.replayed)


def _is_firm(told: _Seen) -> bool:
    """Whether it worked when it was last visited, and is not there now without a word."""
    before = told.known.record.reason
    return before is not None and before.outcome is Outcome.WORKING and told.seen.reason is not Reason.GONE
