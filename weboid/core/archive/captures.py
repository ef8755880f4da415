"""Captures of a URL, and the replies and listings of archive services (A-2)."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from weboid.core.archive.outcomes import LookupOutcome


class Capture(NamedTuple):
    """One capture as a service lists it. `taken` is in UTC; `original` is the captured URL as the service spells it.

    What a service does not say is None: `status` (the HTTP code), `mime`, `digest`, `length` (bytes, compressed).
    `address` is the capture's own, for services whose addresses do not follow from the moment and the URL.
    """

    taken: datetime
    original: str
    status: int | None = None
    mime: str | None = None
    digest: str | None = None
    length: int | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer to one request to a service for one URL. NONE is one voice only: it takes two (A-2).

    Only FOUND has captures. `why` is a stable word for the reason, such as ``rate-limited``, ``cut-short``,
    ``blocked-site``; empty if there is nothing to add. `rest_s` is the pause that the service requests for all
    requests, None if it requests none.
    """

    outcome: LookupOutcome
    captures: tuple[Capture, ...] = ()
    why: str = ""
    rest_s: float | None = None


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """The reply to one request to a service, bounded; `code` None = there was none, for the reason `fault`.

    `fault` is a stable word: ``timeout``, ``refused``, ``network``, ``dns``, ``tls``, ``not-public``. Names of
    `headers` are in lower case. `is_cut` = the body is longer than what was kept of it.
    """

    code: int | None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    fault: str = ""
    is_cut: bool = False


def in_utc(moment: datetime) -> datetime:
    """A moment in UTC, to the second; one without a time zone is taken for UTC."""
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(UTC)
        except OverflowError:  # within a day of the first or the last moment that there is
            moment = moment.replace(tzinfo=UTC)
    return moment.replace(tzinfo=UTC, microsecond=0)
