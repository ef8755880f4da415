"""Records: the memory of one URL (U-1) and of one host (C-5), as values. Their keys are in ``core/url/keys``.

Only ``core/verdict/judge`` changes records; what can be derived from them (verdicts) is not in them.
"""

from enum import IntEnum
from typing import NamedTuple

from msgspec import Struct

from weboid.core.record.history import History
from weboid.core.record.reasons import Reason
from weboid.core.record.streak import NO_STRIKES, Streak


class UrlRecord(NamedTuple):
    """One URL's memory. `target` is where its redirect ends; `mime` and `size_kib` only if notable (U-6).

    `http` is the exact code of the newest check, NO_CODE if it got none, None if nobody has kept it. `state_since` is
    the first day of the `state` if the newest entry of the history does not begin with it: a page is parked, and comes
    back, while its server goes on answering 200.
    """

    history: History = ()
    streak: Streak = NO_STRIKES
    reason: Reason | None = None
    target: str | None = None
    mime: str | None = None
    size_kib: int | None = None
    http: int | None = None
    state_since: int | None = None

    @property
    def checked(self) -> int | None:
        """The day of the newest check, None before the first."""
        return self.history[0].last if self.history else None

    @property
    def since(self) -> int | None:
        """The first day of the state that the newest check found, None before the first."""
        if self.state_since is not None:
            return self.state_since
        return self.history[0].first if self.history else None


class HostRecord(Struct, frozen=True):
    """One host's memory: its own streak of contacts that failed before any HTTP answer came (C-5)."""

    streak: Streak = NO_STRIKES
    reason: Reason | None = None


class HostEffect(IntEnum):
    """The effect of a check on the record of its host: none, an answer, or what was seen."""

    NONE = 0
    ANSWERED = 1
    SEEN = 2


UNTRIED = UrlRecord()
UNKNOWN_HOST = HostRecord()
