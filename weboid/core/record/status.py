"""The status byte of a check (U-4): from HTTP codes and back. For its part in a verdict see ``core/record/reasons``.

The numbers are stored in histories and never change their meaning.
"""

from enum import IntEnum
from typing import Final, Self


class Status(IntEnum):
    """One byte for the result of a check, with the HTTP codes that it stands for; those without are Weboid's own."""

    codes: tuple[int, ...]
    """The representative one first."""

    def __new__(cls, number: int, *codes: int) -> Self:
        member = int.__new__(cls, number)
        member._value_ = number
        member.codes = codes
        return member

    UNTRIED = 0
    FINE = 1, 200, 304
    FINE_ODDLY = 2, 201, *range(202, 300), 300
    CORRECTED = 7
    MOVED_PERMANENTLY = 8, 301
    FOUND = 9, 302
    SEE_OTHER = 10, 303
    USE_PROXY = 11, 305
    SWITCH_PROXY = 12, 306
    REDIRECTED = 13, 307, 308
    SYNTAX_OR_SERVER_ERROR = 16, 400, 414, 422, 431, 500
    NO_ACCESS = 17, 401, 402, 403, 407, 451
    NOT_FOUND = 18, 404
    NOT_ACCEPTABLE = 19, 406
    STRANGE = 20, 409, 411, 412, 417, 418, 420, 424, 425, 428, 444, 449, 506, 508
    GONE = 21, 410
    UNSUPPORTED_TYPE = 22, 415
    RANGE = 23, 416
    LOCKED = 24, 423
    NOT_EXTENDED = 25, 510
    UNKNOWN_CODE = 26
    METHOD = 32, 405
    REQUEST_TIMEOUT = 33, 408
    TOO_LARGE = 34, 413
    UPGRADE_REQUIRED = 35, 426
    TOO_MANY_REQUESTS = 36, 429
    HEADERS_TOO_LARGE = 37, 431  # only if the request with the fewest headers is refused as well; 16 otherwise
    NOT_IMPLEMENTED = 38, 501
    BAD_GATEWAY = 39, 502, 504
    UNAVAILABLE = 40, 503
    HTTP_VERSION = 41, 505
    STORAGE = 42, 507
    BANDWIDTH = 43, 509
    SCHEME_SWITCHED = 63
    NETWORK = 64
    DNS_ERROR = 65
    DNS_GONE = 66
    IP_SILENT = 67
    INVALID = 128


BY_NUMBER: Final = {status.value: status for status in Status}
"""Faster than ``Status(number)``, for hundreds of histories at a time."""
# Of two with the same code the first counts.
_BY_CODE: Final = {code: status for status in reversed(Status) for code in status.codes}

REDIRECTS: Final = frozenset({Status.MOVED_PERMANENTLY, Status.FOUND, Status.SEE_OTHER, Status.REDIRECTED})
"""Recorded when a redirect ends well; its target is stored as well (U-4). 305 and 306 are never followed."""

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
    """The HTTP code that represents a status in answers; None if HTTP has no such code."""
    return status.codes[0] if status.codes else None
