"""Reads replies of archive services: text, JSON, moments and URLs of strangers, and refusals that all dialects share.

Nothing here raises on any body.
"""

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urljoin

from weboid.core.archive.captures import Listing, ServiceReply
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.observe.retry_after import retry_after_s
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import MAX_URL, parse

EMPTY: Final = "empty"
"""The reason of an UNKNOWN that claims nothing is there: too weak alone, enough with another voice's NONE."""
LONGEST_REST_S: Final = 86_400.0
"""A service may request a pause of a day at most; longer ones are asked again."""

_EARLIEST: Final = 1990
_STAMP: Final = re.compile(r"[0-9]{14}")
_USER: Final = re.compile(r"[A-Za-z]+:/*[^/?]*@")
_MARKUP: Final = re.compile(r"<(?:[!?]|/?[a-z][a-z0-9]*[\s/>])", re.IGNORECASE)
_RUNTIME_ERROR: Final = "x-archive-wayback-runtime-error"
_FORBIDDEN_BY: Final = ("AccessControlException", "Blocked Site", "Blocked By Robots")
_EXCLUDED: Final = re.compile(
    r"excluded from the wayback machine"
    r"|page cannot be displayed due to robots\.txt"
    r"|\baccess blocked to\b"
    r"|blocked site error"
    r"|blocked by robots",
    re.IGNORECASE,
)
"""Messages of services that do not show a page. They echo its URL too, which has no spaces in normal form."""
_ABSENT: Final = re.compile(
    r"has not archived that url"
    r"|could not be found in this collection"
    r"|resource not in archive"
    r"|not in (?:the |this |our )?archive"
    r"|has not been archived"
    r"|no captures? found",
    re.IGNORECASE,
)
_NO_COLLECTION: Final = re.compile(r"collection not found|no such collection|unknown collection", re.IGNORECASE)


def text_of(body: bytes) -> str:
    """The text of a body in UTF-8, without a byte order mark and blanks at its beginning."""
    return body.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")


def json_of(text: str) -> object | None:
    """The value of a JSON text; None if it is none, or ``null``."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def is_markup(text: str) -> bool:
    """True if a text from `text_of` is HTML or XML; link-format begins with ``<`` too."""
    return _MARKUP.match(text) is not None


def moment_of(stamp: object) -> datetime | None:
    """The moment of 14 digits; None if they are not 14, or if there is no such moment since 1990."""
    if not isinstance(stamp, str) or not _STAMP.fullmatch(stamp):
        return None
    month, day, hour, minute, second = (int(stamp[at : at + 2]) for at in range(4, 14, 2))
    try:
        moment = datetime(int(stamp[:4]), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return moment if moment.year >= _EARLIEST else None


def http_moment_of(text: str) -> datetime | None:
    """The moment of an HTTP date, as in Memento-Datetime, in UTC; None if there is none since 1990."""
    try:
        moment = parsedate_to_datetime(text.strip())
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.year >= _EARLIEST else None


def original_of(text: object) -> str | None:
    """A captured URL as the service spells it, without a fragment; None if it is no URL of a resource, or has a name
    and a password, which normal forms have not."""
    if not isinstance(text, str) or not text.isprintable() or " " in text or len(text) > MAX_URL:
        return None
    original = text.partition("#")[0]
    if _USER.match(original):
        return None
    try:
        parse(original)
    except (InvalidUrl, ValueError):
        return None
    return original


def number_of(value: object, *, most: int) -> int | None:
    """A whole number from 0 to `most`, given as number or in digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most else None


def rest_of(reply: ServiceReply) -> float | None:
    """The pause that a reply requests, in seconds; None if it requests none."""
    rest_s = retry_after_s(reply.headers)
    return min(rest_s, LONGEST_REST_S) if rest_s is not None else None


def location_of(reply: ServiceReply, base: str) -> str | None:
    """The absolute address to which a reply to a request for `base` leads; None if there is none."""
    location = reply.headers.get("location", "").strip()
    try:
        return urljoin(base, location) if location else None
    except ValueError:
        return None


def is_excluded(reply: ServiceReply) -> bool:
    """True if a reply that is no capture says that the service does not show the page (any code, even 200)."""
    if reply.code == 451:
        return True
    runtime_error = reply.headers.get(_RUNTIME_ERROR, "")
    text = text_of(reply.body)
    if not runtime_error and text.startswith("org.archive."):
        runtime_error = text[:1_000]
    if any(word in runtime_error for word in _FORBIDDEN_BY):
        return True
    return (is_markup(text) or reply.code != 200) and _EXCLUDED.search(text) is not None


def says_absent(text: str) -> bool:
    """True if the text of a 404 says in words that nothing is archived."""
    return _ABSENT.search(text) is not None


def says_no_collection(text: str) -> bool:
    """True if the text of a 404 says that the service has no such collection: a wrong base, no word on the URL."""
    return _NO_COLLECTION.search(text) is not None


def error(why: str, reply: ServiceReply | None = None) -> Listing:
    """The listing of a service that did not answer, or not with an answer."""
    return Listing(LookupOutcome.ERROR, why=why, rest_s=rest_of(reply) if reply else None)


def unknown(why: str) -> Listing:
    """The listing of an answer that proves nothing."""
    return Listing(LookupOutcome.UNKNOWN, why=why)


def refusal_of(reply: ServiceReply) -> Listing | None:
    """The listing, in any dialect, of a reply that is neither 200, 404 nor a redirect; None for those."""
    if reply.fault or reply.code is None:
        return error(reply.fault or "network")
    runtime_error = reply.headers.get(_RUNTIME_ERROR, "")
    if reply.code == 429:
        return error("rate-limited", reply)
    if reply.code >= 500:
        is_blocked = any(word in runtime_error for word in _FORBIDDEN_BY)
        return Listing(LookupOutcome.EXCLUDED, why="blocked-site") if is_blocked else error("server-error", reply)
    if is_excluded(reply):
        text = runtime_error + text_of(reply.body)
        is_robots = "Robot" in text or "robots.txt" in text
        why = "legal" if reply.code == 451 else "robots" if is_robots else "blocked-site"
        return Listing(LookupOutcome.EXCLUDED, why=why)
    if reply.code in (401, 403):
        return error("forbidden", reply)
    if reply.code == 200 or reply.code == 404 or 300 <= reply.code < 400:
        return None
    return error("bad-request" if reply.code == 400 else "unexpected-code", reply)
