"""Web archives in the status: requests and rests of each service, and the queue of look-ups (O-5, A-1).

A service's state is the one that all workers share, never one process's own.
"""

from collections.abc import Iterator
from typing import Any, Final

from prometheus_client.core import GaugeMetricFamily, Metric

from weboid.core.record.days import iso
from weboid.core.url.archives import BY_NUMBER
from weboid.core.verdict.kept_copies import Services
from weboid.store.archives.copy_queue import QueueLength, Rank
from weboid.store.archives.service_limit import RequestKind, ServiceState
from weboid.store.lists.health import Health
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible

_MINUTES: Final = 24 * 60


def archives_payload(status: Health, services: Services) -> dict[str, Any]:
    """The keys of a status that are about archives, for programs."""
    return {
        "services": [
            {
                "service": BY_NUMBER[each.archive].name,
                "kind": each.kind.name.lower(),
                "requests": requests_today(each, status.day),
                "budget": budget_of(each, services),
                "resting_s": round(each.resting_s),
                "why": each.why or None,
            }
            for each in _known(status)
        ],
        "copy_queue": {
            rank.name.lower(): _length(status.copy_queue[rank]) for rank in Rank if rank in status.copy_queue
        },
    }


def archives_view(status: Health, services: Services, say: Messages) -> dict[str, Any]:
    """The archives for the template of the status page."""
    return {
        "services": [_service_view(each, status.day, services, say) for each in _known(status)],
        "copy_queue": [
            (say.text(f"weboid-status-queue-{rank.name.lower()}"), _length_words(status.copy_queue[rank], say))
            for rank in Rank
            if rank in status.copy_queue
        ],
    }


def archive_metrics(status: Health) -> Iterator[Metric]:
    """The archives for Prometheus."""
    labels = ("service", "kind")
    requests = GaugeMetricFamily("weboid_archive_requests_today", "Requests sent to an archive today.", labels=labels)
    rests = GaugeMetricFamily("weboid_archive_rest_seconds", "For how long an archive is not asked.", labels=labels)
    for each in _known(status):
        names = (BY_NUMBER[each.archive].name, each.kind.name.lower())
        requests.add_metric(names, requests_today(each, status.day))
        rests.add_metric(names, each.resting_s)
    waiting = GaugeMetricFamily(
        "weboid_copy_queue", "Links waiting for a look-up in archives, counted up to a bound.", labels=("rank",)
    )
    oldest = GaugeMetricFamily("weboid_copy_queue_days", "For how many days the oldest has waited.", labels=("rank",))
    for rank, length in status.copy_queue.items():
        waiting.add_metric((rank.name.lower(),), length.count)
        oldest.add_metric((rank.name.lower(),), 0 if length.oldest is None else max(0, status.day - length.oldest))
    yield from (requests, rests, waiting, oldest)


def requests_today(state: ServiceState, day: int) -> int:
    """The number of requests that were sent today."""
    return state.requests if state.day == day else 0


def budget_of(state: ServiceState, services: Services) -> int | None:
    """The number of requests that may be sent a day; None = no limit, or one of another kind."""
    service = services.get(state.archive)
    if service is None or state.kind is RequestKind.SAVE:
        return None
    per_minute = service.per_minute if state.kind is RequestKind.INDEX else service.replay_per_minute
    return per_minute * _MINUTES or None


def _known(status: Health) -> list[ServiceState]:
    return [each for each in status.services if each.archive in BY_NUMBER]


def _service_view(state: ServiceState, day: int, services: Services, say: Messages) -> dict[str, Any]:
    budget = budget_of(state, services)
    resting_s = round(state.resting_s)
    return {
        "title": BY_NUMBER[state.archive].title,
        "kind": say.text(f"weboid-status-archive-{state.kind.name.lower()}"),
        "requests": say.number(requests_today(state, day)),
        "budget": None if budget is None else say.number(budget),
        "state": say.text("weboid-status-archive-rests", say.duration(resting_s), visible(state.why))
        if resting_s > 0
        else say.text("weboid-status-archive-ready"),
    }


def _length(length: QueueLength) -> dict[str, Any]:
    return {
        "waiting": {"value": length.count, "exactness": "at-least" if length.is_more else "exact"},
        "oldest": None if length.oldest is None else iso(length.oldest),
    }


def _length_words(length: QueueLength, say: Messages) -> str:
    count = say.text("weboid-status-at-least", length.count) if length.is_more else say.number(length.count)
    if length.oldest is None:
        return count
    return say.text("weboid-status-queue-oldest", count, say.date(length.oldest))
