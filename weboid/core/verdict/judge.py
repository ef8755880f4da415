"""Judges checks: a record, an observation and a day give the new record and the day of the next check (U-3, U-7, C-4).

One law: pure and total. Any observations in any order give a result, and it depends on nothing else.
"""

from dataclasses import replace
from typing import NamedTuple

from weboid.core.observe.observation import Observation
from weboid.core.record.history import extended
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import NO_STRIKES, UNKNOWN_HOST, HostRecord, Streak, UrlRecord
from weboid.core.record.status import HOST_FAILURES
from weboid.core.verdict.verdict import proven


class Judgement(NamedTuple):
    """The record after the check, and the day of the next check."""

    record: UrlRecord
    due: int


def judge(
    record: UrlRecord, seen: Observation, day: int, policy: Policy = DEFAULT, host: HostRecord = UNKNOWN_HOST
) -> Judgement:
    """The judgement on one more check of a URL, `host` being its host after the check.

    A day before the newest check's counts as that day.
    """
    if record.checked is not None:
        day = max(day, record.checked)
    streak = _streak_after(record.streak, seen, day)
    after = UrlRecord(
        history=extended(record.history, seen.status, day),
        streak=streak,
        reason=seen.reason,
        target=seen.target,
        mime=seen.mime,
        size_kib=seen.size_kib,
        http=seen.http,
    )
    return Judgement(after, day + _interval(record, after, seen, day, policy, host))


def judge_host(host: HostRecord, seen: Observation, day: int) -> HostRecord:
    """The host record after one more contact with the host (C-5): any HTTP answer ends its streak.

    Inferred observations and failures of other services change nothing.
    """
    if seen.inferred or seen.not_http:
        return host
    if is_host_failure(seen):
        return HostRecord(host.streak.struck(day), seen.reason)
    return replace(host, streak=NO_STRIKES, reason=None)


def is_host_failure(seen: Observation) -> bool:
    """Whether a check is evidence against the URL's host as a whole (C-5)."""
    return (
        seen.status in HOST_FAILURES and seen.outcome is Outcome.FAILING and not (seen.on_other_host or seen.not_http)
    )


def _streak_after(streak: Streak, seen: Observation, day: int) -> Streak:
    """The streak after a check: an inferred failure adds no strike; an arrival, a wall or a login ends it (U-7).

    "Too many requests" and Retry-After are neutral: they say when to come again, nothing of the document.
    """
    match seen.outcome:
        case Outcome.FAILING:
            return streak if seen.inferred else streak.struck(day)
        case Outcome.REFUSED if seen.reason is Reason.RATE_LIMIT:
            return streak
        case Outcome.REFUSED | Outcome.WORKING | Outcome.DOUBTFUL:
            return NO_STRIKES


def _interval(
    before: UrlRecord, after: UrlRecord, seen: Observation, day: int, policy: Policy, host: HostRecord
) -> int:
    """Days until the next check (C-4)."""
    match seen.outcome:
        case Outcome.WORKING:
            return policy.working_interval
        case Outcome.DOUBTFUL | Outcome.REFUSED:
            return policy.doubtful_interval
        case Outcome.FAILING:
            if seen.inferred and proven(host.streak, policy):
                # It is dead because of its host; when the host answers again, all its URLs become due at once.
                return _dead_interval(before, day, policy)
            if not proven(after.streak, policy):
                # If the host fails, all its URLs follow its rhythm, so that one visit serves them all.
                return policy.failing_interval_after(max(after.streak.elapsed(day), host.streak.elapsed(day)))
            return _dead_interval(before, day, policy) if proven(before.streak, policy) else policy.dead_interval


def _dead_interval(before: UrlRecord, day: int, policy: Policy) -> int:
    """Twice the days since the last check, within the policy's bounds."""
    last = 0 if before.checked is None else day - before.checked
    return min(max(policy.dead_interval, 2 * last), policy.dead_interval_limit)
