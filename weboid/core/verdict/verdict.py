"""Verdicts (U-7): what a record means to people, with the reason and since when. Derived, never stored.

One law: "dead" needs proof over weeks, by the URL's own checks or by contacts with its host (C-5), and nothing else.
"""

from enum import Enum
from typing import NamedTuple

from weboid.core.record.policy import DEFAULT, Policy, proven
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.status import HOST_FAILURES


class Verdict(Enum):
    """The stored number is used only in the log of changes (U-10); `word` is the name in all interfaces."""

    UNKNOWN = 0
    WORKING = 1
    DOUBTFUL = 2
    DEAD = 3
    INVALID = 4
    SPAM = 5

    word: str
    """The stable word, e.g. ``dead``."""

    def __init__(self, _: int) -> None:
        self.word = self._name_.lower()


class Finding(NamedTuple):
    """A verdict with its reason and the first day of that state."""

    verdict: Verdict
    reason: Reason | None = None
    since: int | None = None


def finding_of(record: UrlRecord, host: HostRecord = UNKNOWN_HOST, policy: Policy = DEFAULT) -> Finding:
    """The finding on a watched URL. ``core/verdict/link_report`` sets INVALID and SPAM, for URLs that are not checked.

    A dead host makes its URLs dead, but only those whose own newest check found the host down.
    """
    if not record.history or record.reason is None:
        return Finding(Verdict.UNKNOWN)
    newest = record.history[0]
    match record.reason.outcome:
        case Outcome.WORKING:
            return Finding(Verdict.WORKING, record.reason, newest.first)
        case Outcome.DOUBTFUL | Outcome.REFUSED:
            return Finding(Verdict.DOUBTFUL, record.reason, newest.first)
        case Outcome.FAILING:
            if newest.status in HOST_FAILURES and proven(host.streak, policy):
                return Finding(Verdict.DEAD, Reason.HOST_DOWN, host.streak.since)
            if proven(record.streak, policy):
                return Finding(Verdict.DEAD, record.reason, record.streak.since)
            return Finding(Verdict.DOUBTFUL, record.reason, record.streak.since or newest.first)
