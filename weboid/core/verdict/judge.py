"""The heart: a record, an observation and a day give the new record and the day of the next check (U-3, U-7, C-4).

One law: pure and total. Whatever was seen in whatever order, the result depends on nothing else.
"""

from dataclasses import replace
from typing import NamedTuple

from weboid.core.observe.observation import Observation
from weboid.core.record.history import extended
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.reasons import Outcome
from weboid.core.record.record import NO_STRIKES, UNKNOWN_HOST, HostRecord, Streak, UrlRecord
from weboid.core.record.status import HOST_FAILURES
from weboid.core.verdict.verdict import proven


class Judgement(NamedTuple):
    """The record after the check and the day on which it is due again."""

    record: UrlRecord
    due: int


def judge(
    record: UrlRecord, seen: Observation, day: int, policy: Policy = DEFAULT, host: HostRecord = UNKNOWN_HOST
) -> Judgement:
    """The judgement on one more check of a URL, `host` being its host after the check.

    A day before the newest check's counts as that day.
    """
    if record.asked is not None:
        day = max(day, record.asked)
    row = _row_after(record.row, seen, day)
    after = UrlRecord(
        history=extended(record.history, seen.status, day),
        row=row,
        reason=seen.reason,
        target=seen.target,
        mime=seen.mime,
        size_kib=seen.size_kib,
    )
    return Judgement(after, day + _interval(record, after, seen, day, policy, host))


def judge_host(host: HostRecord, seen: Observation, day: int) -> HostRecord:
    """The host after one more own contact with it (C-5): any HTTP answer at all ends its row."""
    if seen.inferred or seen.aside:
        return host
    if is_host_failure(seen):
        return HostRecord(host.row.struck(day), seen.reason)
    return replace(host, row=NO_STRIKES, reason=None)


def is_host_failure(seen: Observation) -> bool:
    """Whether a check speaks against the URL's host as a whole (C-5)."""
    return seen.status in HOST_FAILURES and seen.outcome is Outcome.FAILING and not (seen.elsewhere or seen.aside)


def _row_after(row: Streak, seen: Observation, day: int) -> Streak:
    """An inferred failure never strikes; a refusal proves nothing in either direction; an arrival ends the row."""
    match seen.outcome:
        case Outcome.FAILING:
            return row if seen.inferred else row.struck(day)
        case Outcome.REFUSED:
            return row
        case Outcome.WORKING | Outcome.DOUBTFUL:
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
            if seen.inferred and proven(host.row, policy):
                # It is dead by its host; when that answers again, all its URLs are due at once.
                return _dead_interval(before, day, policy)
            if not proven(after.row, policy):
                # Where the host fails all its URLs keep its rhythm, so that one visit serves them all.
                return policy.failing_interval_after(max(after.row.elapsed(day), host.row.elapsed(day)))
            return _dead_interval(before, day, policy) if proven(before.row, policy) else policy.dead_interval


def _dead_interval(before: UrlRecord, day: int, policy: Policy) -> int:
    """Twice as long as the last one, within bounds."""
    last = 0 if before.asked is None else day - before.asked
    return min(max(policy.dead_interval, 2 * last), policy.dead_interval_limit)
