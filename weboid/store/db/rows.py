"""Conversion between rows of the tables and values of the core: columns to records, records to arrays for `unnest`.

Nothing here speaks to the database, and no other module knows the order of columns of URLs and hosts.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec import Struct, field

from weboid.core.document.face import NO_FACE, Face
from weboid.core.document.portrait import Portrait, unpacked_portrait
from weboid.core.record import mime
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.history import Entry, History, packed, unpacked
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import BY_NUMBER, Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.specials import Sights
from weboid.core.record.status import BY_NUMBER as STATUSES
from weboid.core.record.status import HOST_FAILURES
from weboid.core.record.streak import NO_STRIKES, Streak, packed_evidence, unpacked_evidence
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.kept_copies import NOTHING, KeptCopies
from weboid.core.verdict.verdict import NO_CLAIMS, TEMPORARY_DAYS, Claims, Verdict

Columns = dict[str, list[Any]]
"""Parameters of a statement that unnests them: one list a column, all of one length."""

SCHEMES: Final = ("http", "https", "ftp", "ftps", "sftp")
"""The database stores the index of a scheme in this tuple. Only ever append."""


class HostKey(NamedTuple):
    """The primary key of a host."""

    bucket: int
    host_key: int


class StoredHost(Struct, frozen=True):
    """A host as a round reads it."""

    key: HostKey
    host: str
    record: HostRecord
    sights: Sights = field(default_factory=dict)
    """The needs of it and the hosts above it, as far as known (C-6)."""
    face: Face = NO_FACE
    """Its answer for made-up URLs, as far as known (C-11)."""


class StoredUrl(Struct, frozen=True):
    """A URL as a round reads it."""

    key: UrlKey
    url: Url
    record: UrlRecord
    portrait: Portrait | None = None
    """The portrait of its document from when it worked; None = not known (C-11)."""


class KnownUrl(NamedTuple):
    """A URL with all that an answer shows of it. `orphaned` is the day on which its last use went (U-8).

    `claims` and `kept` are there where they are shown: of URLs that fail, `kept` also of those in doubt. `visit` is the
    day of the next visit of a cited copy, whose `due` is NEVER_DUE; so is `visit` if its archive is never visited.
    `is_frozen`: bots leave it alone on the wiki that was asked for (B-6). `meant` was probably meant by it (L-9).
    """

    key: UrlKey
    url: Url
    record: UrlRecord
    due: int
    orphaned: int | None
    host: HostRecord
    claims: Claims = NO_CLAIMS
    packed_portrait: bytes | None = None
    kept: KeptCopies = NOTHING
    visit: int | None = None
    is_frozen: bool = False
    meant: str | None = None

    @property
    def next_check(self) -> int | None:
        """The day of the next check or visit of this URL; None = it is never checked."""
        return next_check(self.due, self.visit)

    @property
    def portrait(self) -> Portrait | None:
        """As `StoredUrl.portrait`."""
        return None if self.packed_portrait is None else unpacked_portrait(self.packed_portrait)


RECORD_COLUMNS: Final = 22
"""The number of columns that `stored_url` takes, in the order of `list_due_urls` and `find_urls`."""


def stored_url(row: Sequence[Any]) -> StoredUrl:
    """The URL in the first RECORD_COLUMNS columns of a row."""
    record, packed = url_record(row[7 : RECORD_COLUMNS - 1]), row[RECORD_COLUMNS - 1]
    return StoredUrl(UrlKey(*row[:3]), url_of(row[3:7]), record, None if packed is None else unpacked_portrait(packed))


def known_url(row: Sequence[Any]) -> KnownUrl:
    """The URL in a row of `find_urls`."""
    portrait, due, orphaned, meant, *host, is_frozen = row[RECORD_COLUMNS - 1 :]
    key, url, record = UrlKey(*row[:3]), url_of(row[3:7]), url_record(row[7 : RECORD_COLUMNS - 1])
    return KnownUrl(
        key, url, record, due, orphaned, host_record(host), NO_CLAIMS, portrait, is_frozen=is_frozen, meant=meant
    )


def stored_host(row: Sequence[Any]) -> StoredHost:
    """The host in a row of `list_due_hosts`, without its sights."""
    return StoredHost(HostKey(row[0], row[1]), row[2], host_record(row[3:8]))


def next_check(due: int, visit: int | None) -> int | None:
    """The day of the next check of a URL with that `due` and that `visit`: see `KnownUrl`."""
    day = visit if due == NEVER_DUE else due
    return None if day == NEVER_DUE else day


def columns_of(structs: Iterable[object], names: str) -> Columns:
    """The columns with these names (separated by spaces) from the attributes of the same names."""
    rows = list(structs)
    return {name: list(map(attrgetter(name), rows)) for name in names.split()}


def key_columns(keys: Iterable[UrlKey]) -> Columns:
    """The three key columns of URLs."""
    return columns_of(keys, "bucket host_key url_key")


def host_key_columns(keys: Iterable[HostKey]) -> Columns:
    """The two key columns of hosts."""
    return columns_of(keys, "bucket host_key")


def record_columns(records: Iterable[UrlRecord]) -> Columns:
    """The columns of records of URLs that have been checked at least once."""
    rows = [(record, record.history[0]) for record in records]
    return {
        "status": [int(newest.status) for _, newest in rows],
        "since": [newest.first for _, newest in rows],
        "asked": [newest.last for _, newest in rows],
        "older": [packed(record.history[1:]) or None for record, _ in rows],
        "mime": [None if record.mime is None else mime.KEYWORDS.index(record.mime) for record, _ in rows],
        **columns_of((record for record, _ in rows), "target size_kib http state_since"),
        **host_record_columns(record for record, _ in rows),
    }


def host_record_columns(records: Iterable[HostRecord | UrlRecord]) -> Columns:
    """The columns of the hosts' own streaks, which URLs have, too."""
    rows = [(record.reason, record.streak) for record in records]
    return {
        "reason": [reason and reason.number for reason, _ in rows],
        "strikes": [streak.strikes for _, streak in rows],
        "failing_since": [streak.since for _, streak in rows],
        "failing_until": [streak.until for _, streak in rows],
        "evidence": [None if streak.until is None else packed_evidence(streak.evidence) for _, streak in rows],
    }


def url_of(columns: Sequence[Any]) -> Url:
    """The URL in scheme, host, port and path."""
    scheme, host, port, path = columns
    return Url(SCHEMES[scheme], host, port, path)


def url_record(row: Sequence[Any]) -> UrlRecord:
    """The record in the columns from `status` to `state_since`, in the order of the statement `find_urls`."""
    status, since, asked, older, strikes, begun, ended, evidence, reason, target, kind, size, http, state_since = row
    history: History = ()
    if asked is not None:
        newest = tuple.__new__(Entry, (STATUSES[status], since, asked))
        history = (newest, *unpacked(older)) if older else (newest,)
    streak = NO_STRIKES if ended is None else _streak(strikes, begun, ended, evidence)
    why, file = None if reason is None else BY_NUMBER[reason], None if kind is None else mime.KEYWORDS[kind]
    # In half the time of UrlRecord(…), for the hundreds of URLs of a page.
    return tuple.__new__(UrlRecord, (history, streak, why, target, file, size, http, state_since))


def host_record(columns: Sequence[Any]) -> HostRecord:
    """The record of a host in its five columns of the statement `find_urls`."""
    strikes, since, until, evidence, reason = columns
    if until is None and not strikes and reason is None:
        return UNKNOWN_HOST
    return HostRecord(_streak(strikes, since, until, evidence), BY_NUMBER[reason] if reason is not None else None)


def _streak(strikes: int, since: int | None, until: int | None, evidence: int | None) -> Streak:
    if until is None:
        return NO_STRIKES
    return Streak(strikes, since, until, unpacked_evidence(evidence or 0))


def verdict_values(policy: Policy) -> dict[str, int | list[int]]:
    """The parameters of a statement that derives verdicts, from the data by which ``core/verdict/verdict`` judges:
    numbers of verdicts, reasons and statuses, thresholds."""
    verdicts = (Verdict.UNKNOWN, Verdict.WORKING, Verdict.DOUBTFUL, Verdict.DEAD)
    return {
        **{verdict.word: verdict.value for verdict in verdicts},
        "working_reasons": [reason.number for reason in Reason if reason.outcome is Outcome.WORKING],
        "failing_reasons": [reason.number for reason in Reason if reason.outcome is Outcome.FAILING],
        "temporary": Reason.MAINTENANCE.number,
        "temporary_days": TEMPORARY_DAYS,
        "host_failures": sorted(map(int, HOST_FAILURES)),
        "dead_strikes": policy.dead_strikes,
        "dead_span": policy.dead_span,
        "server_span": policy.server_span,
        "missing_span": policy.missing_span,
        "relapse_factor": policy.relapse_factor,
    }


def storable(text: str) -> str:
    """The text without NUL, with lone surrogates (bytes of a file's name that are no UTF-8) as escapes (`\\udcff`)."""
    return text.replace("\0", "").encode("utf-8", "backslashreplace").decode("utf-8")
