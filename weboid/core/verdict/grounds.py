"""Grounds: the streak on which "dead" rests, or for which it waits, with how much of its proof is there (U-7).

One law: what is proven, and by whose streak, is as in `verdict.finding_of`; a test compares them.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.record.policy import DEFAULT, MISSING, Policy, proven
from weboid.core.record.reasons import Outcome
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.status import HOST_FAILURES, Status
from weboid.core.record.streak import MOST_MISSING, Streak

_MISSING_STATUSES: Final = frozenset({Status.NOT_FOUND, Status.GONE})


@dataclass(frozen=True, slots=True)
class Grounds:
    """The streak that counts, of the URL itself or (`of_host`) of its host, and what it proves so far.

    `days` of proof out of `needs_days`: of all its strikes, or only of those for which the page was missing, whichever
    decides. `missing` is the number of the latter. `host_answers`: the host did not fail at its newest contact.
    """

    streak: Streak
    missing: int
    days: int
    needs_days: int
    of_host: bool
    is_proof: bool
    host_answers: bool

    @property
    def is_all_missing(self) -> bool:
        """Whether the host said at each strike that the page is missing."""
        return self.missing == self.streak.strikes


def grounds_of(record: UrlRecord, host: HostRecord = UNKNOWN_HOST, policy: Policy = DEFAULT) -> Grounds | None:
    """The grounds for the verdict on a URL; None where no failure counts."""
    if not record.history or record.reason is None:
        return None
    streak = record.streak
    failing = record.reason.outcome is Outcome.FAILING
    if failing and host.streak.strikes and record.history[0].status in HOST_FAILURES:
        is_proof = proven(host.streak, policy)
        if is_proof or (not proven(streak, policy) and host.streak.evidence.width >= streak.evidence.width):
            known = host.streak.evidence
            needs_days = _times(host.streak, policy) * policy.dead_span
            return Grounds(host.streak, 0, known.width, needs_days, True, is_proof, False)
    if not streak.strikes:
        return None
    known, missing = streak.evidence, _missing(record)
    times = _times(streak, policy)
    missing_span, dead_span = times * policy.missing_span, times * policy.dead_span
    days, needs_days = known.width, dead_span
    says_missing = record.reason in MISSING if failing else missing == streak.strikes
    if missing and (
        (missing >= policy.dead_strikes and known.missing_width >= missing_span)
        or (says_missing and missing_span - known.missing_width < dead_span - known.width)
    ):
        days, needs_days = known.missing_width, missing_span
    return Grounds(
        streak, missing, days, needs_days, False, proven(streak, policy), host_answers=not host.streak.strikes
    )


def _times(streak: Streak, policy: Policy) -> int:
    """How many times as many days it takes: more for what has failed and come back not long before."""
    return policy.relapse_factor if streak.evidence.relapse else 1


def _missing(record: UrlRecord) -> int:
    """The strikes for which the page was missing, also beyond the number up to which a streak counts them."""
    streak, newest = record.streak, record.history[0]
    counted = streak.evidence.missing
    if counted == MOST_MISSING and streak.since is not None and newest.first <= streak.since:
        return streak.strikes if newest.status in _MISSING_STATUSES else counted
    return counted
