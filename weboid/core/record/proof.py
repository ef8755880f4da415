"""Proof: whether a streak of failures proves that what fails is dead (U-7)."""

from weboid.core.record.moment import HOURS
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.streak import HOURS_APART, Streak


def proven(streak: Streak, policy: Policy = DEFAULT) -> bool:
    """Whether a streak of failures is a proof (U-7): enough strikes, not all on one weekday or around one hour.

    They must cover `missing_span` days if the host says that the page is missing, `dead_span` days otherwise, and
    `relapse_factor` times as many if there was another streak not long before.
    """
    known = streak.evidence
    times = policy.relapse_factor if known.relapse else 1
    if streak.strikes < policy.dead_strikes or not (known.hours and known.weekdays):
        return False
    if known.missing >= policy.dead_strikes and known.missing_width >= times * policy.missing_span:
        return True
    return known.width >= times * policy.dead_span


def may_prove(streak: Streak, day: int, policy: Policy = DEFAULT) -> bool:
    """Whether a failure on that day, at the right hour, may make a streak a proof that is none yet."""
    if proven(streak, policy):
        return False
    hour = streak.evidence.first_hour + HOURS_APART
    return proven(streak.struck(day, hour % HOURS, missing=True, gap=policy.gap), policy)
