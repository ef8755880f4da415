"""Counts in memory what a crawler has done since it started (O-5).

``cli/processes/running`` writes it to the store, ``web/health`` shows it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from weboid.checking.connectivity import Ask
from weboid.checking.turns import NotAsked
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.mechanism.loop_lag import LoopLag
from weboid.net.outbound import Outbound
from weboid.store.results.record import Checked
from weboid.store.schedule.process import BUCKETS_S, CrawlerFigure, bucket_figure, reason_figure

_LAG_OF_S: Final = 60.0


@dataclass(slots=True)
class CrawlFigures:
    """Counters of one crawler, which only grow, and its work under way; `read` gives all as numbers by name."""

    session: Outbound
    lag: LoopLag
    _written: Counter[str] = field(default_factory=Counter)
    _buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    _seconds: float = 0.0
    _open: int = 0
    _busy_at: float = field(default_factory=monotonic)

    def timed(self, ask: Ask) -> Ask:
        """The same checks, counted while they are under way; how long each takes includes waiting for its turn."""

        async def timed_ask(request: CheckRequest) -> Observation:
            begun = monotonic()
            self._open += 1
            try:
                seen = await ask(request)
            except NotAsked:
                self._written[CrawlerFigure.NOT_ASKED] += 1
                raise
            finally:
                self._open -= 1
            seconds = monotonic() - begun
            self._seconds += seconds
            self._buckets[bisect_left(BUCKETS_S, seconds)] += 1
            return seen

        return timed_ask

    def count(self, batch: Iterable[Checked]) -> None:
        self._busy_at = monotonic()
        for checked in batch:
            if (seen := checked.seen) is None:
                self._written[CrawlerFigure.POSTPONED] += 1
                continue
            self._written[reason_figure(seen.reason)] += 1
            self._written[CrawlerFigure.HELD] += seen.held
            self._written[CrawlerFigure.INFERRED] += seen.inferred

    def count_own_fault(self) -> None:
        """Takes one visit that an error of our own has ended."""
        self._written[CrawlerFigure.OWN_FAULTS] += 1

    def read(self) -> Mapping[str, float]:
        return {
            **self._written,
            **{bucket_figure(place): count for place, count in enumerate(self._buckets) if count},
            CrawlerFigure.SECONDS: round(self._seconds, 3),
            CrawlerFigure.OPEN: self._open,
            CrawlerFigure.SEATS: self.session.settings.connections,
            CrawlerFigure.SEATS_USED: self.session.seats.used,
            CrawlerFigure.LOOP_LAG: round(self.lag.worst_since(monotonic() - _LAG_OF_S), 3),
            CrawlerFigure.IDLE: round(monotonic() - self._busy_at, 1),
            CrawlerFigure.NAME_QUERIES: self.session.resolver.queries,
            CrawlerFigure.NAME_FAILURES: self.session.resolver.failures,
        }
