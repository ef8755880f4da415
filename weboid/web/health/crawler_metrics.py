"""The figures of crawlers for Prometheus (O-5).

``crawl/figures`` counts. A counter is shown of each crawler by itself, under a label that another one never has: a sum
over all would fall when one ends, and Prometheus would take that for a new beginning.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from weboid.core.record.reasons import Reason
from weboid.store.lists.health import Health
from weboid.store.schedule.process import (
    BUCKETS_S,
    CrawlerFigure,
    ProcessRole,
    SeenProcess,
    bucket_figure,
    reason_figure,
)

_COUNTERS: Final = {
    CrawlerFigure.HELD: ("weboid_crawler_held", "Failures that were held, as they may be ours."),
    CrawlerFigure.INFERRED: ("weboid_crawler_inferred", "Checks without contact, taken over from another of the host."),
    CrawlerFigure.POSTPONED: ("weboid_crawler_postponed", "URLs that were put off to another day."),
    CrawlerFigure.NOT_ASKED: ("weboid_crawler_not_asked", "Checks that were not made, or proved nothing."),
    CrawlerFigure.OWN_FAULTS: ("weboid_crawler_own_faults", "Visits that an error of our own has ended."),
    CrawlerFigure.NAME_QUERIES: ("weboid_crawler_name_queries", "Queries to name servers."),
    CrawlerFigure.NAME_FAILURES: ("weboid_crawler_name_failures", "Queries that no name server answered."),
}
_GAUGES: Final = {
    CrawlerFigure.OPEN: ("weboid_crawler_checks_open", "Checks under way."),
    CrawlerFigure.SEATS: ("weboid_crawler_seats", "Requests that may be under way at once."),
    CrawlerFigure.SEATS_USED: ("weboid_crawler_seats_used", "Requests under way."),
    CrawlerFigure.LOOP_LAG: (
        "weboid_crawler_loop_lag_seconds",
        "By how much the event loop was late at most in the last minute.",
    ),
    CrawlerFigure.IDLE: ("weboid_crawler_idle_seconds", "For how long no check was finished."),
}


def crawler_metrics(status: Health) -> Iterator[Metric]:
    """The figures of all crawlers that run."""
    crawlers = [
        (_label(part), part) for part in status.processes if part.role == ProcessRole.CRAWL.value and part.is_running
    ]
    checks = CounterMetricFamily(
        "weboid_crawler_checks", "Checks that were written.", labels=("crawler", "outcome", "reason")
    )
    seconds = HistogramMetricFamily(
        "weboid_crawler_check_seconds", "How long checks took, waiting for a turn included.", labels=("crawler",)
    )
    for label, part in crawlers:
        for reason in Reason:
            if count := part.figures.get(reason_figure(reason)):
                checks.add_metric((label, reason.outcome.name.lower(), reason.word), count)
        seconds.add_metric((label,), _buckets(part), part.figures.get(CrawlerFigure.SECONDS, 0.0))
    yield from (checks, seconds)
    for family_of, figures in ((CounterMetricFamily, _COUNTERS), (GaugeMetricFamily, _GAUGES)):
        for figure, (name, help_) in figures.items():
            family = family_of(name, help_, labels=("crawler",))
            for label, part in crawlers:
                family.add_metric((label,), part.figures.get(figure, 0.0))
            yield family


def _buckets(part: SeenProcess) -> list[tuple[str, float]]:
    """The buckets in the form of Prometheus: each with all that took less, too."""
    total = 0.0
    found = []
    for place, bound in enumerate((*(str(bound) for bound in BUCKETS_S), "+Inf")):
        total += part.figures.get(bucket_figure(place), 0.0)
        found.append((bound, total))
    return found


def _label(part: SeenProcess) -> str:
    """A name of the process without its process id."""
    return blake2b(part.name.encode(), digest_size=4).hexdigest()
