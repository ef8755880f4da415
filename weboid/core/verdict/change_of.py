"""Changes of verdict: what the log keeps (U-10), from the findings before and after. Pure."""

from dataclasses import dataclass

from weboid.core.record.reasons import Reason
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Finding, Verdict


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that has changed on `day` (U-10); `since` is the first day of what it now says."""

    key: UrlKey
    day: int
    before: Verdict
    after: Verdict
    reason: Reason | None
    since: int | None


def change_of(key: UrlKey, day: int, before: Finding, after: Finding) -> Change | None:
    """The change that two findings on one URL amount to; None where the verdict is the same."""
    if before.verdict is after.verdict:
        return None
    return Change(key, day, before.verdict, after.verdict, after.reason, after.since)
