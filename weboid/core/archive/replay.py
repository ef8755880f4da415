"""Whether a capture is still played (A-3), from the reply to a request for its raw form.

One law: only Memento-Datetime together with the raw address proves a copy, never the status; and nothing that passes by
(limits, faults, block pages) counts against one.
"""

from datetime import datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple

from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.services import ArchiveService
from weboid.core.url.urls import Url

NEAR: Final = timedelta(hours=24)
"""A capture within this time of the asked one counts as the same."""


class ReplayResult(Enum):
    """What a replay says of a stored snapshot."""

    PLAYS = "plays"
    """It is there, with the stored status."""
    MOVED = "moved"
    """The archive leads to another capture of the same page within `NEAR`."""
    MOVED_FAR = "moved-far"
    """The archive leads to a farther capture, or to another page: a strike."""
    WITHDRAWN = "withdrawn"
    """The archive says that it does not show it any more."""
    ABSENT = "absent"
    """Not found, or something that is no capture: a strike."""
    NOTHING = "nothing"
    """Proves nothing: a limit, a fault, a block page."""


class Replayed(NamedTuple):
    """What was played. `why` is a stable word, empty for PLAYS.

    `status` is the captured page's, None if no capture was played; `taken` the moment of the capture that was played or
    is led to. `location` is absolute: where a captured redirect (PLAYS) leads, or the archive itself (MOVED).
    `rest_s` is the pause that the service requests.
    """

    result: ReplayResult
    why: str = ""
    status: int | None = None
    taken: datetime | None = None
    location: str | None = None
    rest_s: float | None = None


def replay_of(reply: ServiceReply, *, stamp: int, url: Url, service: ArchiveService) -> Replayed:
    """What the reply to ``addresses.replay_address`` says; redirects must not have been followed. Never raises."""
    raise NotImplementedError
