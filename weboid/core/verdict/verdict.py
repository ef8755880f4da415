"""Verdicts (U-7): the meaning of a record to people, since when and on which grounds. Derived, never stored.

"Dead" needs proof over weeks, by the URL's own checks or by contacts with its host (C-5), and nothing else. Claims of
people about a URL, that it works by hand (H) or what replaces it (A-4), are shown alongside the verdict: they never
make a link look worse than the checks do, and never make it a working one.
"""

from enum import Enum
from typing import Final, NamedTuple

from msgspec import Struct

from weboid.core.record.policy import DEFAULT, MISSING, Policy, proven
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.status import HOST_FAILURES
from weboid.core.record.streak import Streak
from weboid.core.url.keys import UrlKey

TEMPORARY_DAYS: Final = 28
"""Days for which a site may say that it is being repaired before its pages are doubted: nothing is known (D-487)."""


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

    __hash__ = object.__hash__  # Enum hashes the name anew each time, in Python.

    def __init__(self, _: int) -> None:
        self.word = self._name_.lower()


_WORKS, _FAILS, _MAINTENANCE, _WORKING = Outcome.WORKING, Outcome.FAILING, Reason.MAINTENANCE, Verdict.WORKING
"""Named, as in other modules of what is done for each link: to find a member in its enumeration takes 70 ns or more."""


class Finding(NamedTuple):
    """A verdict with its reason and the first day of that state."""

    verdict: Verdict
    reason: Reason | None = None
    since: int | None = None


def finding_of(record: UrlRecord, host: HostRecord = UNKNOWN_HOST, policy: Policy = DEFAULT) -> Finding:
    """The finding on a watched URL by its checks alone; ``core/verdict/wiki_rules`` has that on a link of a wiki.

    A dead host makes its URLs dead, but only those whose own newest check found the host down.
    """
    if not record.history or record.reason is None:
        return Finding(Verdict.UNKNOWN)
    if (outcome := record.reason.outcome) is _WORKS:
        return tuple.__new__(Finding, (_WORKING, record.reason, record.since))
    newest = record.history[0]
    days = newest.last - (newest.first if record.since is None else record.since)
    if record.reason is _MAINTENANCE and days < TEMPORARY_DAYS:
        return Finding(Verdict.UNKNOWN, record.reason, record.since)
    if outcome is not _FAILS:
        return Finding(Verdict.DOUBTFUL, record.reason, record.since)
    if newest.status in HOST_FAILURES and proven(host.streak, policy):
        return Finding(Verdict.DEAD, Reason.HOST_DOWN, host.streak.since)
    if proven(record.streak, policy):
        return Finding(Verdict.DEAD, record.reason, record.streak.since)
    return Finding(Verdict.DOUBTFUL, record.reason, record.streak.since or record.since)


class Change(Struct, frozen=True):
    """A verdict that changed on `day` (U-10); `since` is the first day of the new state."""

    key: UrlKey
    day: int
    before: Verdict
    after: Verdict
    reason: Reason | None
    since: int | None


def change_of(key: UrlKey, day: int, before: Finding, after: Finding) -> Change | None:
    """The change between two findings on a URL; None if the verdict is the same, or it works when it is checked first.

    The log is of changes of a known verdict: else each URL would get a line at its first check, most never another.
    """
    if before.verdict is after.verdict or (before.reason is None and after.verdict is Verdict.WORKING):
        return None
    return Change(key, day, before.verdict, after.verdict, after.reason, after.since)


class Claims(NamedTuple):
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


class Grounds(Struct, frozen=True):
    """The streak on which "dead" rests, or for which it waits, of the URL itself or (`of_host`) of its host.

    `days` of proof out of `needs_days`: of all its strikes, or only of those for which the page was missing, whichever
    decides. `host_answers`: the host did not fail at its newest contact.
    """

    streak: Streak
    days: int
    needs_days: int
    of_host: bool
    is_proof: bool
    host_answers: bool


def grounds_of(record: UrlRecord, host: HostRecord = UNKNOWN_HOST, policy: Policy = DEFAULT) -> Grounds | None:
    """The grounds for the verdict on a URL; None where no failure counts.

    They prove what `finding_of` concludes: `test_the_grounds_agree_with_the_finding` compares them.
    """
    if not record.history or record.reason is None:
        return None
    streak = record.streak
    failing = record.reason.outcome is _FAILS
    if not failing and not streak.strikes:
        return None
    is_own_proof = bool(streak.strikes) and proven(streak, policy)
    if failing and host.streak.strikes and record.history[0].status in HOST_FAILURES:
        is_proof = proven(host.streak, policy)
        if is_proof or (not is_own_proof and host.streak.evidence.width >= streak.evidence.width):
            known = host.streak.evidence
            return Grounds(host.streak, known.width, policy.span_of_all(known), True, is_proof, False)
    if not streak.strikes:
        return None
    known = streak.evidence
    days, needs_days = known.width, policy.span_of_all(known)
    missing_days, missing_span = known.missing_width, policy.span_if_missing(known)
    says_missing = record.reason in MISSING if failing else known.is_all_missing
    if missing_days >= missing_span or (says_missing and missing_span - missing_days < needs_days - days):
        days, needs_days = missing_days, missing_span
    return Grounds(streak, days, needs_days, False, is_own_proof, host_answers=not host.streak.strikes)
