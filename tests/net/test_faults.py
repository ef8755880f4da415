"""Exceptions and what they stand for; above all, what is not to be held against anybody (C-9, C-16)."""

import errno
import ssl
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest
from aiodns import error

from weboid.core.reasons import Reason
from weboid.net.dial import NoIpv6
from weboid.net.dns import LookupFailed
from weboid.net.faults import Fault, fault_of
from weboid.net.guard import NotPublic

KEY = cast(Any, SimpleNamespace(host="site.test", port=80, is_ssl=False, ssl=True))


def connecting(exc: OSError) -> aiohttp.ClientConnectorError:
    """What aiohttp makes of an error on the way to a connection."""
    return aiohttp.ClientConnectorError(KEY, exc)


def unverified(code: int) -> aiohttp.ClientConnectorCertificateError:
    """A certificate that OpenSSL refuses with a code."""
    inner = ssl.SSLCertVerificationError(1, "certificate verify failed")
    inner.verify_code = code
    return aiohttp.ClientConnectorCertificateError(KEY, inner)


def several(*numbers: int) -> OSError:
    """What comes of several addresses that fail unlike each other."""
    return OSError("Multiple exceptions: " + ", ".join(f"[Errno {n}] Connect call failed ('::', 80)" for n in numbers))


@pytest.mark.parametrize(
    ("exc", "reason"),
    [
        (connecting(ConnectionRefusedError(errno.ECONNREFUSED, "no")), Reason.CONNECTION_REFUSED),
        (connecting(OSError(errno.EHOSTUNREACH, "no")), Reason.UNREACHABLE),
        (connecting(OSError(errno.ENETUNREACH, "no")), Reason.UNREACHABLE),
        (connecting(TimeoutError(errno.ETIMEDOUT, "no")), Reason.TIMEOUT),
        (connecting(ConnectionResetError()), Reason.RESET),
        (connecting(several(errno.ENETUNREACH, errno.ECONNREFUSED)), Reason.CONNECTION_REFUSED),
        (connecting(several(errno.EHOSTUNREACH, errno.ENETUNREACH)), Reason.UNREACHABLE),
        (connecting(NotPublic()), Reason.NOT_PUBLIC),
        (aiohttp.InvalidUrlClientError("127.1"), Reason.NOT_PUBLIC),
        (aiohttp.ConnectionTimeoutError(), Reason.TIMEOUT),
        (connecting(LookupFailed(error.ARES_ENOTFOUND)), Reason.DNS_GONE),
        (connecting(LookupFailed(error.ARES_ENODATA)), Reason.DNS_GONE),
        (connecting(LookupFailed(error.ARES_ESERVFAIL)), Reason.DNS_ERROR),
        (connecting(LookupFailed(error.ARES_ETIMEOUT)), Reason.DNS_ERROR),
        (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "no")), Reason.TLS),
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
        (aiohttp.SocketTimeoutError(), Reason.TIMEOUT),
        (aiohttp.ServerDisconnectedError(), Reason.RESET),
        (aiohttp.ClientOSError(errno.ECONNRESET, "reset"), Reason.RESET),
        (aiohttp.ClientConnectionResetError("Cannot write to closing transport"), Reason.RESET),
        (ConnectionResetError(errno.ECONNRESET, "reset"), Reason.RESET),
        (aiohttp.ClientPayloadError(), Reason.PROTOCOL),
        (aiohttp.ClientResponseError(cast(Any, None), ()), Reason.PROTOCOL),
        (ssl.SSLError(1, "alert"), Reason.TLS),
    ],
)
def test_what_fails_on_a_connection_that_stood(exc: Exception, reason: Reason) -> None:
    assert fault_of(exc) == Fault(reason, reached=True)
    wrapped = aiohttp.ClientConnectionError()
    wrapped.__cause__ = exc
    assert fault_of(wrapped) == Fault(reason, reached=True)


def test_a_tls_alert_after_the_handshake_is_seen_through_its_wrapping() -> None:
    lost = aiohttp.ClientOSError(1, "alert certificate required")
    lost.__cause__ = ssl.SSLError(1, "alert certificate required")
    assert fault_of(lost) == Fault(Reason.TLS, reached=True)


@pytest.mark.parametrize(
    "exc",
    [
        connecting(OSError(errno.EMFILE, "too many open files")),
        connecting(several(errno.ECONNREFUSED, errno.EMFILE)),
        connecting(OSError(errno.EADDRNOTAVAIL, "no ports left")),
        connecting(PermissionError(errno.EPERM, "a packet filter of ours")),
        connecting(NoIpv6()),
        connecting(LookupFailed(error.ARES_ECONNREFUSED)),
        connecting(LookupFailed(error.ARES_ENOMEM)),
        OSError(errno.EMFILE, "too many open files"),
        aiohttp.ClientConnectionError("Connector is closed"),
        RuntimeError("a bug"),
        KeyError("a bug"),
        ValueError("a bug"),
        MemoryError(),
    ],
)
def test_what_is_ours_or_unknown_has_no_reason(exc: Exception) -> None:
    assert fault_of(exc) is None
