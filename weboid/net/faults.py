"""The one place where an exception on the way to an answer becomes the reason that is recorded (C-9, U-4).

One law: what is not surely the fault of the server or of its name has no reason here, and is never held against it.
"""

import errno
import re
import ssl
from typing import Final, NamedTuple

import aiohttp

from weboid.core.reasons import Reason
from weboid.net.dns import NO_NAME, NO_SERVER, LookupFailed
from weboid.net.guard import NotPublic


class Fault(NamedTuple):
    """Why there was no answer, and whether a connection stood before: then another method may fare better (C-1)."""

    reason: Reason
    reached: bool = False


def fault_of(exc: BaseException) -> Fault | None:
    """The fault that an exception stands for, or None: our own machine, our name servers or a bug of ours."""
    match exc:
        case NotPublic() | aiohttp.InvalidURL():
            # aiohttp calls an address invalid that is written so that only a resolver's guess would find it.
            return Fault(Reason.NOT_PUBLIC)
        case LookupFailed():
            return _lookup_fault(exc.code)
        case aiohttp.ClientConnectorCertificateError():
            return _certificate_fault(exc.certificate_error)
        case aiohttp.ClientConnectorSSLError():
            return Fault(Reason.TLS)
        case aiohttp.ClientConnectorError():
            return _refusal(exc.os_error)
        case aiohttp.ConnectionTimeoutError():
            return Fault(Reason.TIMEOUT)
        case TimeoutError() if exc.errno is None:
            return Fault(Reason.TIMEOUT, reached=True)
        case aiohttp.ServerDisconnectedError():
            return Fault(Reason.RESET, reached=True)
        case aiohttp.ClientResponseError() | aiohttp.ClientPayloadError():
            return Fault(Reason.PROTOCOL, reached=True)
        case ssl.SSLError():
            return Fault(Reason.TLS, reached=True)
        case OSError() if exc.errno not in _OURS:
            return _lost(exc)
        case aiohttp.ClientConnectionError() if exc.__cause__ is not None:
            return fault_of(exc.__cause__)
    return None


def _lookup_fault(code: int) -> Fault | None:
    if code in NO_NAME:
        return Fault(Reason.DNS_GONE)
    return None if code in NO_SERVER else Fault(Reason.DNS_ERROR)


# OpenSSL's X509_V_ERR_… numbers.
_BY_VERIFY_CODE: Final = {
    9: Reason.CERTIFICATE_EXPIRED,  # not valid yet: out of its dates as well
    10: Reason.CERTIFICATE_EXPIRED,
    18: Reason.CERTIFICATE_SELF_SIGNED,
    19: Reason.CERTIFICATE_SELF_SIGNED,
    62: Reason.CERTIFICATE_WRONG_HOST,
    64: Reason.CERTIFICATE_WRONG_HOST,
}


def _certificate_fault(exc: Exception) -> Fault:
    """What else can be wrong with a certificate comes to this: nobody we trust vouches for it."""
    code = exc.verify_code if isinstance(exc, ssl.SSLCertVerificationError) else 0
    return Fault(_BY_VERIFY_CODE.get(code, Reason.CERTIFICATE_UNKNOWN_ISSUER))


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
"""What our own kernel says of itself or of its packet filter."""
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
"""Event loops raise some of them without a number, such as for an end in the middle of a handshake."""
_NUMBER: Final = re.compile(r"\[Errno (\d+)\]")


def _refusal(exc: OSError) -> Fault | None:
    """Why no connection came about. If several addresses failed unlike each other only the text has the numbers."""
    if isinstance(exc, NotPublic | LookupFailed):
        return fault_of(exc)
    numbers = [exc.errno] if exc.errno is not None else [int(number) for number in _NUMBER.findall(str(exc))]
    if _OURS.intersection(numbers):
        return None
    for number, reason in _BY_ERRNO.items():
        if number in numbers:
            return Fault(reason)
    return _by_kind(exc, reached=False)


def _lost(exc: OSError) -> Fault | None:
    """Why a connection that stood came to an end."""
    if isinstance(exc.__cause__, ssl.SSLError):
        return Fault(Reason.TLS, reached=True)
    if exc.errno in _BY_ERRNO:
        return Fault(_BY_ERRNO[exc.errno], reached=True)
    return _by_kind(exc, reached=True)


def _by_kind(exc: OSError, *, reached: bool) -> Fault | None:
    return next((Fault(reason, reached) for kind, reason in _BY_KIND.items() if isinstance(exc, kind)), None)
