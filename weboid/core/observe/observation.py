"""What one check saw: the raw answer, and the observation that is made of it and then judged.

One law: their failure is a value. Making one from the other is `observe`'s business.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from weboid.core.document.likeness import Portrait
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect on the way: who sent it, with which code, and where it pointed (absolute, as resolved)."""

    url: str
    code: int
    location: str


@dataclass(frozen=True, slots=True)
class RawResponse:
    """The raw end of one check. Exactly one of `code` and `fault` is set.

    `final` is the URL that gave the end; `headers` has lower-case names, the first value each, bounded in number
    and size; `body` is the bounded beginning of the body, empty after HEAD.
    """

    url: str
    final: str
    method: str
    code: int | None = None
    fault: Reason | None = None
    hops: tuple[Hop, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0
    head_failed: bool = False
    """HEAD had been tried before and said too little to be believed (C-1)."""
    bare: bool = False
    """It had to be asked with the fewest headers, after a 431 (U-4)."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One check, judged by itself. `inferred` = taken over from another contact with the same host (C-5)."""

    status: Status
    reason: Reason
    target: str | None = None
    mime: str | None = None
    size_kib: int | None = None
    http: int | None = None
    """The exact code at the end of the check; NO_CODE if no HTTP answer stands there, None if that is not known."""
    inferred: bool = False
    needs: frozenset[Special] = frozenset()
    """What the check has shown the host to need, or to be (C-1, C-6)."""
    on_other_host: bool = False
    """A redirect led to another host, and it is that one which failed: nothing against the URL's own host (C-5)."""
    not_http: bool = False
    """A service of its own failed (ftp, sftp): that says nothing of the host as a whole, neither way (C-5, C-10)."""
    retry_after_s: float | None = None
    """The URL's own host asked for so long a rest (C-3)."""
    portrait: Portrait | None = None
    """What the page looks like, if that was wanted (C-11)."""

    @property
    def outcome(self) -> Outcome:
        """What this check says of the URL."""
        return self.reason.outcome
