"""Changes of verdict for the log (U-10), computed from the findings before and after. Pure."""

from dataclasses import dataclass

from weboid.core.record.reasons import Reason
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Finding, Verdict


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
