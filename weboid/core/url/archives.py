"""Recognises URLs of web archives: which service, which archived URL and which moment (A-2), by ``archives.toml``.

Only the URL is read. A URL that does not follow the grammar of its host's paths is an ordinary URL, except on hosts
that may not be offered at all.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, reduce
from typing import Final
from urllib.parse import unquote

from weboid.assets import toml_next_to
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url, parse


class Standing(StrEnum):
    """True if people may be sent to a service."""

    OFFERED = "offered"
    DEAD = "dead"
    """Its snapshots are gone, or have moved to another service."""
    BARRED = "barred"
    """It used its readers' browsers to attack others (A-2): neither offered nor contacted."""
    NO_ARCHIVE = "no-archive"
    """It only redirects to archives, or shows a search engine's latest copy."""


@dataclass(frozen=True, slots=True)
class Archive:
    """A service. `number` is stored and never changes its meaning; `name` is the stable word of every interface.

    `hosts` are in normal form, each with and without ``www.``. `grammars` are paths with the query, the first that fits
    counts; their fields are those of ``archives.toml``.
    """

    number: int
    name: str
    title: str
    hosts: tuple[str, ...]
    grammars: tuple[str, ...]
    standing: Standing = Standing.OFFERED

    @property
    def is_offered(self) -> bool:
        """True if its snapshots may be shown to people and requested."""
        return self.standing is Standing.OFFERED


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of the URL of an archive. `original` is the archived URL, None if it is not contained (short forms).

    `taken` is the moment in UTC, or None if the URL does not contain it. A shortened timestamp stands for its beginning
    (``2009`` = 2009-01-01 00:00).
    """

    archive: Archive
    original: Url | None
    taken: datetime | None


def snapshot_of(url: Url | str) -> Snapshot | None:
    """Reads the URL of an archive; None for every other text. Never raises."""
    try:
        form = url if isinstance(url, Url) else parse(url)
    except InvalidUrl:
        return None
    if form.scheme not in ("http", "https") or form.port not in _PORTS:
        return None
    for archive, pattern in _readers().get(form.host, ()):
        if match := pattern.fullmatch(form.path):
            found = match.groupdict()
            return Snapshot(archive, _original(found), _taken(found))
    return None


def is_calendar(copy: Url) -> bool:
    """True if the URL of an archive lists the copies of a page, of all years or some, and is none itself."""
    return _CALENDAR.match(copy.path) is not None


def is_archive_host(host: str) -> bool:
    """True if a URL with this host, in normal form, may be that of an archive: one look into a table."""
    return host in _readers()


_PORTS: Final = frozenset({0, 80, 443, 8080})

_TABLE: Final = toml_next_to(__file__)
ARCHIVES: Final = tuple(
    Archive(
        row["number"],
        row["name"],
        row["title"],
        tuple(row["hosts"]),
        tuple(row["grammars"]),
        Standing(row.get("standing", Standing.OFFERED)),
    )
    for row in _TABLE["archive"]
)
BY_NUMBER: Final = {archive.number: archive for archive in ARCHIVES}
BY_NAME: Final = {archive.name: archive for archive in ARCHIVES}
BARRED_HOSTS: Final = tuple(
    host for archive in ARCHIVES if archive.standing is Standing.BARRED for host in archive.hosts
)
"""Hosts that are never contacted, with all subdomains (A-2)."""


@cache
def _readers() -> dict[str, list[tuple[Archive, re.Pattern[str]]]]:
    """By host: the archive and the patterns of its paths, in the order in which they are tried."""
    readers: dict[str, list[tuple[Archive, re.Pattern[str]]]] = {}
    for archive in ARCHIVES:
        patterns = [re.compile(_FIELD.sub(lambda field: _TABLE["fields"][field[1]], text)) for text in archive.grammars]
        for host in archive.hosts:
            for name in (host, f"www.{host}"):
                readers[name] = [(archive, pattern) for pattern in patterns]
    return readers


_FIELD: Final = re.compile(r"\{([a-z ]+)\}")
_SCHEME: Final = re.compile(r"(https?|ftp)(?::|%3A)(?:/|%2F)*", re.IGNORECASE)
_CALENDAR: Final = re.compile(r"(?:/[A-Za-z0-9-]+)*/[0-9]*\*/")
_PAIRS: Final = (slice(4, 6), slice(6, 8), slice(8, 10), slice(10, 12), slice(12, 14))
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH_NAME: Final = re.compile(r"([0-9]{4})-([A-Z][a-z]{2})-([0-9]{1,2})")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BASE_62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _original(found: dict[str, str | None]) -> Url | None:
    """The archived URL in normal form. Services accept it without a scheme, and some drop one of the two slashes."""
    text = found.get("url") or unquote(found.get("escaped") or "")
    scheme = _SCHEME.match(text)
    if scheme and "%2F" in scheme[0].upper():
        text = unquote(text)
        scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text.lstrip("/")
    try:
        return parse(f"{scheme[1] if scheme else 'http'}://{rest}")
    except InvalidUrl:
        return None


def _taken(found: dict[str, str | None]) -> datetime | None:
    """The moment of the snapshot; None if the URL has none, or if there is no such moment."""
    try:
        if stamp := found.get("stamp"):
            return _moment(stamp)
        if seconds := found.get("seconds"):
            return _EPOCH + timedelta(seconds=int(seconds))
        if micros := found.get("micros"):
            return _EPOCH + timedelta(
                microseconds=reduce(lambda sum_, digit: 62 * sum_ + _BASE_62.index(digit), micros, 0)
            )
    except (ValueError, OverflowError):
        pass
    return None


def _moment(stamp: str) -> datetime:
    """The beginning of a timestamp's period; a single digit left over at its end is ignored. Raises ValueError."""
    if named := _MONTH_NAME.fullmatch(stamp):
        return datetime(int(named[1]), 1 + _MONTHS.index(named[2]), int(named[3]), tzinfo=UTC)
    digits = re.sub("[^0-9]", "", stamp)
    if len(digits) < 4:
        raise ValueError("not even a year")
    given = [int(digits[pair]) for pair in _PAIRS if len(digits) >= pair.stop]
    month, day, hour, minute, second = (*given, *(1, 1, 0, 0, 0)[len(given) :])
    return datetime(int(digits[:4]), month, day, hour, minute, second, tzinfo=UTC)
