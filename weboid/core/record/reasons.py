"""The list of reasons for the result of a check, each with its outcome (U-7, C-8).

An outcome follows from its reason alone, so that a stored record can be judged again. The numbers are stored and never
change their meaning; the words are the stable vocabulary of every interface.
"""

from enum import Enum, StrEnum, unique
from typing import Final, Self

from weboid.core.record.status import REDIRECTS, Status, http_code


class Outcome(StrEnum):
    """The outcome of one check. Only FAILING is a strike; REFUSED = the server answers, but not to us."""

    WORKING = "working"
    DOUBTFUL = "doubtful"
    REFUSED = "refused"
    FAILING = "failing"


_W, _D, _R, _F = Outcome.WORKING, Outcome.DOUBTFUL, Outcome.REFUSED, Outcome.FAILING


@unique
class Reason(Enum):
    """A reason as (stored number, outcome); `word` is its name in all interfaces."""

    number: int
    outcome: Outcome

    __hash__ = object.__hash__  # as of verdicts

    def __new__(cls, number: int, outcome: Outcome) -> Self:
        member = object.__new__(cls)
        member._value_ = number
        member.number = number
        member.outcome = outcome
        return member

    def __init__(self, _: int, __: Outcome) -> None:
        # The stable word, e.g. ``not-found``.
        self.word: str = self._name_.lower().replace("_", "-")

    OK = 1, _W
    MOVED = 2, _W
    CODE_CORRECTED = 3, _W
    NEEDS_GET = 4, _W
    NEEDS_HTTP = 5, _W
    NEEDS_HTTPS = 6, _W
    NEEDS_REFERRER = 7, _W
    # Never the results of checks: the wiki itself lists it as always alive, always dead, or behind a login (U-11).
    PERMALIVE = 8, _W
    PERMADEAD = 89, _F
    SUBSCRIPTION = 47, _D

    REDIRECT_TO_ROOT = 20, _D
    REDIRECT_TO_LOGIN = 21, _D
    SOFT_404 = 22, _D
    PARKED = 23, _D
    FOR_SALE = 24, _D
    REPLACED = 25, _D
    # Of a server, a panel or a hosting service, where nobody has put a site yet or any more.
    PLACEHOLDER = 36, _D
    # The hosting service has closed the account.
    SUSPENDED = 37, _D
    # The host sends this short page for everything, and nothing on it says why; the range of doubts is full.
    SAME_EVERYWHERE = 46, _D
    # Doubts, not failures: it is our own policy not to follow there.
    REDIRECT_TO_SCHEME = 26, _D
    NOT_PUBLIC = 27, _D
    # It failed here and answered when checked from the second vantage point (C-14).
    DISPUTED = 28, _D
    # Never requested: its path would be more than one line of the protocol (C-10).
    UNSAFE = 29, _D
    # Doubts, not failures: people can click through the warning, and browsers fetch a missing intermediate (C-9, D-5).
    CERTIFICATE_EXPIRED = 30, _D
    CERTIFICATE_WRONG_HOST = 31, _D
    CERTIFICATE_SELF_SIGNED = 32, _D
    CERTIFICATE_UNKNOWN_ISSUER = 33, _D
    # Never the result of a check: so many people report that it works by hand that the checks are not believed (H-3).
    REPORTED = 34, _D
    # Never requested: our own policy again (C-13).
    BAD_PORT = 35, _D
    # Doubts, not failures: a limit of ours ended the check (bytes of headers, time of all hops; D-470), or a redirect
    # names no target, where browsers show its body. There are living pages behind longer chains, too; the number of
    # those is of the time when they were failures.
    OUR_LIMIT = 38, _D
    TOO_MANY_REDIRECTS = 69, _D

    LOGIN = 40, _R
    PAYMENT = 41, _R
    FORBIDDEN = 42, _R
    LEGAL = 43, _R
    RATE_LIMIT = 44, _R
    BOT_WALL = 45, _R
    # The site says that it is being repaired: it proves nothing, and ends nothing. The number is of the time when it
    # was a doubt at once.
    MAINTENANCE = 39, _R
    # GET is allowed wherever there is a page for people (RFC 9110, 9.1): who refuses it refuses us, and says nothing
    # of the page. The number is of the time when it was a failure (D-121).
    METHOD = 63, _R

    NOT_FOUND = 60, _F
    GONE = 61, _F
    BAD_REQUEST = 62, _F
    STRANGE_CODE = 64, _F
    SERVER_ERROR = 65, _F
    GATEWAY = 66, _F
    UNAVAILABLE = 67, _F
    REDIRECT_LOOP = 68, _F
    REDIRECT_BROKEN = 70, _F

    DNS_GONE = 80, _F
    DNS_ERROR = 81, _F
    CONNECTION_REFUSED = 82, _F
    RESET = 83, _F
    TIMEOUT = 84, _F
    UNREACHABLE = 85, _F
    PROTOCOL = 86, _F
    TLS = 87, _F
    HOST_DOWN = 88, _F


BY_NUMBER: Final[dict[int, Reason]] = {reason.number: reason for reason in Reason}
BY_WORD: Final[dict[str, Reason]] = {reason.word: reason for reason in Reason}


def network_status(fault: Reason, *, host_is_ip: bool) -> Status:
    """The status byte (64–67) of a contact without an HTTP answer."""
    if host_is_ip and fault in (Reason.TIMEOUT, Reason.UNREACHABLE, Reason.CONNECTION_REFUSED):
        return Status.IP_SILENT
    return {Reason.DNS_GONE: Status.DNS_GONE, Reason.DNS_ERROR: Status.DNS_ERROR}.get(fault, Status.NETWORK)


_BY_CODE: Final[dict[int, Reason]] = {
    300: Reason.OK,
    304: Reason.OK,
    401: Reason.LOGIN,
    402: Reason.PAYMENT,
    403: Reason.FORBIDDEN,
    404: Reason.NOT_FOUND,
    405: Reason.METHOD,
    407: Reason.LOGIN,
    408: Reason.TIMEOUT,
    410: Reason.GONE,
    429: Reason.RATE_LIMIT,
    451: Reason.LEGAL,
    501: Reason.METHOD,
    502: Reason.GATEWAY,
    503: Reason.UNAVAILABLE,
    504: Reason.GATEWAY,
    509: Reason.RATE_LIMIT,
    # By then it was requested again as browsers do: bot filters answer this, servers without the page do not.
    406: Reason.BOT_WALL,
}
# Registered with IANA; 418 is reserved and unused.
_REGISTERED: Final = frozenset({*range(400, 418), *range(421, 427), 428, 429, 431, 451})
_BAD_REQUEST: Final = frozenset({400, 413, 414, 416, 422, 426, 431})


def code_reason(code: int) -> Reason:
    """The reason by the HTTP code alone, before the rest of the answer is examined. 3xx without a target is broken."""
    if (reason := _BY_CODE.get(code)) is not None:
        return reason
    if 200 <= code <= 299:
        return Reason.OK
    if 300 <= code <= 399:
        return Reason.REDIRECT_BROKEN
    if code in _BAD_REQUEST:
        return Reason.BAD_REQUEST
    if 500 <= code <= 599:
        return Reason.SERVER_ERROR
    # A code that is in no standard (418, 444, 999 …) comes from a filter (D-2), not from the page's own server.
    return Reason.STRANGE_CODE if code in _REGISTERED else Reason.BOT_WALL


_KNOWN_5XX: Final = frozenset({*range(500, 505), *range(507, 512), *range(520, 528), 530})
"""Codes of servers that fail, and of proxies in front of them; 505 and 506 are about the request."""


def needs_contrast(code: int) -> bool:
    """True if a failing code is evidence only where its host answers otherwise in another place (D-2).

    404 and 410 are about the page, the known 5xx about the server: hosts die that way.
    """
    return code not in (404, 410) if 400 <= code <= 499 else 500 <= code <= 599 and code not in _KNOWN_5XX


_CONTENT_IS_THERE: Final = frozenset({Status.CORRECTED, Status.SCHEME_SWITCHED})


def status_outcome(status: Status) -> Outcome:
    """The outcome shown for an entry of a history (U-3), by its status alone, as no reason is stored with it.

    It is never REFUSED.
    """
    if status in REDIRECTS or status in _CONTENT_IS_THERE:
        return Outcome.WORKING
    code = http_code(status)
    outcome = Outcome.FAILING if code is None else code_reason(code).outcome
    return Outcome.DOUBTFUL if outcome is Outcome.REFUSED else outcome
