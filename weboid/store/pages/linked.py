"""The links of pages for an answer: URLs, claims, copies, spam links and the wiki's settings in one round trip (W-1,
W-10), the same of every URL as `find_urls` returns.

With 20 links most of an answer's CPU time was system calls and wake-ups of five statements.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.kept_copies import NOTHING, KeptCopies
from weboid.core.verdict.link_report import Extent
from weboid.core.verdict.verdict import NO_CLAIMS, Claims
from weboid.core.wikitext.settings import NOTHING_SAID, OfWiki
from weboid.store.archives.wiki_settings import settings_of
from weboid.store.db.rows import host_record, key_columns, next_check, url_of, url_record
from weboid.store.db.statements import Connection, statements
from weboid.store.pages.spam import list_spam_links
from weboid.store.urls.details import claims_of, kept_of

SQL: Final = statements("pages/linked")
_WORKING: Final = frozenset(reason.number for reason in Reason if reason.outcome is Outcome.WORKING)


def _array(outcome: Outcome) -> str:
    """The numbers of reasons as PostgreSQL writes an array: constant, so not converted for each statement."""
    return f"{{{','.join(str(reason.number) for reason in Reason if reason.outcome is outcome)}}}"


_OUTCOMES: Final = {"failing": _array(Outcome.FAILING), "working": _array(Outcome.WORKING)}
_STATUS, _ASKED, _REASON, _MIME, _DUE, _HOST, _CLAIMS, _COPIES, _VISIT = 1, 3, 9, 11, 15, 16, 21, 22, 23
_SPAM, _SETTINGS, _FROZEN, _URL, _MEANT = 24, 25, 26, 27, 28
"""Columns of `find_linked`; of a record, and of a host, the first."""


class LinkedUrl(tuple[Any, ...]):
    """A URL as its row of `find_linked`, converted only as far as it is looked at."""

    __slots__ = ()

    @property
    def is_untried(self) -> bool:
        """True if it has never been checked."""
        return self[_ASKED] is None

    @property
    def record(self) -> UrlRecord:
        """The remembered results of its checks."""
        return url_record(self[_STATUS:_DUE])

    @property
    def host(self) -> HostRecord:
        """The record of its host; an empty one where no failure of the URL counts."""
        return UNKNOWN_HOST if self[_HOST] is None else host_record(self[_HOST:_CLAIMS])

    @property
    def next_check(self) -> int | None:
        """The day of the next check or visit; None = it is never checked."""
        return next_check(self[_DUE], self[_VISIT])

    @property
    def claims(self) -> Claims:
        """The claims of people; none where none are shown."""
        return _claims(self[_CLAIMS])

    @property
    def kept(self) -> KeptCopies:
        """Its kept copies; none where none are shown."""
        rows = self[_COPIES]
        return kept_of(rows) if rows else NOTHING

    @property
    def is_frozen(self) -> bool:
        """Returns whether bots leave it alone on the wiki (B-6)."""
        return bool(self[_FROZEN])

    @property
    def meant(self) -> str | None:
        """As `KnownUrl.meant`."""
        found: str | None = self[_MEANT]
        return found

    @property
    def url(self) -> Url | None:
        """The URL itself; None unless it was requested."""
        columns = self[_URL]
        return None if columns is None else url_of(columns)


@dataclass(frozen=True, slots=True)
class Linked:
    """The known links: `urls` without those not watched, `spam` by page as the pages give them; `working` are the keys
    of those that are only counted, as working.

    `settings` are what the wiki says; nothing where no links are given.
    `rows` are the store's rows, for a version of what is made of them: equal rows are equal in all of it.
    """

    urls: dict[UrlKey, LinkedUrl]
    spam: dict[int, dict[UrlKey, str]]
    settings: OfWiki = NOTHING_SAID
    rows: Sequence[Sequence[Any]] = ()
    working: Set[UrlKey] = frozenset()


async def find_linked(
    conn: Connection, keys: Sequence[UrlKey], wiki: int, pages: Sequence[int], extent: Extent, *, named: bool = False
) -> Linked:
    """The URLs with these keys, which pages of the wiki link to, and the spam links of the pages.

    Those that an answer of that extent counts as working need no rows. `named`: with the URLs themselves, for a caller
    that has their keys only.
    """
    if not keys:
        return Linked({}, await list_spam_links(conn, wiki, pages))
    few = extent is not Extent.ALL
    values = {**key_columns(keys), **_OUTCOMES, "wiki": wiki, "pages": list(pages), "named": named, "few": few}
    async with conn.cursor(binary=True) as cursor:
        rows = await (await cursor.execute(SQL["find_linked"], values)).fetchall()
    urls = {keys[row[0] - 1]: LinkedUrl(row) for row in rows if row[_STATUS] is not None}
    spam: dict[int, dict[UrlKey, str]] = {}
    settings = NOTHING_SAID
    for row in rows:
        if row[0] > 1:
            continue
        for page, bucket, host, url_key, url in row[_SPAM] or ():
            spam.setdefault(page, {})[UrlKey(bucket, host, url_key)] = url
        if row[_SETTINGS] is not None:
            settings = settings_of(row[_SETTINGS])
    working: Set[UrlKey] = frozenset()
    if few:
        working = set(keys).difference(keys[row[0] - 1] for row in rows if not _is_counted(row, extent))
    return Linked(urls, spam, settings, rows, working)


def _is_counted(row: Sequence[Any], extent: Extent) -> bool:
    is_working = row[_REASON] in _WORKING and row[_ASKED] is not None
    return is_working and (row[_MIME] is None or extent is not Extent.NOTES)


def _claims(rows: Sequence[Sequence[Any]] | None) -> Claims:
    """The claims on one URL; claims on a domain that is only the end of its own are not about it."""
    if not rows:
        return NO_CLAIMS
    distinct: dict[tuple[Any, ...], None] = {}
    for domain, host, reported, of_domain, assumed, *target in rows:
        is_own = domain is not None and domain == registrable_domain(host)
        distinct[(reported, of_domain if is_own else None, assumed if is_own else None, *target)] = None
    own = [row for row in distinct if row[1:3] != (None, None)]
    return claims_of(own or list(distinct))
