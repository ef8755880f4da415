"""Canary copies: whether a service as a whole is at fault when copies of it fail (A-3).

How many may fail is decided in ``core/archive/visits``; the copies are played by ``archive/service/replays``.
One law: a service of which nothing plays is not trusted, whatever it says.
"""

from collections.abc import Callable, Collection
from typing import Final

from weboid.archive.service.replays import Replays
from weboid.core.archive.replay import ReplayResult
from weboid.core.archive.visits import CANARIES, VisitOutcome, is_down, visit_judgement
from weboid.core.url.archives import BY_NUMBER
from weboid.core.url.keys import UrlKey
from weboid.store.archives.snapshot import StoredSnapshot, list_samples, record_visit
from weboid.store.db.pool import Pool
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm

_SPARE: Final = 3
"""So many times as many samples are read as are needed, since some are being visited themselves."""


class CanaryCopies:
    """Looks whether services are in order, for one worker; `today` is called at every look."""

    def __init__(self, pool: Pool, replays: Replays, *, today: Callable[[], int]) -> None:
        self._pool = pool
        self._replays = replays
        self._today = today

    async def is_down(
        self, archive: int, failed: int, played: int, *, unproven: int = 0, beside: Collection[UrlKey] = ()
    ) -> bool:
        """Whether a service is at fault: the counts are of copies that were just visited, as in `visits.is_down`.

        Until there are enough of them, others that played before are played, none of `beside`. The alarm is raised or
        lowered. Raises Resting.
        """
        async with self._pool.connection() as conn:
            samples = await list_samples(conn, archive, self._today(), limit=_SPARE * CANARIES)
        for snapshot, url in samples:
            if failed + played >= CANARIES:
                break
            if snapshot.key in beside or (replayed := await self._replays.play(snapshot, url)) is None:
                continue
            is_fine = replayed.result in (ReplayResult.PLAYS, ReplayResult.MOVED)
            failed, played = failed + (not is_fine), played + is_fine
            if is_fine:
                await self._record(snapshot, replayed.result)
        down = is_down(failed, played, unproven)
        await (self._raise(archive, failed + unproven, played) if down else self.lower(archive))
        return down

    async def lower(self, archive: int) -> None:
        """Lowers the alarm: the service is in order."""
        async with self._pool.connection() as conn:
            await lower_alarm(conn, AlarmKind.ARCHIVE_DOWN, BY_NUMBER[archive].name)

    async def _raise(self, archive: int, failed: int, played: int) -> None:
        detail = f"{failed} of {failed + played} copies do not play, so nothing is held against them"
        async with self._pool.connection() as conn:
            await raise_alarm(conn, AlarmKind.ARCHIVE_DOWN, BY_NUMBER[archive].name, self._today(), detail)

    async def _record(self, snapshot: StoredSnapshot, result: ReplayResult) -> None:
        """A canary copy that plays has been visited."""
        day = self._today()
        told = visit_judgement(result, day, strikes=0, asked=snapshot.asked, spread=snapshot.key.url_key)
        assert told.outcome is VisitOutcome.KEPT
        async with self._pool.connection() as conn:
            await record_visit(conn, snapshot, asked=day, due=told.due, strikes=told.strikes)
