"""Sorts the rows that a service lists: those that may show what was cited, and why each other one may not (A-1)."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.captures import Capture, in_utc
from weboid.core.document.portrait import BLANK, Portrait
from weboid.core.url.spellings import archived, file_extension, is_same_page, merged
from weboid.core.url.urls import Url

SHORT_BYTES: Final = 700
"""A shorter copy of HTML, compressed and with its headers, is mostly a stub; it is taken only if there is no other."""
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
RESERVE: Final = frozenset({203, 206, 226})
"""226 is how archives write what FTP servers gave."""
GOOD: Final = 200
_GONE: Final = frozenset({404, 410})
_EMPTY: Final = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
"""The digest of an empty body, which all redirects share."""
_FIRST: Final = datetime(1991, 8, 6, tzinfo=UTC)
"""The first page of the web: nothing is older."""
_SEVERAL: Final = 2
"""If so many other pages of a host have the same content, it is that of an error page or a parking page."""
REVISIT: Final = "warc/revisit"
"""The type of a capture whose content its archive has already."""
_METHOD: Final = re.compile(r"\A[A-Za-z0-9-]{2,8}:")
"""Some indexes write ``sha1:`` before a digest."""
_HTML: Final = ("text/html", "application/xhtml")


@dataclass(frozen=True, slots=True)
class Wish:
    """The copy to find: of `url` as it was at the moment `cited` (in UTC), that of the citation.

    `last_alive` is the day of the last check that found the page alive, None if that is not known; `portrait` what is
    remembered of the living document (C-11), `mime` its keyword (U-6); `today` is the day of the look-up.
    """

    url: Url
    cited: datetime
    today: date
    last_alive: date | None = None
    portrait: Portrait | None = None
    mime: str | None = None


class PassedOver(NamedTuple):
    """A capture that was passed over, for the stable word `why`. `stamp` has 14 digits."""

    stamp: int
    why: str


class Row(NamedTuple):
    """A row as it is compared: `given` as the service lists it, the rest in one form for all services.

    `form` is its URL, None if it has none of ours. A revisit has the status, type and length of what it repeats;
    `status` of one that nothing in the listing explains is None, and `is_bare`: it may repeat what another URL showed.
    """

    given: Capture
    form: Url | None
    taken: datetime
    status: int | None
    mime: str
    digest: str
    length: int | None
    is_bare: bool = False


@dataclass(slots=True)
class SortedRows:
    """The rows that may be it, those chosen only if there is no other, redirects that may lead to it, and the rest with
    their reasons. `died` is the moment at which the rows show that the page was gone."""

    good: list[Row] = field(default_factory=list)
    reserve: list[Row] = field(default_factory=list)
    redirects: list[Row] = field(default_factory=list)
    passed: list[PassedOver] = field(default_factory=list)
    died: datetime | None = None


def sort_rows(captures: Iterable[Capture], wish: Wish) -> SortedRows:
    """Sorts the rows of a listing; rows that occur twice count once."""
    rows = [_row(capture) for capture in set(captures)]
    result = SortedRows()
    pages: list[Row] = []
    bare: list[Row] = []
    for row in rows:
        if why := _wrong_row(row, wish):
            result.passed.append(PassedOver(stamp_of(row.taken), why))
        else:
            pages.append(row)
    pages = _resolved(pages)
    result.died = None if wish.last_alive is not None else _death_in(pages)
    shared = _shared_digests(rows, wish.url)
    stated = any(row.status == GOOD for row in pages)
    for row in pages:
        why = _wrong_moment(row, wish, result.died) or _wrong_content(row, wish, shared)
        if why == "redirect":
            result.redirects.append(row)
        elif why:
            result.passed.append(PassedOver(stamp_of(row.taken), why))
        elif row.is_bare:
            bare.append(row)
        else:
            (result.reserve if _is_reserve(row, stated=stated) else result.good).append(row)
    if result.good or result.reserve or result.redirects:
        result.passed += (PassedOver(stamp_of(row.taken), "revisit") for row in bare)
    else:
        result.reserve = bare
    result.passed.sort()
    return result


def _death_in(pages: Sequence[Row]) -> datetime | None:
    """The moment at which rows of one page show that it was gone: the first 404 or 410 after a 200, unless a content
    that had been there before it was there again afterwards (D-126)."""
    good = [row for row in pages if row.status == GOOD]
    if not good:
        return None
    born = min(row.taken for row in good)
    first: dict[str, datetime] = {}
    last: dict[str, datetime] = {}
    for row in good:
        if row.digest:
            first[row.digest] = min(row.taken, first.get(row.digest, row.taken))
            last[row.digest] = max(row.taken, last.get(row.digest, row.taken))
    gone = sorted(row.taken for row in pages if row.status in _GONE and row.taken > born)
    known = sorted((first[digest], last[digest]) for digest in first)
    next_known, seen_until = 0, born
    for at in gone:
        while next_known < len(known) and known[next_known][0] < at:
            seen_until = max(seen_until, known[next_known][1])
            next_known += 1
        if seen_until <= at:
            return at
    return None


def wants_file(wish: Wish) -> bool:
    """True if the cited document is certainly no HTML: by its type when it lived, else by its path."""
    if wish.mime is not None:
        return True
    if wish.portrait is not None and wish.portrait != BLANK:
        return False
    return file_extension(wish.url) is not None


def _row(given: Capture) -> Row:
    digest = _METHOD.sub("", given.digest or "", count=1).upper()
    mime = (given.mime or "").partition(";")[0].strip().lower()
    taken = in_utc(given.taken)
    return Row(given, archived(given.original), taken, given.status, mime, digest.strip("-"), given.length)


def _wrong_row(row: Row, wish: Wish) -> str:
    """The reason if a row cannot be of the cited page at all."""
    if row.taken < _FIRST:
        return "bad-stamp"
    if row.taken.date() >= wish.today:
        return "future" if row.taken.date() > wish.today else "today"
    return "" if row.form is not None and is_same_page(row.form, wish.url) else "other-page"


def _wrong_moment(row: Row, wish: Wish, died: datetime | None) -> str:
    """The reason if a row is too late. The page ended at some time on its last day alive or the next one."""
    if wish.last_alive is not None:
        return "after-death" if (row.taken.date() - wish.last_alive).days > 1 else ""
    return "after-death" if died is not None and row.taken >= died and row.status not in _GONE else ""


def _wrong_content(row: Row, wish: Wish, shared: set[str]) -> str:
    """The reason if a row of the page, captured in time, does not show it."""
    if row.is_bare and row.digest in ("", _EMPTY):
        return "revisit"
    if row.status in REDIRECTS:
        return "redirect"
    if row.status in _GONE:
        return "gone"
    if row.status is not None and row.status != GOOD and row.status not in RESERVE:
        return "status"
    if row.digest == _EMPTY or (row.length is not None and row.length <= 0):
        return "empty"
    if row.digest in shared:
        return "shared-content"
    return "wrong-type" if row.mime.startswith(_HTML) and wants_file(wish) else ""


def _is_reserve(row: Row, *, stated: bool) -> bool:
    """True if a row is chosen only if there is no other. `stated`: some rows say that they are good."""
    if row.status in RESERVE or (row.status is None and stated):
        return True
    return row.length is not None and row.length < SHORT_BYTES and row.mime.startswith(_HTML)


def _resolved(pages: list[Row]) -> list[Row]:
    """The rows, each revisit (the same content again) with the fields of the nearest row before it with that content,
    else of the next one."""
    alike: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(pages, key=lambda one: (one.taken, repr(one))):
        if row.digest and row.digest != _EMPTY and row.mime != REVISIT and row.status is not None:
            alike[row.digest].append(row)
    result = []
    for row in pages:
        if row.mime != REVISIT:
            result.append(row)
        elif same := alike.get(row.digest):
            place = bisect_right(same, row.taken, key=lambda one: one.taken)
            seen = same[max(0, place - 1)]
            result.append(row._replace(status=seen.status, mime=seen.mime, length=seen.length))
        else:
            result.append(row._replace(status=None, is_bare=True))
    return result


def _shared_digests(rows: Iterable[Row], url: Url) -> set[str]:
    """The contents that several other pages of the host have, too, if a listing has other pages at all."""
    own = merged(url)
    others: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.digest and row.digest != _EMPTY and row.form not in (None, url) and (page := merged(row.form)) != own:
            others[row.digest].add(page)
    return {digest for digest, pages in others.items() if len(pages) >= _SEVERAL}
