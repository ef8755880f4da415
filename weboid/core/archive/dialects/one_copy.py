"""Reads the APIs that name at most one copy of a URL: the Wayback Machine's availability, and Wikiwix's.

Faults of availability look like its nothing, so that its nothing is UNKNOWN for `EMPTY`: never a NONE alone.
A copy of today is doubtful at Wikiwix, which fetches when asked; it is listed, and refused by the rule of choice.
"""

from datetime import UTC, datetime
from typing import Final

from weboid.core.archive.captures import Capture, Listing
from weboid.core.archive.dialects.link_format import memento_at
from weboid.core.archive.dialects.replies import EMPTY, error, json_of, moment_of, number_of, text_of, unknown
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.url.urls import Url

_LATEST_S: Final = 253_402_300_799
"""The end of the year 9999."""


def available_of(body: bytes, url: Url) -> Listing:
    """Reads a reply of availability with code 200."""
    data = json_of(text_of(body))
    if not isinstance(data, dict):
        return error("unreadable")
    snapshots = data.get("archived_snapshots")
    if snapshots in ({}, []):
        return unknown(EMPTY)
    closest = snapshots.get("closest") if isinstance(snapshots, dict) else None
    if not isinstance(closest, dict):
        return _no_statement(data)
    if closest.get("available") not in (True, "true"):
        return unknown("unavailable")
    taken = moment_of(closest.get("timestamp"))
    inside = _memento(closest.get("url"), url)
    if not taken or (inside and inside.taken != taken):
        return unknown("bad-rows")
    status = number_of(closest.get("status"), most=999)
    # Without its address: the API gives it with http.
    capture = Capture(taken, inside.original if inside else str(url), status if status and status >= 100 else None)
    return Listing(LookupOutcome.FOUND, (capture,))


def wikiwix_of(body: bytes, url: Url) -> Listing:
    """Reads a reply of Wikiwix (``apiresponse=1``) with code 200; with it come faults of its database, as text."""
    data = json_of(text_of(body))
    if not isinstance(data, dict):
        return error("unreadable")
    status = number_of(data.get("status"), most=999)
    if not status:
        return _no_statement(data)
    if status >= 400:
        return Listing(LookupOutcome.NONE)
    inside = _memento(data.get("longformurl"), url)
    since_1970_s = number_of(data.get("timestamp"), most=_LATEST_S)
    taken = moment_of(data.get("datetime")) or (datetime.fromtimestamp(since_1970_s, UTC) if since_1970_s else None)
    if not inside or inside.taken != taken:
        return unknown("no-statement")
    mime = data.get("contenttype")
    kind = mime.partition(";")[0].strip().lower() if isinstance(mime, str) else ""
    return Listing(LookupOutcome.FOUND, (inside._replace(status=status, mime=kind if 0 < len(kind) <= 100 else None),))


def _memento(address: object, url: Url) -> Capture | None:
    return memento_at(address, str(url)) if isinstance(address, str) else None


def _no_statement(data: dict[str, object]) -> Listing:
    return error("error-object") if "message" in data or "error" in data else unknown("no-statement")
