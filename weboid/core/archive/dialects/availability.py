"""Reads the Wayback Machine's availability API; it names at most one capture of a URL.

Its faults look like its nothing, so that its nothing is UNKNOWN for `EMPTY`: a voice beside another one, never alone.
"""

from collections.abc import Mapping

from weboid.core.archive.captures import Capture, Listing
from weboid.core.archive.dialects.link_format import memento_at
from weboid.core.archive.dialects.replies import EMPTY, error, json_of, moment_of, number_of, text_of, unknown
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.url.urls import Url


def available_of(body: bytes, url: Url) -> Listing:
    """What a reply with code 200 says."""
    data = json_of(text_of(body))
    if not isinstance(data, dict):
        return error("unreadable")
    snapshots = data.get("archived_snapshots")
    if snapshots in ({}, []):
        return unknown(EMPTY)
    closest = snapshots.get("closest") if isinstance(snapshots, dict) else None
    if not isinstance(closest, dict):
        return unknown("no-statement") if "message" not in data and "error" not in data else error("error-object")
    if closest.get("available") not in (True, "true"):
        return unknown("unavailable")
    capture = _capture(closest, url)
    return Listing(LookupOutcome.FOUND, (capture,)) if capture else unknown("bad-rows")


def _capture(closest: Mapping[str, object], url: Url) -> Capture | None:
    """The capture, without its address: the API gives it with http."""
    taken = moment_of(closest.get("timestamp"))
    address = closest.get("url")
    inside = memento_at(address, "", str(url)) if isinstance(address, str) else None
    if not taken or (inside and inside.taken != taken):
        return None
    status = number_of(closest.get("status"), most=999)
    return Capture(taken, inside.original if inside else str(url), status if status and status >= 100 else None)
