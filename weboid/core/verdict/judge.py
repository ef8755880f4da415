"""Judges checks: a record, an observation and a day give the new record and the day of the next check (U-3, U-7, C-4).

Any observations in any order give a result, and it depends on nothing else.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from weboid.core.observe.observation import Observation
from weboid.core.record.history import extended
from weboid.core.record.moment import shuffled
from weboid.core.record.policy import DEFAULT, LOOSEST, MISSING, NO_PROOF, SERVER_FAILS, Policy, proven
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, HostEffect, HostRecord, UrlRecord
from weboid.core.record.status import HOST_FAILURES
from weboid.core.record.streak import BELIEVED_DAYS, Streak

_WEEK: Final = 7
_NEUTRAL: Final = NO_PROOF | {Reason.MAINTENANCE, Reason.RATE_LIMIT}


class Judgement(NamedTuple):
    """The record after a check, and the day of the next one."""

    record: UrlRecord
    due: int


def judge(
    record: UrlRecord,
    seen: Observation,
    day: int,
    policy: Policy = DEFAULT,
    host: HostRecord = UNKNOWN_HOST,
    *,
    host_key: int = 0,
) -> Judgement:
    """The judgement on one more check of a URL, `host` being its host after the check.

    A day before the newest check's counts as that day.
    """
    if record.checked is not None:
        day = max(day, record.checked)
    streak = _streak_after(record, seen, day, policy, host)
    history = extended(record.history, seen.status, day)
    since = record.since if _is_same_state(record.reason, seen.reason) else day
    after = UrlRecord(
        history=history,
        streak=streak,
        reason=seen.reason,
        target=None if seen.target is None else str(seen.target),
        mime=seen.mime,
        size_kib=seen.size_kib,
        http=seen.http,
        state_since=None if since == history[0].first else since,
    )
    return Judgement(after, day + _varied(_interval(record, after, seen, day, policy, host), host_key, day))


def judge_host(
    host: HostRecord, seen: Observation, day: int, policy: Policy = DEFAULT, effect: HostEffect = HostEffect.SEEN
) -> HostRecord:
    """The host record after a check with this effect on it (C-5): any HTTP answer ends its streak.

    What was seen changes nothing if it is inferred, or a failure of another service.
    """
    is_seen = effect is HostEffect.SEEN
    if effect is HostEffect.NONE or (is_seen and (seen.inferred or seen.not_http)):
        return host
    if is_seen and is_host_failure(seen):
        return HostRecord(_struck(host.streak, seen, day, policy), seen.reason)
    return HostRecord(host.streak.ended())


def is_host_failure(seen: Observation) -> bool:
    """True if a check is evidence against the URL's host as a whole (C-5)."""
    return (
        seen.status in HOST_FAILURES and seen.outcome is Outcome.FAILING and not (seen.on_other_host or seen.not_http)
    )


def _is_same_state(before: Reason | None, after: Reason) -> bool:
    """True if two checks found the same state: both that the page works, both that it fails, or the same doubt."""
    if before is None or before.outcome is not after.outcome:
        return False
    return before is after or after.outcome in (Outcome.WORKING, Outcome.FAILING)


def _struck(streak: Streak, seen: Observation, day: int, policy: Policy) -> Streak:
    """One more strike. A held one is kept and is never the proof; after a short hold the streak begins anew (D-80)."""
    if streak.evidence.held and not seen.held and streak.elapsed(day) < BELIEVED_DAYS:
        streak = streak.ended()
    after = streak.struck(day, missing=seen.reason in MISSING, longer=seen.reason in SERVER_FAILS, gap=policy.gap)
    if not seen.held:
        return after
    return streak if proven(after, LOOSEST) else replace(after, evidence=after.evidence._replace(held=True))


def _streak_after(record: UrlRecord, seen: Observation, day: int, policy: Policy, host: HostRecord) -> Streak:
    """The streak after a check: an arrival, a wall or a login ends it (U-7, D-1).

    What is inferred adds no strike, nor does a bare 503, nor what is held where the host answered within the streak.
    "Too many requests", Retry-After and a site under repair are neutral: they say when to come again, nothing of the
    document. But the first is an answer, and ends a streak without any (D-483). Of the silence of a host on which much
    hangs no URL dies before the host does: that is one fact (D-491).
    """
    streak = record.streak
    was_silent = bool(record.history) and record.history[0].status in HOST_FAILURES
    if seen.inferred or (seen.reason in _NEUTRAL and not (seen.reason is Reason.RATE_LIMIT and was_silent)):
        return streak
    answered = max((each.last for each in record.history if each.status not in HOST_FAILURES), default=-1)
    if seen.held and streak.since is not None and answered >= streak.since:
        return streak
    if seen.outcome is not Outcome.FAILING:
        return streak.ended()
    after = _struck(streak, seen, day, policy)
    waits = is_host_failure(seen) and host.streak.evidence.longer and not proven(host.streak, policy)
    return streak if waits and proven(after, policy) and not proven(streak, policy) else after


def _interval(
    before: UrlRecord, after: UrlRecord, seen: Observation, day: int, policy: Policy, host: HostRecord
) -> int:
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
                return _failing_interval(after, seen, day, policy, host)
            was_proven = proven(before.streak, policy)
            return _dead_interval(before, day, policy) if was_proven else policy.dead_interval


def _failing_interval(after: UrlRecord, seen: Observation, day: int, policy: Policy, host: HostRecord) -> int:
    """Days until the next check without a proof; if the host fails, all its URLs follow its rhythm, for one visit."""
    elapsed = after.streak.elapsed(day) if after.streak.strikes else day - after.history[0].first
    interval = policy.failing_interval_after(elapsed, seen.reason, after.streak.evidence)
    if not is_host_failure(seen):
        return interval
    of_host = policy.failing_interval_after(host.streak.elapsed(day), seen.reason, host.streak.evidence)
    return of_host if seen.inferred else min(interval, of_host)


def _dead_interval(before: UrlRecord, day: int, policy: Policy) -> int:
    last = 0 if before.checked is None else day - before.checked
    return min(max(policy.dead_interval, 2 * last), policy.dead_interval_limit)


def _varied(interval: int, host_key: int, day: int) -> int:
    """An interval of a week or more, shorter by a day or not, by a hash of host and day.

    Otherwise 7, 14 and 28 days would always meet the same weekday. It is the same for all URLs of a host, so that one
    visit still serves those that were checked together.
    """
    if interval < _WEEK:
        return interval
    return interval - (shuffled(host_key, day) >> 60)
