"""Retry-After (RFC 9110 §10.2.3): how long a server wants to be left alone. Pure."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, None where that is not said or cannot be read; names of `headers` are lower case, or of any.

    A date is read against the server's own clock (its Date), so that ours plays no part.
    """
    wanted = headers.get("retry-after", "").strip()
    if wanted.isascii() and wanted.isdigit():
        return float(wanted[:9])
    until, now = _moment(wanted), _moment(headers.get("date", ""))
    return max(0.0, (until - now).total_seconds()) if until and now else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else None
