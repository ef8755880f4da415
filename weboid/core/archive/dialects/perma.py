"""Reads Perma.cc's API of public copies: what a short address stands for, which itself contains neither URL nor moment.

Private copies are not told, so that not found says nothing.
"""

import re
from datetime import UTC, datetime
from typing import Final

from weboid.core.archive.captures import Capture, Listing, ServiceReply
from weboid.core.archive.dialects.replies import error, json_of, original_of, refusal_of, text_of, unknown
from weboid.core.archive.outcomes import LookupOutcome

_CODE: Final = re.compile(r"[0-9A-Z]{4}-[0-9A-Z]{4}")
_API: Final = "https://api.perma.cc/v1/public/archives"


def copy_request(code: str) -> str:
    """The address that tells of a short code such as ``W5MF-N9EV``. Raises ValueError for what is none."""
    if not _CODE.fullmatch(code.upper()):
        raise ValueError(f"no code of Perma.cc: {code}")
    return f"{_API}/{code.upper()}/"


def copy_listing_of(reply: ServiceReply, code: str) -> Listing:
    """What the reply says: the one copy, with its own address. Never raises."""
    if refusal := refusal_of(reply):
        return refusal
    if reply.code != 200:
        return unknown("not-found") if reply.code == 404 else error("redirected")
    data = json_of(text_of(reply.body))
    if not isinstance(data, dict):
        return error("unreadable")
    if data.get("guid") != code.upper():
        return error("error-object")
    capture = _capture(data, code.upper())
    return Listing(LookupOutcome.FOUND, (capture,)) if capture else unknown("bad-rows")


def _capture(data: dict[str, object], code: str) -> Capture | None:
    original, created = original_of(data.get("url")), data.get("creation_timestamp")
    try:
        taken = datetime.fromisoformat(created).astimezone(UTC) if isinstance(created, str) else None
    except (ValueError, OverflowError):
        return None
    captures = data.get("captures")
    listed = captures if isinstance(captures, list) else []
    primary = [capture for capture in listed if isinstance(capture, dict) and capture.get("role") == "primary"]
    if not original or not taken or not any(capture.get("status") == "success" for capture in primary):
        return None
    return Capture(taken.replace(microsecond=0), original, address=f"https://perma.cc/{code}")
