"""Of a URL what the store has, for tests of what is reported of links."""

from dataclasses import dataclass

from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.verdict.kept_copies import NOTHING, KeptCopies
from weboid.core.verdict.verdict import NO_CLAIMS, Claims


@dataclass(frozen=True)
class Stored:
    record: UrlRecord
    host: HostRecord = UNKNOWN_HOST
    next_check: int | None = 130
    claims: Claims = NO_CLAIMS
    kept: KeptCopies = NOTHING
    is_frozen: bool = False
    meant: str | None = None
