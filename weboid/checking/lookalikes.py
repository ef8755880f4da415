"""Notices when unrelated hosts all answer from one place, as they do behind a captive portal (C-16).

Whether it is one is found out by ``checking/online``.
One law: a place is suspected by many domains only, and not again once it was cleared.
"""

from collections import deque
from typing import Final

from weboid.checking.online import CERTIFICATE, LOGIN, LOGIN_WANTED
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.urls import Url

ALIKE: Final = 4
"""So many domains from one place, among the newest answers, are suspicious."""
NEWEST: Final = 40

_STRANGERS: Final = frozenset(
    {Reason.CERTIFICATE_WRONG_HOST, Reason.CERTIFICATE_SELF_SIGNED, Reason.CERTIFICATE_UNKNOWN_ISSUER}
)


class Lookalikes:
    """The places of the newest answers of a round."""

    def __init__(self) -> None:
        self._newest: deque[tuple[str, str]] = deque(maxlen=NEWEST)
        self._cleared: set[str] = set()

    def suspected(self, host: str, seen: Observation) -> str | None:
        """The place that an answer makes suspicious, as in ``checking/online``; None if it does not."""
        place = _place(host, seen)
        if place is None or place in self._cleared:
            self._newest.append(("", ""))
            return None
        self._newest.append((registrable_domain(host), place))
        domains = {domain for domain, at in self._newest if at == place}
        return place if len(domains) >= ALIKE or seen.http == LOGIN_WANTED else None

    def clear(self, place: str) -> None:
        """Never suspects this place again."""
        self._cleared.add(place)


def _place(host: str, seen: Observation) -> str | None:
    if seen.http == LOGIN_WANTED:
        return LOGIN
    if seen.reason in _STRANGERS:
        return CERTIFICATE
    if not isinstance(seen.target, Url):
        return None
    there = registrable_domain(seen.target.host)
    return None if there == registrable_domain(host) else there
