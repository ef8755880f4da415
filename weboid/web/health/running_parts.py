"""The running processes, as ``/status`` and ``/metrics`` show them (O-5).

``store/lists/alarms`` computes which of them are missing. Neither the name of a host nor a process id is shown: anybody
may read these pages.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup
from prometheus_client.core import GaugeMetricFamily, Metric

from weboid.store.lists.health import Health
from weboid.store.schedule.process import ProcessRole, SeenProcess
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible

_VERSION: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{1,4}){1,3}(\.?(dev|a|b|rc)[0-9]{1,4})?")
_ROLES: Final = frozenset(role.value for role in ProcessRole)


def parts_payload(status: Health) -> list[dict[str, Any]]:
    """The processes for programs."""
    return [
        {
            "role": part.role,
            "state": "running" if part.is_running else "missing",
            "since": part.since.astimezone(UTC).isoformat(timespec="seconds"),
            "seen": part.seen.astimezone(UTC).isoformat(timespec="seconds"),
            "seen_s": round(part.silent_s),
            "doing": part.doing,
            "version": part.version,
        }
        for part in status.processes
    ]


def parts_view(status: Health, say: Messages) -> list[dict[str, Any]]:
    """The processes for the template of the status page."""
    return [
        {
            "role": visible(part.role),
            "words": say.text(f"weboid-status-role-{part.role}") if part.role in _ROLES else "",
            "state": say.text("weboid-status-part-running" if part.is_running else "weboid-status-part-missing"),
            "is_running": part.is_running,
            "since": moment_html(part.since, say),
            "seen": say.text("weboid-status-part-ago", say.duration(round(part.silent_s))),
            "doing": visible(part.doing),
        }
        for part in status.processes
    ]


def part_metrics(status: Health) -> Iterator[Metric]:
    """The processes for Prometheus: by role, so that no series begins or ends when a process does."""
    running = GaugeMetricFamily("weboid_parts", "Processes that run.", labels=("role",))
    missing = GaugeMetricFamily("weboid_parts_missing", "Processes that ended without a word.", labels=("role",))
    seen = GaugeMetricFamily(
        "weboid_part_last_seen_seconds",
        "How long ago the process that was seen last wrote that it lives.",
        labels=("role",),
    )
    began = GaugeMetricFamily(
        "weboid_part_start_timestamp_seconds", "When the process that began last did so.", labels=("role",)
    )
    versions = GaugeMetricFamily("weboid_part_info", "Processes by version.", labels=("role", "version"))
    for role in sorted({*(role.value for role in ProcessRole), *(part.role for part in status.processes)}):
        ours = [part for part in status.processes if part.role == role]
        running.add_metric((role,), sum(part.is_running for part in ours))
        missing.add_metric((role,), sum(not part.is_running for part in ours))
        if ours:
            seen.add_metric((role,), min(part.silent_s for part in ours))
            began.add_metric((role,), max(part.since.timestamp() for part in ours))
        for version, count in sorted(Counter(_version(part) for part in ours if part.is_running).items()):
            versions.add_metric((role, version), count)
    yield from (running, missing, seen, began, versions)


def _version(part: SeenProcess) -> str:
    """The version of a process as a label: that of a remote one is free text, of which there could be any number."""
    return part.version if _VERSION.fullmatch(part.version) else "other"


def moment_html(moment: datetime, say: Messages) -> Markup:
    """A moment in UTC for a page."""
    utc = moment.astimezone(UTC)
    return Markup('<time datetime="{}"><bdi>{}</bdi></time>').format(utc.isoformat(timespec="seconds"), say.moment(utc))
