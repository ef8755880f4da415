"""Certificates and handshakes: each fault has its own reason (C-9)."""

import asyncio
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from support.misbehaving import Certificates, Zone, at_once, name_server, reply, serve

from weboid.config import NetConfig
from weboid.core.observe.observation import RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome, Reason
from weboid.errors import ConfigError
from weboid.net.dial import tls_context
from weboid.net.fetch import fetch_answer
from weboid.net.outbound import open_session

ZONE: Zone = {"site.test": ["127.0.0.1"]}


async def answered(settings: NetConfig, certificates: Certificates, tls: ssl.SSLContext) -> RawResponse:
    """The answer of ``https://site.test`` served with a context."""
    async with serve(lambda _: reply(200, body=b""), tls=tls) as site, name_server(ZONE) as dns:
        settings = replace(settings, ca=certificates.ca_file, dns=(dns.address,))
        async with open_session(settings) as session:
            return await fetch_answer(session, f"https://site.test:{site.port}/", turn=at_once)


async def test_a_good_certificate_is_fine(settings: NetConfig, certificates: Certificates) -> None:
    assert (await answered(settings, certificates, certificates.good("site.test"))).code == 200


@pytest.mark.parametrize(
    ("kind", "names", "reason"),
    [
        ("expired", ["site.test"], Reason.CERTIFICATE_EXPIRED),
        ("good", ["other.test"], Reason.CERTIFICATE_WRONG_HOST),
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


async def test_https_by_address_is_checked_against_the_address(settings: NetConfig, certificates: Certificates) -> None:
    async with (
        serve(lambda _: reply(200, body=b""), tls=certificates.good("127.0.0.1")) as right,
        serve(lambda _: reply(200, body=b""), tls=certificates.good("127.0.0.2")) as wrong,
        open_session(replace(settings, ca=certificates.ca_file)) as session,
    ):
        assert (await fetch_answer(session, right.url(), turn=at_once)).code == 200
        assert (await fetch_answer(session, wrong.url(), turn=at_once)).fault is Reason.CERTIFICATE_WRONG_HOST


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_ca_file_that_is_none_is_a_configuration_error(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"ca\.pem"):
        tls_context(path)
