"""Reads Wikiwix's API (``apiresponse=1``); it names at most one copy of a URL.

A copy of today is doubtful, since Wikiwix fetches when asked; it is listed here, and refused by the rule of choice.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from weboid.core.archive.captures import Capture, Listing
from weboid.core.archive.dialects.link_format import memento_at
from weboid.core.archive.dialects.replies import error, json_of, moment_of, number_of, text_of, unknown
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.url.urls import Url

_LATEST_S = 253_402_300_799
"""The end of the year 9999."""


def wikiwix_of(body: bytes, url: Url) -> Listing:
    """What a reply with code 200 says; a fault of its database comes as bare text with code 200."""
    data = json_of(text_of(body))
    if not isinstance(data, dict):
        return error("unreadable")
    status = number_of(data.get("status"), most=999)
    if not status:
        return error("error-object") if "message" in data or "error" in data else unknown("no-statement")
    if status >= 400:
        return Listing(LookupOutcome.NONE)
    capture = _capture(data, status, url)
    return Listing(LookupOutcome.FOUND, (capture,)) if capture else unknown("no-statement")


def _capture(data: Mapping[str, object], status: int, url: Url) -> Capture | None:
    address = data.get("longformurl")
    inside = memento_at(address, "", str(url)) if isinstance(address, str) else None
    taken = moment_of(data.get("datetime")) or _moment(data.get("timestamp"))
    if not inside or not taken or inside.taken != taken:
        return None
    mime = data.get("contenttype")
    kind = mime.partition(";")[0].strip().lower() if isinstance(mime, str) else ""
    return Capture(taken, inside.original, status, kind if 0 < len(kind) <= 100 else None, address=inside.address)


def _moment(seconds: object) -> datetime | None:
    since_1970 = number_of(seconds, most=_LATEST_S)
    return datetime.fromtimestamp(since_1970, UTC) if since_1970 else None
