"""The standing of an archived copy in a page: good, deprecated, no copy at all, or one of another page (B-4).

Only addresses are read; answers say if a copy still plays.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from enum import Enum
from typing import Final
from urllib.parse import unquote

from weboid.bot.answers import KnownCopy, KnownLinks, form_of, key_of, meant
from weboid.core.url.archives import Standing, is_archive_host, snapshot_of
from weboid.core.url.spellings import is_same_page, merged
from weboid.core.url.urls import Url, parse
from weboid.core.verdict.verdict import Verdict

_WAYBACK: Final = "wayback"
_INNER: Final = re.compile(r"(?<=[/=*])(?:https?|ftp)(?::|%3A)(?:/|%2F)", re.IGNORECASE)
_NO_COPY: Final = re.compile(r"/(?:save(?:/_embed)?|liveweb|web)/|/wayback/available\b", re.IGNORECASE)
"""The Wayback Machine's forms for saving, for what is there now, for copies without a moment, and for questions."""
_LISTING: Final = re.compile(r"/(?:web/)?[0-9]*\*/", re.IGNORECASE)
_NOT_A_COPY: Final = re.compile(
    r"/(?:(?!details/|stream/|download/|metadata/)[a-z]+/)?(?:save|submit|search)(?=[/?]|\Z)"
    r"|.*/[0-9]*\*/(?:https?|ftp):",
    re.IGNORECASE,
)
"""Pages of other archives for saving, for searching and for lists of copies."""
_SEARCH_CACHES: Final = frozenset(
    {"cc.bingj.com", "cc.msnscache.com", "cachedpages.com", "hghltd.yandex.net", "yandexwebcache.net"}
)
_SEARCH_CACHE: Final = re.compile(r"/search\?(?:.*&)?q=cache(?::|%3a)", re.IGNORECASE)
"""A search engine's latest copy, which changes, and goes with the page."""
_NO_DAY: Final = re.compile(r"/(?:web/)?(?:(?:[0-9]{1,7}|1(?!99[6-9])[0-9]+)(?:[a-z]{2}_)?/|[0-9]+/https?:/*\Z)", re.I)
"""A moment that is no day, such as a year, or is before 1996, or has no URL: which copy it leads to changes."""
_RAW_FLAG: Final = re.compile(r"(?<=/)(\d{8,14})(?:id|if|im|js|cs|mp|oe|fw)_(?=/)")
_NOT_SECURE: Final = re.compile(r"\A(?:http:)?(?=//)", re.IGNORECASE)
_PLAYED: Final = re.compile(r"\A(?:https?:)?//[^/]+/(?:web/)?(?=[0-9]{4,14}(?:[a-z]{2}_)?/)", re.IGNORECASE)
"""The beginning of a copy's address in the Wayback Machine, which has had a dozen hosts."""
_MOST_NESTED: Final = 3
_NO_SCHEME: Final = re.compile(r"web\.archive\.org/(?:web/)?[0-9]{14}/", re.IGNORECASE)
_TELLING: Final = 12
"""Characters of a path that no other site has by chance."""


class CopyStanding(Enum):
    """The worth of a copy that stands in a page."""

    ABSENT = "absent"
    GOOD = "good"
    DEPRECATED = "deprecated"
    """At a service that is gone, or to which nobody may be sent (A-2)."""
    INVALID = "invalid"
    """No copy, for certain: the link's own address, one for saving, searching or listing, a front page, the cache of a
    search engine, a copy of no certain day or of the future, or one that is dead itself."""
    FOREIGN = "foreign"
    """Of another page."""


def standing_of(address: str, url: str, answers: KnownLinks, now: datetime) -> CopyStanding:
    """The standing of the copy at `address` for the link `url`, both as written in the page."""
    address = innermost(address)
    snapshot = snapshot_of(meant(address))
    if snapshot is None:
        return _standing_of_unknown(address, url)
    path = parse(meant(address)).path
    if is_wayback(address) and any(form.match(path) for form in (_LISTING, _NO_DAY)):
        return CopyStanding.INVALID
    if snapshot.archive.standing is Standing.NO_ARCHIVE or _NOT_A_COPY.match(path):
        return CopyStanding.INVALID
    if snapshot.archive.standing is not Standing.OFFERED:
        return CopyStanding.DEPRECATED
    taken = snapshot.taken
    if (snapshot.archive.name == _WAYBACK and taken is None) or (taken is not None and taken.astimezone(UTC) > now):
        return CopyStanding.INVALID
    if snapshot.original is not None and not is_same(snapshot.original, url):
        return CopyStanding.FOREIGN
    known = answers.of(address)
    return CopyStanding.INVALID if known is not None and known.verdict is Verdict.DEAD else CopyStanding.GOOD


def is_same(original: Url, url: str) -> bool:
    """True if an archived URL may be the page of a link, generously: what is called another page is one for certain."""
    form = form_of(url)
    read = form_of(str(original)) or original  # in wikitext ``&amp;`` is ``&``, in the address of a copy, too
    return form is None or merged(read) == merged(form)


def is_same_link(one: str, other: str) -> bool:
    """True if two links, both as written, may be the same page, as generously."""
    form = form_of(one)
    return form is None or is_same(form, other)


def is_moved(address: str, url: str) -> bool:
    """True if the copy at `address` may be the page of a link under the other name of its site, or the one to which
    the link only leads on (``/deref?url=…``)."""
    snapshot, form = snapshot_of(meant(innermost(address))), form_of(url)
    original = None if snapshot is None else snapshot.original
    if original is None or form is None or len(original.path) < _TELLING:
        return False
    return original.path == form.path or f"//{original.host}{original.path}" in unquote(url)


def innermost(address: str) -> str:
    """The address of the copy that is shown: not that of its own copy, nor one without ``https:``."""
    if _NO_SCHEME.match(address):
        address = f"https://{address}"
    for _ in range(_MOST_NESTED):
        inner = _archived_in(address)
        if inner is None or (snapshot := snapshot_of(meant(inner))) is None or snapshot.taken is None:
            break
        address = inner
    return address


def original_in(address: str) -> str | None:
    """The link in the address of a copy, spelled as there; None if `address` is no copy's or does not contain it.

    Copies are known by their services; addresses for saving and listing count, too.
    """
    return _archived_in(innermost(address))


def _archived_in(address: str) -> str | None:
    snapshot = snapshot_of(meant(address))
    if snapshot is None and not _is_no_copy(address):
        return None
    inner = _INNER.search(address, 8)
    if inner is not None and "%" not in inner[0]:
        spelled = address[inner.start() :]
        if snapshot is None or snapshot.original is None or key_of(spelled) == str(snapshot.original):
            return spelled if key_of(spelled) else None
    return str(snapshot.original) if snapshot is not None and snapshot.original is not None else None


def copy_at(address: str) -> KnownCopy | None:
    """The copy at an address in a page, with its moment; None if the address does not say that."""
    address = innermost(address)
    snapshot = snapshot_of(meant(address))
    return None if snapshot is None or snapshot.taken is None else KnownCopy(meant(address), snapshot.taken)


def wayback_copy(stamp: str, url: str) -> KnownCopy | None:
    """The copy of a URL in the Wayback Machine, of a moment of 14 digits; None for fewer."""
    return copy_at(f"https://web.archive.org/web/{stamp}/{url}") if re.fullmatch(r"[0-9]{14}", stamp) else None


def for_readers(address: str) -> str:
    """The address as it is written: that of no copy of a copy, by https at the Wayback Machine, and never raw."""
    address = innermost(address)
    if not is_wayback(address):
        return address
    address = _PLAYED.sub("https://web.archive.org/web/", _NOT_SECURE.sub("https:", address, 1), 1)
    return _RAW_FLAG.sub(r"\1", address, 1)


def is_fit(copy: KnownCopy, url: str, now: datetime) -> bool:
    """True if a known copy may be written for a link."""
    snapshot = snapshot_of(copy.address)
    if snapshot is None:
        # A known archive that the operator has at an address of their own: of which link it is, that alone says.
        inner = _INNER.search(copy.address, 8)
        is_own = inner is not None and is_same_link(copy.address[inner.start() :], url)
        return is_own and _standing_of_unknown(copy.address, url) is CopyStanding.GOOD
    is_good = standing_of(copy.address, url, KnownLinks(), now) is CopyStanding.GOOD
    return is_good and snapshot.archive.is_offered and copy.taken.astimezone(UTC) <= now


def chosen_copy(copies: Iterable[KnownCopy], url: str, near: date | None, now: datetime) -> KnownCopy | None:
    """The copy to write for a link: one that somebody chose, else the one `near` to that day, else the first."""
    fit = [copy for copy in copies if is_fit(copy, url, now)]
    suggested = [copy for copy in fit if copy.is_suggested]
    if suggested or near is None:
        return next(iter(suggested or fit), None)
    return min(fit, key=lambda copy: abs(copy.taken.astimezone(UTC).date() - near), default=None)


def _standing_of_unknown(address: str, url: str) -> CopyStanding:
    """The standing of an address of no known archive: somebody chose it, so it is a copy if in doubt."""
    form, own = form_of(address), form_of(url)
    if form is None or _is_no_copy(address):
        return CopyStanding.INVALID
    is_archive = is_archive_host(form.host)
    is_none = is_archive and _NOT_A_COPY.match(form.path) is not None
    is_front = form.path in ("", "/")
    if own is not None:
        is_none = is_none or is_same_page(form, own)
        is_front = is_front and (is_archive or form.host.removeprefix("www.") == own.host.removeprefix("www."))
    is_cache = form.host.removeprefix("www.") in _SEARCH_CACHES or _SEARCH_CACHE.match(form.path) is not None
    return CopyStanding.INVALID if is_none or is_front or is_cache else CopyStanding.GOOD


def _is_no_copy(address: str) -> bool:
    if (form := form_of(address)) is None or not is_archive_host(form.host):
        return False
    return form.host.endswith("archive.org") and _NO_COPY.match(form.path) is not None


def is_wayback(address: str) -> bool:
    """True if an address is that of a copy in the Wayback Machine."""
    snapshot = snapshot_of(meant(address))
    return snapshot is not None and snapshot.archive.name == _WAYBACK
