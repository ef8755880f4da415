"""Hints: what an answer knows of links that no check has looked at (L-1, L-3, C-6). They are no verdicts."""

from enum import StrEnum
from typing import Final, NamedTuple

from weboid.core.record.policy import Policy, proven
from weboid.core.record.reasons import Reason
from weboid.core.record.record import HostRecord
from weboid.core.record.specials import KEPT_DAYS, Sights, Special
from weboid.core.url.urls import Url


class HintKind(StrEnum):
    """The stable words of hints: the wiki of the farm has no such page, or what is known of the host for long."""

    MISSING_PAGE = "missing-page"
    HOST_UNKNOWN = "host-unknown"
    HOST_DOWN = "host-down"
    NEEDS_HTTPS = "host-needs-https"
    NEEDS_HTTP = "host-needs-http"


class LinkHint(NamedTuple):
    """A hint, with the day since which it holds if that is known."""

    kind: HintKind
    since: int | None = None

    @property
    def is_finding(self) -> bool:
        """True if readers should look at the link; what only needs another scheme works."""
        return self.kind not in (HintKind.NEEDS_HTTPS, HintKind.NEEDS_HTTP)


MISSING_PAGE: Final = LinkHint(HintKind.MISSING_PAGE)
_SCHEMES: Final = {
    "http": (Special.NEEDS_HTTPS, HintKind.NEEDS_HTTPS),
    "https": (Special.NEEDS_HTTP, HintKind.NEEDS_HTTP),
}


def host_hints(url: Url, sights: Sights, host: HostRecord, day: int, policy: Policy) -> tuple[LinkHint, ...]:
    """The facts of its host that were first seen over 100 days ago, for a URL that has not been checked (C-6)."""
    hints: list[LinkHint] = []
    since = host.streak.since
    if since is not None and day - since > KEPT_DAYS and proven(host.streak, policy):
        hints.append(LinkHint(HintKind.HOST_UNKNOWN if host.reason is Reason.DNS_GONE else HintKind.HOST_DOWN, since))
    special, kind = _SCHEMES.get(url.scheme, (None, HintKind.NEEDS_HTTPS))
    sight = None if special is None else sights.get(special)
    if sight is not None and day - sight.since > KEPT_DAYS > day - sight.until:
        hints.append(LinkHint(kind, sight.since))
    return tuple(hints)
