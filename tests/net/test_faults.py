"""The reasons for exceptions; above all, which exceptions count against no server (C-9, C-16)."""

import errno
import ssl

import pytest
from pycares import errno as ares

from weboid.core.record.reasons import Reason
from weboid.net.dial import NoIpv6, NotConnected
from weboid.net.dns import LookupFailed
from weboid.net.faults import Fault, fault_of
from weboid.net.guard import BadPort, NotPublic
from weboid.net.response_parser import BrokenReply, ReplyTooLarge


def connecting(*errors: Exception) -> NotConnected:
    """What comes of addresses, or of a handshake, that failed."""
    return NotConnected(errors)


def unverified(code: int) -> NotConnected:
    """A certificate that OpenSSL refuses with a code."""
    inner = ssl.SSLCertVerificationError(1, "certificate verify failed")
    inner.verify_code = code
    return connecting(inner)


def system(*numbers: int) -> list[OSError]:
    """Errors of the system by their numbers."""
    return [OSError(number, "no") for number in numbers]


@pytest.mark.parametrize(
    ("exc", "reason"),
    [
        (connecting(ConnectionRefusedError(errno.ECONNREFUSED, "no")), Reason.CONNECTION_REFUSED),
        (connecting(OSError(errno.EHOSTUNREACH, "no")), Reason.UNREACHABLE),
        (connecting(OSError(errno.ENETUNREACH, "no")), Reason.UNREACHABLE),
        (connecting(TimeoutError(errno.ETIMEDOUT, "no")), Reason.TIMEOUT),
        (connecting(ConnectionResetError()), Reason.RESET),
        (connecting(*system(errno.ENETUNREACH, errno.ECONNREFUSED)), Reason.CONNECTION_REFUSED),
        (connecting(*system(errno.EHOSTUNREACH, errno.ENETUNREACH)), Reason.UNREACHABLE),
        (connecting(NotPublic()), Reason.NOT_PUBLIC),
        (connecting(NotPublic(), ConnectionRefusedError(errno.ECONNREFUSED, "no")), Reason.CONNECTION_REFUSED),
        (connecting(NotPublic(), NoIpv6()), Reason.NOT_PUBLIC),
        (connecting(NoIpv6(), ConnectionRefusedError(errno.ECONNREFUSED, "no")), Reason.CONNECTION_REFUSED),
        (NotPublic(), Reason.NOT_PUBLIC),
        (BadPort(), Reason.BAD_PORT),
        (connecting(BadPort(), BadPort()), Reason.BAD_PORT),
        (connecting(TimeoutError()), Reason.TIMEOUT),
        (LookupFailed(ares.ARES_ENOTFOUND), Reason.DNS_GONE),
        (LookupFailed(ares.ARES_ENODATA), Reason.DNS_GONE),
        (LookupFailed(ares.ARES_ESERVFAIL), Reason.DNS_ERROR),
        (LookupFailed(ares.ARES_ETIMEOUT), Reason.DNS_ERROR),
        (connecting(ssl.SSLError(1, "no")), Reason.TLS),
        (connecting(ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] alert")), Reason.LOGIN),
        (connecting(ssl.SSLZeroReturnError(6, "closed")), Reason.RESET),
        (connecting(ssl.SSLEOFError(8, "EOF occurred")), Reason.RESET),
        (unverified(9), Reason.CERTIFICATE_EXPIRED),
        (unverified(10), Reason.CERTIFICATE_EXPIRED),
        (unverified(18), Reason.CERTIFICATE_SELF_SIGNED),
        (unverified(19), Reason.CERTIFICATE_SELF_SIGNED),
        (unverified(62), Reason.CERTIFICATE_WRONG_HOST),
        (unverified(64), Reason.CERTIFICATE_WRONG_HOST),
        (unverified(2), Reason.CERTIFICATE_UNKNOWN_ISSUER),
        (unverified(20), Reason.CERTIFICATE_UNKNOWN_ISSUER),
        (unverified(21), Reason.CERTIFICATE_UNKNOWN_ISSUER),
        (unverified(67), Reason.CERTIFICATE_UNKNOWN_ISSUER),
    ],
)
def test_what_fails_before_a_connection_stands(exc: Exception, reason: Reason) -> None:
    assert fault_of(exc) == Fault(reason, reached=False)


@pytest.mark.parametrize(
    ("exc", "reason"),
    [
        (TimeoutError(), Reason.TIMEOUT),
        (ConnectionResetError(), Reason.RESET),
        (ConnectionResetError(errno.ECONNRESET, "reset"), Reason.RESET),
        (BrokenPipeError(errno.EPIPE, "pipe"), Reason.RESET),
        (OSError(errno.ETIMEDOUT, "late"), Reason.TIMEOUT),
        (BrokenReply("nonsense"), Reason.PROTOCOL),
        (ReplyTooLarge("much"), Reason.OUR_LIMIT),
        (ssl.SSLError(1, "alert"), Reason.TLS),
        (ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] alert"), Reason.LOGIN),
    ],
)
def test_what_fails_on_a_connection_that_stood(exc: Exception, reason: Reason) -> None:
    assert fault_of(exc) == Fault(reason, reached=True)


@pytest.mark.parametrize(
    "exc",
    [
        connecting(OSError(errno.EMFILE, "too many open files")),
        connecting(*system(errno.ECONNREFUSED, errno.EMFILE)),
        connecting(OSError(errno.EADDRNOTAVAIL, "no ports left")),
        connecting(PermissionError(errno.EPERM, "a packet filter of ours")),
        connecting(NoIpv6()),
        LookupFailed(ares.ARES_ECONNREFUSED),
        LookupFailed(ares.ARES_ENOMEM),
        OSError(errno.EMFILE, "too many open files"),
        connecting(),
        connecting(ValueError("a name that no certificate can bear")),
        RuntimeError("a bug"),
        KeyError("a bug"),
        ValueError("a bug"),
        MemoryError(),
    ],
)
def test_what_is_ours_or_unknown_has_no_reason(exc: Exception) -> None:
    assert fault_of(exc) is None
