"""Verdicts (U-7): the meaning of a record to people, with the reason and since when. Derived, never stored.

"Dead" needs proof over weeks, by the URL's own checks or by contacts with its host (C-5), and nothing else. Claims of
people about a URL, that it works by hand (H) or what replaces it (A-4), are shown alongside the verdict: they never
make a link look worse than the checks do, and never make it a working one.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from weboid.core.record.policy import DEFAULT, Policy, proven
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.status import HOST_FAILURES
from weboid.core.url.keys import UrlKey


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


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that changed on `day` (U-10); `since` is the first day of the new state."""

    key: UrlKey
    day: int
    before: Verdict
    after: Verdict
    reason: Reason | None
    since: int | None


def change_of(key: UrlKey, day: int, before: Finding, after: Finding) -> Change | None:
    """The change between two findings on one URL; None if the verdict is the same."""
    if before.verdict is after.verdict:
        return None
    return Change(key, day, before.verdict, after.verdict, after.reason, after.since)


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims about one URL, as days (U-2) and URLs in normal form.

    `reported`: somebody reported that it, or its whole domain, works by hand (H-1); `assumed`: half of its domain's
    URLs are reported so, and it counts as probably reachable (H-3). `replacement` and `archives` were checked and
    worked.
    """

    reported: int | None = None
    assumed: int | None = None
    replacement: str | None = None
    archives: tuple[str, ...] = ()


NO_CLAIMS: Final = Claims()


def with_claims(finding: Finding, claims: Claims) -> Finding:
    """The finding as shown to people: a URL that counts as probably reachable is doubtful instead of dead (H-3,
    D-44)."""
    if finding.verdict is Verdict.DEAD and claims.assumed is not None:
        return Finding(Verdict.DOUBTFUL, Reason.REPORTED, finding.since)
    return finding
