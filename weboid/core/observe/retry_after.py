"""Parses Retry-After (RFC 9110 §10.2.3): how long a client should wait. Pure."""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

_SHORT_S: Final = 60.0
"""A shorter pause is what some servers name with every error of their own: Varnish 5 s, Fastly none (D-1)."""
_SPAN: Final = re.compile(r"(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d*)?)s?)?", re.ASCII)
"""Seconds; also with a fraction, or as some programs write a span of time, ``1m30s``."""


def asks_to_wait(code: int, headers: Mapping[str, str]) -> bool:
    """True if Retry-After says that an answer holds for now only; of a missing page it says nothing."""
    if "retry-after" not in headers or code in (404, 410):
        return False
    pause_s = retry_after_s(headers)
    return pause_s is None or pause_s >= _SHORT_S


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait; None if the header is missing or cannot be read.

    Names of `headers` are lower case, or the mapping ignores case. A date is compared with the server's own clock
    (its Date header), so that ours does not matter.
    """
    given = headers.get("retry-after", "").strip()
    if parts := _SPAN.fullmatch(given):
        hours, minutes, seconds = (float(part or 0) for part in parts.groups())
        return min(3600 * hours + 60 * minutes + seconds, 999_999_999)
    until, now = _moment(given), _moment(headers.get("date", ""))
    return max(0.0, (until - now).total_seconds()) if until and now else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else None
