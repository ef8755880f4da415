"""The reasons for exceptions, of certificates and handshakes too; and which count against no server (C-9, C-16)."""

import asyncio
import errno
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from pycares import errno as ares
from support.misbehaving import Act, Certificates, Zone, at_once, name_server, reply, serve

from weboid.config import NetConfig
from weboid.core.observe.observation import RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome, Reason
from weboid.errors import ConfigError
from weboid.net.dial import NoIpv6, NotConnected, tls_context
from weboid.net.dns import LookupFailed
from weboid.net.faults import Fault, fault_of
from weboid.net.fetch import fetch_answer
from weboid.net.guard import BadPort, NotPublic
from weboid.net.outbound import open_session
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
    return [OSError(number, "no") for number in numbers]


@pytest.mark.parametrize(
    ("exc", "reason"),
    [
        (connecting(ConnectionRefusedError(errno.ECONNREFUSED, "no")), Reason.CONNECTION_REFUSED),
        *((connecting(each), Reason.UNREACHABLE) for each in system(errno.EHOSTUNREACH, errno.ENETUNREACH)),
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
        *((LookupFailed(code), Reason.DNS_GONE) for code in (ares.ARES_ENOTFOUND, ares.ARES_ENODATA)),
        *((LookupFailed(code), Reason.DNS_ERROR) for code in (ares.ARES_ESERVFAIL, ares.ARES_ETIMEOUT)),
        (connecting(ssl.SSLError(1, "no")), Reason.TLS),
        (connecting(ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] alert")), Reason.LOGIN),
        (connecting(ssl.SSLZeroReturnError(6, "closed")), Reason.RESET),
        (connecting(ssl.SSLEOFError(8, "EOF occurred")), Reason.RESET),
        *((unverified(code), Reason.CERTIFICATE_EXPIRED) for code in (9, 10)),
        *((unverified(code), Reason.CERTIFICATE_SELF_SIGNED) for code in (18, 19)),
        *((unverified(code), Reason.CERTIFICATE_WRONG_HOST) for code in (62, 64)),
        *((unverified(code), Reason.CERTIFICATE_UNKNOWN_ISSUER) for code in (2, 20, 21, 67)),
    ],
)
def test_what_fails_before_a_connection_stands(exc: Exception, reason: Reason) -> None:
    assert fault_of(exc) == Fault(reason, reached=False)


@pytest.mark.parametrize(
    ("exc", "reason"),
    [
        (TimeoutError(), Reason.TIMEOUT),
        *((ConnectionResetError(*given), Reason.RESET) for given in ((), (errno.ECONNRESET, "reset"))),
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


ZONE: Zone = {name: ["127.0.0.1"] for name in ("site.test", "a_b.site.test", "a_b.c.site.test")}
FINE = reply(200, body=b"")


async def answered(
    settings: NetConfig, certificates: Certificates, tls: ssl.SSLContext, host: str = "site.test", act: Act = FINE
) -> RawResponse:
    async with serve(lambda _: act, tls=tls) as site, name_server(ZONE) as dns:
        settings = replace(settings, ca=certificates.ca_file, dns=(dns.address,))
        async with open_session(settings) as session:
            return await fetch_answer(session, f"https://{host}:{site.port}/", turn=at_once)


@pytest.mark.parametrize(
    ("host", "name", "fault"),
    [
        ("site.test", "site.test", None),
        ("site.test.", "site.test", None),
        ("a_b.site.test", "*.site.test", None),
        ("site.test", "other.test", Reason.CERTIFICATE_WRONG_HOST),
        ("127.0.0.1", "127.0.0.1", None),
        ("127.0.0.1", "127.0.0.2", Reason.CERTIFICATE_WRONG_HOST),
        ("a_b.site.test", "site.test", Reason.CERTIFICATE_WRONG_HOST),
        ("a_b.c.site.test", "*.site.test", Reason.CERTIFICATE_WRONG_HOST),
    ],
)
async def test_a_certificate_is_for_the_hosts_that_browsers_take_it_for(
    settings: NetConfig, certificates: Certificates, host: str, name: str, fault: Reason | None
) -> None:
    assert (await answered(settings, certificates, certificates.good(name), host)).fault is fault


async def test_a_server_of_http_2_alone_refuses(settings: NetConfig, certificates: Certificates) -> None:
    frames = b"\0\0\x06\4\0\0\0\0\0\0\3\0\0\0\x80\0\0\x08\7" + b"\0" * 12 + b"\1"
    answer = await answered(settings, certificates, certificates.good("site.test"), act=frames)
    assert (answer.fault, observation_of(answer).outcome) == (Reason.BOT_WALL, Outcome.REFUSED)


@pytest.mark.parametrize(
    ("kind", "names", "reason"),
    [
        ("expired", ["site.test"], Reason.CERTIFICATE_EXPIRED),
        ("self_signed", ["site.test"], Reason.CERTIFICATE_SELF_SIGNED),
        ("foreign", ["site.test"], Reason.CERTIFICATE_UNKNOWN_ISSUER),
    ],
)
async def test_bad_certificates_are_reported_apart(
    settings: NetConfig, certificates: Certificates, kind: str, names: list[str], reason: Reason
) -> None:
    answer = await answered(settings, certificates, getattr(certificates, kind)(*names))
    assert answer.fault is reason
    assert observation_of(answer).outcome is Outcome.DOUBTFUL


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", Reason.TLS),
        (b"\x15\x03\x01\x00\x02\x02\x28", Reason.TLS),  # alert: no common cipher
        (b"\x15\x03\x03\x00\x02\x02\x78", Reason.BOT_WALL),  # alert: no common protocol (h2 alone)
        (b"", Reason.RESET),
    ],
)
async def test_a_server_that_speaks_no_tls_with_us_is_faulty(settings: NetConfig, first: bytes, reason: Reason) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(first)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server, open_session(settings) as session:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        assert (await fetch_answer(session, url, turn=at_once)).fault is reason


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1:DeprecationWarning")
async def test_an_old_server_is_alive_all_the_same(settings: NetConfig, certificates: Certificates) -> None:
    context = certificates.good("site.test")
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.maximum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("ALL:@SECLEVEL=0")
    assert (await answered(settings, certificates, context)).code == 200


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_ca_file_that_is_none_is_a_configuration_error(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"ca\.pem"):
        tls_context(path)
