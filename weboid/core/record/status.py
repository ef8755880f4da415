"""The status byte of a check (U-4): from HTTP codes and back. For its part in a verdict see ``core/record/reasons``.

The numbers are stored in histories and never change their meaning.
"""

from enum import IntEnum
from typing import Final


class Status(IntEnum):
    """One byte for what a check found. `_GROUPS` has the HTTP codes of each; those without codes are Weboid's own."""

    UNTRIED = 0
    FINE = 1
    FINE_ODDLY = 2
    CORRECTED = 7
    MOVED_PERMANENTLY = 8
    FOUND = 9
    SEE_OTHER = 10
    USE_PROXY = 11
    SWITCH_PROXY = 12
    REDIRECTED = 13
    SYNTAX_OR_SERVER_ERROR = 16
    NO_ACCESS = 17
    NOT_FOUND = 18
    NOT_ACCEPTABLE = 19
    STRANGE = 20
    GONE = 21
    UNSUPPORTED_TYPE = 22
    RANGE = 23
    LOCKED = 24
    NOT_EXTENDED = 25
    UNKNOWN_CODE = 26
    METHOD = 32
    REQUEST_TIMEOUT = 33
    TOO_LARGE = 34
    UPGRADE_REQUIRED = 35
    TOO_MANY_REQUESTS = 36
    HEADERS_TOO_LARGE = 37
    NOT_IMPLEMENTED = 38
    BAD_GATEWAY = 39
    UNAVAILABLE = 40
    HTTP_VERSION = 41
    STORAGE = 42
    BANDWIDTH = 43
    SCHEME_SWITCHED = 63
    NETWORK = 64
    DNS_ERROR = 65
    DNS_GONE = 66
    IP_SILENT = 67
    INVALID = 128


BY_NUMBER: Final = {status.value: status for status in Status}
"""Faster than ``Status(number)``, for hundreds of histories at a time."""

_GROUPS: Final[dict[Status, tuple[int, ...]]] = {
    Status.FINE: (200, 304),
    Status.FINE_ODDLY: (201, *range(202, 300), 300),
    Status.MOVED_PERMANENTLY: (301,),
    Status.FOUND: (302,),
    Status.SEE_OTHER: (303,),
    Status.USE_PROXY: (305,),
    Status.SWITCH_PROXY: (306,),
    Status.REDIRECTED: (307, 308),
    Status.SYNTAX_OR_SERVER_ERROR: (400, 414, 422, 431, 500),
    Status.NO_ACCESS: (401, 402, 403, 407, 451),
    Status.NOT_FOUND: (404,),
    Status.NOT_ACCEPTABLE: (406,),
    Status.STRANGE: (409, 411, 412, 417, 418, 420, 424, 425, 428, 444, 449, 506, 508),
    Status.GONE: (410,),
    Status.UNSUPPORTED_TYPE: (415,),
    Status.RANGE: (416,),
    Status.LOCKED: (423,),
    Status.NOT_EXTENDED: (510,),
    Status.METHOD: (405,),
    Status.REQUEST_TIMEOUT: (408,),
    Status.TOO_LARGE: (413,),
    Status.UPGRADE_REQUIRED: (426,),
    Status.TOO_MANY_REQUESTS: (429,),
    Status.NOT_IMPLEMENTED: (501,),
    Status.BAD_GATEWAY: (502, 504),
    Status.UNAVAILABLE: (503,),
    Status.HTTP_VERSION: (505,),
    Status.STORAGE: (507,),
    Status.BANDWIDTH: (509,),
}
_BY_CODE: Final[dict[int, Status]] = {code: status for status, codes in _GROUPS.items() for code in codes}
# 37 stands for HTTP 431, too, but only if the request with the fewest headers is refused as well.
_REPRESENTATIVE: Final[dict[Status, int]] = {status: codes[0] for status, codes in _GROUPS.items()} | {
    Status.HEADERS_TOO_LARGE: 431
}

REDIRECTS: Final[frozenset[Status]] = frozenset(
    {
        Status.MOVED_PERMANENTLY,
        Status.FOUND,
        Status.SEE_OTHER,
        Status.USE_PROXY,
        Status.SWITCH_PROXY,
        Status.REDIRECTED,
    }
)
"""Recorded when a redirect ends well; its target is stored as well (U-4)."""

NO_CODE: Final = 0
"""Stands for the HTTP code of a check that got none."""

HOST_FAILURES: Final[frozenset[Status]] = frozenset(
    {Status.BAD_GATEWAY, Status.NETWORK, Status.DNS_ERROR, Status.DNS_GONE, Status.IP_SILENT}
)
"""Failures of the host as a whole rather than of one of its URLs (C-5)."""


def status_of(code: int) -> Status:
    """The status byte of an HTTP code. 1xx is never final and counts as unknown, like any undefined code."""
    if (status := _BY_CODE.get(code)) is not None:
        return status
    return Status.STRANGE if 400 <= code <= 499 else Status.UNKNOWN_CODE


def http_code(status: Status) -> int | None:
    """The HTTP code that represents a status in answers: the first of its group, or None if HTTP has no such code."""
    return _REPRESENTATIVE.get(status)


def http_codes(status: Status) -> tuple[int, ...]:
    """All HTTP codes that a status stands for, the representative first; empty for Weboid's own statuses."""
    if status is Status.HEADERS_TOO_LARGE:
        return (431,)
    return _GROUPS.get(status, ())


def message_key(status: Status) -> str:
    """The key of the message that names the whole group for people, e.g. ``status-18``."""
    return f"status-{status.value}"
