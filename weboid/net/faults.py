"""Translates exceptions of a request to the reason that is recorded; the only place that does so (C-9, U-4).

An error that is not certainly a failure of the server or of its name has no reason here, and never counts against it.
"""

import errno
import ssl
from collections.abc import Sequence
from typing import Final, NamedTuple

from weboid.core.record.reasons import Reason
from weboid.net.dial import NotConnected
from weboid.net.dns import NO_NAME, NO_SERVER, LookupFailed
from weboid.net.guard import BadPort, NotPublic
from weboid.net.response_parser import BrokenReply, OtherProtocol, ReplyTooLarge


class Fault(NamedTuple):
    """The reason why there was no answer, and whether there was a connection: then another method may succeed (C-1)."""

    reason: Reason
    reached: bool = False


def fault_of(exc: BaseException) -> Fault | None:
    """The fault for an exception; None if our own machine, our name servers or a bug of ours caused it."""
    match exc:
        case BadPort():
            return Fault(Reason.BAD_PORT)
        case NotPublic():
            return Fault(Reason.NOT_PUBLIC)
        case LookupFailed() if exc.code in NO_NAME:
            return Fault(Reason.DNS_GONE)
        case LookupFailed():
            return None if exc.code in NO_SERVER else Fault(Reason.DNS_ERROR)
        case NotConnected():
            return _not_connected(exc.errors)
        case OtherProtocol():
            return Fault(Reason.BOT_WALL, reached=True)  # as with a 505 (D-2)
        case BrokenReply():
            return Fault(Reason.PROTOCOL, reached=True)
        case ReplyTooLarge():
            return Fault(Reason.OUR_LIMIT, reached=True)
        case ssl.SSLCertVerificationError():
            return Fault(_BY_VERIFY_CODE.get(exc.verify_code, Reason.CERTIFICATE_UNKNOWN_ISSUER))
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            # The other side hung up during the handshake; Python 3.11.2 says so in this way, later ones by a reset.
            return Fault(Reason.RESET, reached=True)
        case ssl.SSLError() if "no application protocol" in str(exc):
            return fault_of(OtherProtocol())
        case ssl.SSLError() if "CERTIFICATE_REQUIRED" in str(exc):
            return Fault(Reason.LOGIN, reached=True)  # the certificate of a person, as with a password
        case ssl.SSLError():
            return Fault(Reason.TLS, reached=True)
        case TimeoutError() if exc.errno is None:
            return Fault(Reason.TIMEOUT, reached=True)
        case OSError() if exc.errno not in _OURS:
            # Why an open connection ended.
            reasons = (reason for kind, reason in _BY_KIND.items() if isinstance(exc, kind))
            reason = _BY_ERRNO.get(exc.errno) if exc.errno in _BY_ERRNO else next(reasons, None)
            return Fault(reason, reached=True) if reason else None
    return None


_BY_VERIFY_CODE: Final = {
    9: Reason.CERTIFICATE_EXPIRED,  # not valid yet: outside of its dates as well
    10: Reason.CERTIFICATE_EXPIRED,
    18: Reason.CERTIFICATE_SELF_SIGNED,
    19: Reason.CERTIFICATE_SELF_SIGNED,
    62: Reason.CERTIFICATE_WRONG_HOST,
    64: Reason.CERTIFICATE_WRONG_HOST,
}
"""OpenSSL's X509_V_ERR_… numbers; all others count as an unknown issuer."""
_OURS: Final = frozenset(
    {
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.EADDRNOTAVAIL,
        errno.ENETDOWN,
        errno.EPERM,
        errno.EACCES,
        errno.EAFNOSUPPORT,
    }
)
"""Errors of our own kernel or its packet filter."""
_BY_ERRNO: Final = {
    errno.ECONNREFUSED: Reason.CONNECTION_REFUSED,
    errno.ECONNRESET: Reason.RESET,
    errno.ECONNABORTED: Reason.RESET,
    errno.EPIPE: Reason.RESET,
    errno.ETIMEDOUT: Reason.TIMEOUT,
    errno.EHOSTUNREACH: Reason.UNREACHABLE,
    errno.ENETUNREACH: Reason.UNREACHABLE,
    errno.EHOSTDOWN: Reason.UNREACHABLE,
}
_BY_KIND: Final = {
    ConnectionRefusedError: Reason.CONNECTION_REFUSED,
    ConnectionResetError: Reason.RESET,
    ConnectionAbortedError: Reason.RESET,
    BrokenPipeError: Reason.RESET,
}
"""Event loops raise some of them without an errno, as for a connection closed during the handshake."""
_NEAREST_FIRST: Final = (
    Reason.CERTIFICATE_EXPIRED,
    Reason.CERTIFICATE_WRONG_HOST,
    Reason.CERTIFICATE_SELF_SIGNED,
    Reason.CERTIFICATE_UNKNOWN_ISSUER,
    Reason.LOGIN,
    Reason.BOT_WALL,
    Reason.TLS,
    Reason.CONNECTION_REFUSED,
    Reason.RESET,
    Reason.TIMEOUT,
    Reason.UNREACHABLE,
    Reason.BAD_PORT,
    Reason.NOT_PUBLIC,
)
"""If several addresses failed differently, the first of these counts for the host: it came nearest to an answer."""


def _not_connected(errors: Sequence[Exception]) -> Fault | None:
    """Returns why no address could be connected to; if our own machine failed at one, nothing is known of the host."""
    # An SSLError's number is OpenSSL's, not the system's.
    ours = (error for error in errors if isinstance(error, OSError) and not isinstance(error, ssl.SSLError))
    if any(error.errno in _OURS for error in ours):
        return None
    reasons = {fault.reason for fault in map(fault_of, errors) if fault is not None}
    return next((Fault(reason) for reason in _NEAREST_FIRST if reason in reasons), None)
