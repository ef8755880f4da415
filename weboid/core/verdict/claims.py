"""Claims of people about a URL: that it works by hand (H), or what replaces it (A-4). Shown alongside the verdict.

One law: a claim never makes a link look worse than the checks do, and never makes it a working one.
"""

from dataclasses import dataclass
from typing import Final

from weboid.core.record.reasons import Reason
from weboid.core.verdict.verdict import Finding, Verdict


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


NONE: Final = Claims()


def with_claims(finding: Finding, claims: Claims) -> Finding:
    """The finding as shown to people: a URL that counts as probably reachable is doubtful instead of dead (H-3,
    D-44)."""
    if finding.verdict is Verdict.DEAD and claims.assumed is not None:
        return Finding(Verdict.DOUBTFUL, Reason.REPORTED, finding.since)
    return finding
