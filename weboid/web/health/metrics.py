"""Metrics in Prometheus' text format: the state of the system and of this process (O-5, P-6, P-7).

``web/health/reader`` reads the state: the status that everybody may read, just as old. Of a request only its route, its
result and its time are kept.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from time import monotonic
from typing import Final, Literal

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from prometheus_client import CollectorRegistry, Counter, Gauge, GCCollector, Histogram, PlatformCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from weboid.core.verdict.verdict import Verdict
from weboid.mechanism.loop_lag import LoopLag
from weboid.mechanism.tasks import in_background
from weboid.store.lists.health import Amount, Health
from weboid.store.schedule.days import DayFigure
from weboid.store.upkeep.alarm import AlarmKind
from weboid.web.health.archives import archive_metrics
from weboid.web.health.crawler_metrics import crawler_metrics
from weboid.web.health.running_parts import part_metrics
from weboid.web.health.worker_share import WorkersCollector, WorkerShare

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
_LAG_OF_S: Final = 60.0
_PUBLISH_S: Final = 1.0
_BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The requests that this process has answered since it started, and the lag of its event loop.

    With a `share` they are the requests of all workers of the service, whichever of them answers.
    """

    def __init__(self, lag: LoopLag, share: WorkerShare | None = None) -> None:
        self._registry = CollectorRegistry()
        self._shown = self._registry
        self._read: list[tuple[Gauge, Callable[[], float]]] = []
        self._is_shared = share is not None
        if share is None:
            ProcessCollector(registry=self._registry)
            GCCollector(registry=self._registry)
        else:
            self._shown = CollectorRegistry()
            self._shown.register(WorkersCollector(share.folder))
        PlatformCollector(registry=self._shown)
        requests = self.count("weboid_web_requests", "Requests that were answered.", ("route", "status"))
        seconds = Histogram(
            "weboid_web_request_seconds",
            "How long answers took.",
            ("route",),
            buckets=_BOUNDS_S,
            registry=self._registry,
        )
        # To find a child takes longer than to count in it.
        self._requests, self._seconds = cache(requests.labels), cache(seconds.labels)
        self._open = Gauge(
            "weboid_web_requests_open", "Requests under way.", registry=self._registry, multiprocess_mode="livesum"
        )
        shed = self.count("weboid_web_shed", "Requests that were refused because too many waited.", ("lane",))
        self._shed = cache(shed.labels)
        self.measure(
            "weboid_web_loop_lag_seconds",
            "By how much the event loop was late at most in the last minute.",
            lambda: lag.worst_since(monotonic() - _LAG_OF_S),
            across="livemax",
        )
        self.measure("weboid_web_workers", "Processes that answer.", lambda: 1, across="livesum")

    def count(self, name: str, help_: str, labels: Sequence[str] = ()) -> Counter:
        """A new counter, without ``_total`` in its name; it is added up over all workers."""
        return Counter(name, help_, labels, registry=self._registry)

    def measure(
        self, name: str, help_: str, read: Callable[[], float], *, across: Literal["livesum", "livemax"]
    ) -> None:
        """A new gauge whose value is what `read` returns: over all workers that run, the sum or the maximum."""
        gauge = Gauge(name, help_, registry=self._registry, multiprocess_mode=across)
        if self._is_shared:
            self._read.append((gauge, read))
        else:
            gauge.set_function(read)

    async def publishing(self, _: web.Application) -> AsyncIterator[None]:
        """Shows the other workers, once a second, the gauges of `measure`, while the application runs."""
        async with in_background(self._publish()) if self._is_shared else nullcontext():
            yield

    async def _publish(self) -> None:
        while True:
            for gauge, read in self._read:
                gauge.set(read())
            await asyncio.sleep(_PUBLISH_S)

    def shed(self, lane: str) -> None:
        """Counts a request that was refused because too many waited."""
        self._shed(lane).inc()

    @property
    def middleware(self) -> Middleware:
        """Counts requests; to be installed around the middleware that turns exceptions into answers."""

        @web.middleware
        async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
            resource = request.match_info.route.resource
            route = resource.canonical if resource is not None else ""
            clock = asyncio.get_running_loop().time
            begun = clock()
            with self._open.track_inprogress():
                response = await handler(request)
            self._seconds(route).observe(clock() - begun)
            self._requests(route, str(response.status)).inc()
            return response

        return counted

    def text(self, status: Health | None) -> bytes:
        """All metrics as text; `status` is None while the database does not answer."""
        return generate_latest(StatusCollector(status)) + generate_latest(self._shown)


class StatusCollector(Collector):
    """The state of the system as metrics."""

    def __init__(self, status: Health | None) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        """The metric families, each with its samples."""
        yield _gauge("weboid_store_up", "Whether the database answers.", float(self._status is not None))
        if self._status is not None:
            yield from _rounds(self._status)
            yield from _wikis(self._status)
            yield from _others(self._status)
            yield from archive_metrics(self._status)
            yield from part_metrics(self._status)
            yield from crawler_metrics(self._status)


def _rounds(status: Health) -> Iterator[Metric]:
    yield _gauge("weboid_status_timestamp_seconds", "When the store was looked at.", status.moment.timestamp())
    yield _gauge("weboid_urls", "URLs known, an estimate.", status.urls.value)
    yield _gauge("weboid_hosts", "Hosts known, an estimate.", status.hosts.value)
    yield _gauge("weboid_due_urls", "URLs to be checked now, counted up to a bound.", status.due.value)
    overdue = 0 if status.oldest_due is None else status.day - status.oldest_due
    yield _gauge("weboid_overdue_days", "How many days the oldest of them has been due.", overdue)
    if status.interval is not None:
        yield _gauge("weboid_working_interval_days", "Days between two checks of a working URL.", status.interval)
    if status.checks_a_day is not None:
        yield _gauge("weboid_checks_a_day", "URLs checked on a usual day of the last week.", status.checks_a_day)
    yield _gauge("weboid_big_hosts", "Hosts with more URLs than fit into four weeks.", len(status.big_hosts))
    family = GaugeMetricFamily("weboid_verdict_changes", "URLs that came to a verdict yesterday.", labels=("verdict",))
    yesterday = status.changes.get(status.day - 1, {})
    for verdict in Verdict:
        family.add_metric((verdict.word,), yesterday.get(verdict, Amount(0)).value)
    yield family


def _wikis(status: Health) -> Iterator[Metric]:
    pages = GaugeMetricFamily("weboid_pages", "Pages watched, beyond a bound an estimate.", labels=("wiki",))
    waiting = GaugeMetricFamily("weboid_pending_pages", "Pages waiting to be read, up to a bound.", labels=("wiki",))
    age = GaugeMetricFamily("weboid_pass_age_days", "Days since the last pass was completed.", labels=("wiki",))
    took = GaugeMetricFamily("weboid_pass_seconds", "How long the last pass took.", labels=("wiki",))
    running = GaugeMetricFamily("weboid_pass_running_days", "Days since the pass under way began.", labels=("wiki",))
    for wiki in status.wikis:
        name = (str(wiki.name),)
        pages.add_metric(name, wiki.pages.value)
        waiting.add_metric(name, wiki.waiting.value)
        if wiki.passed is not None:
            age.add_metric(name, status.day - wiki.passed)
        if wiki.pass_s is not None:
            took.add_metric(name, wiki.pass_s)
        if wiki.started is not None:
            running.add_metric(name, status.day - wiki.started)
    yield from (pages, waiting, age, took, running)


def _others(status: Health) -> Iterator[Metric]:
    lag = GaugeMetricFamily(
        "weboid_stream_lag_seconds", "Age of the newest event that has taken effect.", labels=("streams",)
    )
    for streams, lag_s in status.streams.items():
        lag.add_metric((streams,), lag_s)
    yield lag
    if status.backup is not None:
        age_s = (status.moment - status.backup.moment).total_seconds()
        yield _gauge("weboid_backup_age_seconds", "Age of the newest good backup.", age_s)
        yield _gauge("weboid_backup_bytes", "Size of the newest good backup.", status.backup.bytes)
    conflicts = status.totals.get(status.day, {}).get(DayFigure.CONFLICTS, 0)
    yield _gauge("weboid_store_conflicts", "Transactions that the database ended today for others.", conflicts)
    unusable = GaugeMetricFamily(
        "weboid_spam_lines_unusable", "Lines of a spam list that cannot be run.", labels=("list", "kind")
    )
    for spam in status.spam_lists:
        unusable.add_metric((str(spam.wiki or spam.farm), spam.kind.name.lower()), spam.unusable.value)
    yield unusable
    alarms = GaugeMetricFamily("weboid_alarms", "Alarms that are raised.", labels=("kind",))
    raised = [alarm.kind for alarm in status.alarms]
    for kind in sorted({*AlarmKind, *raised}):  # those that are not raised with 0
        alarms.add_metric((kind,), raised.count(kind))
    yield alarms


def _gauge(name: str, help_: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help_, value=value)
