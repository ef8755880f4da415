"""One check over SFTP against real servers, well-behaved ones and others that are not (C-10, C-13)."""

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from support.ftpserver import answers, endlessly, serve_ftp
from support.misbehaving import Act, HangUp, Silence, at_once

from weboid.config import NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.net.outbound import open_session
from weboid.net.sftp import RECEIVED_BYTES, fetch_sftp

HELLO = b"SSH-2.0-Other_1.0\r\n"
ME = "SSH-2.0-Weboid"
KEY = asyncssh.generate_private_key("ssh-ed25519")


class Open(asyncssh.SSHServer):
    """Lets everybody in, and notes whom."""

    def __init__(self, users: list[str]) -> None:
        self.users = users

    def begin_auth(self, username: str) -> bool:
        self.users.append(username)
        return False


class Members(Open):
    """Lets nobody in, and notes every attempt."""

    def begin_auth(self, username: str) -> bool:
        self.users.append(username)
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        self.users.append(f"{username}:{password}")
        return False

    def kbdint_auth_supported(self) -> bool:
        return True

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> bool:
        self.users.append(f"{username}?")
        return False


class Secretive(asyncssh.SFTPServer):
    def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        raise asyncssh.SFTPPermissionDenied("no")


class AtHome(asyncssh.SFTPServer):
    """Has files only below where the login leads."""

    def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        if path.startswith(b"/"):
            raise asyncssh.SFTPNoSuchFile("no")
        return asyncssh.SFTPAttrs(size=7, type=asyncssh.FILEXFER_TYPE_REGULAR)


class SshSite:
    """A running server and who came."""

    def __init__(self) -> None:
        self.port = 0
        self.users: list[str] = []

    def url(self, path: str = "/file", host: str = "127.0.0.1") -> str:
        return f"sftp://{host}:{self.port}{path}"


@asynccontextmanager
async def serve_ssh(
    kind: Callable[[list[str]], asyncssh.SSHServer] = Open,
    sftp: Callable[[asyncssh.SSHServerChannel[bytes]], asyncssh.SFTPServer] | None = None,
    **options: Any,
) -> AsyncIterator[SshSite]:
    site = SshSite()
    accepted: list[asyncssh.SSHServerConnection] = []
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        config=None,
        server_factory=lambda: kind(site.users),
        sftp_factory=sftp,
        acceptor=accepted.append,
        **{"server_host_keys": [KEY], **options},
    )
    site.port = server.get_port()
    try:
        yield site
    finally:
        server.close()
        for connection in accepted:
            connection.abort()
        await server.wait_closed()
        await asyncio.gather(*(connection.wait_closed() for connection in accepted))


async def seen_at(settings: NetConfig, url: str) -> Observation:
    async with open_session(settings) as session:
        return await fetch_sftp(session, url, turn=at_once)


async def scripted(settings: NetConfig, greeting: str | Act, then: str | Act = b"") -> Observation:
    """The observation of a server that sends this and that whatever it hears."""
    async with serve_ftp(answers({"": greeting, ME: then})) as site:
        return await seen_at(settings, site.url(scheme="sftp"))


def over(folder: Path) -> Callable[[asyncssh.SSHServerChannel[bytes]], asyncssh.SFTPServer]:
    return lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder).encode())


async def test_a_server_that_lets_everybody_in_tells_what_is_there(settings: NetConfig, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "ä b?c").write_bytes(b"x")
    (tmp_path / "report.pdf").write_bytes(b"x" * 2049)
    (tmp_path / "pub").mkdir()
    there = ("/file", "/pub", "/pub/", "//pub", "/%C3%A4%20b?c", "/", "/~")
    missing = ("/nothing", "/nothing/file", "/~/nothing")
    async with serve_ssh(sftp=over(tmp_path)) as site:
        found = {path: await seen_at(settings, site.url(path)) for path in (*there, *missing, "/report.pdf")}
    pdf = found.pop("/report.pdf")
    assert (pdf.reason, pdf.mime, pdf.size_kib) == (Reason.OK, "pdf", 3)
    assert {path: (seen.status, seen.reason, seen.mime, seen.size_kib) for path, seen in found.items()} == {
        **dict.fromkeys(there, (Status.FINE, Reason.OK, None, None)),
        **dict.fromkeys(missing, (Status.NOT_FOUND, Reason.NOT_FOUND, None, None)),
    }
    assert site.users == ["anonymous"] * 11


@pytest.mark.parametrize("path", ["/file", "/~/file"])
async def test_a_path_is_looked_for_from_where_the_login_leads_too(settings: NetConfig, path: str) -> None:
    async with serve_ssh(sftp=AtHome) as site:
        assert (await seen_at(settings, site.url(path))).reason is Reason.OK


async def test_a_server_for_members_refuses_and_is_asked_by_nothing_more(settings: NetConfig) -> None:
    """A wrong password would be taken for an attack."""
    async with serve_ssh(Members) as site:
        seen = await seen_at(settings, site.url())
    assert (seen.status, seen.reason, seen.outcome) == (Status.NO_ACCESS, Reason.LOGIN, Outcome.REFUSED)
    assert site.users == ["anonymous"]


async def test_no_set_up_of_ours_is_used(settings: NetConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host *\n  User somebody\n  ProxyCommand false\n  Port none\n")
    KEY.write_private_key(tmp_path / ".ssh" / "id_ed25519")
    (tmp_path / ".ssh" / "known_hosts").write_text("nobody")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    async with serve_ssh(Members) as site:
        assert (await seen_at(settings, site.url())).reason is Reason.LOGIN
    assert site.users == ["anonymous"]


@pytest.mark.parametrize("sftp", [None, Secretive])
async def test_who_lets_us_in_and_no_further_refuses(
    settings: NetConfig, sftp: Callable[[asyncssh.SSHServerChannel[bytes]], asyncssh.SFTPServer] | None
) -> None:
    async with serve_ssh(sftp=sftp) as site:
        seen = await seen_at(settings, site.url())
    assert (seen.reason, seen.outcome) == (Reason.FORBIDDEN, Outcome.REFUSED)


async def test_an_old_server_is_alive_all_the_same(settings: NetConfig, tmp_path: Path) -> None:
    old: dict[str, Any] = {
        "kex_algs": ["diffie-hellman-group14-sha1"],
        "encryption_algs": ["aes128-cbc"],
        "mac_algs": ["hmac-md5"],
        "signature_algs": ["ssh-rsa"],
        "server_host_keys": [asyncssh.generate_private_key("ssh-rsa", key_size=1024)],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async with serve_ssh(sftp=over(tmp_path), **old) as site:
            assert (await seen_at(settings, site.url("/"))).reason is Reason.OK


async def test_no_server_chooses_what_we_compute_with(settings: NetConfig) -> None:
    """Testing whether a large number is a prime would hold up all other checks for seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async with serve_ssh(kex_algs=["diffie-hellman-group-exchange-sha256"]) as site:
            seen = await seen_at(settings, site.url())
    assert (seen.reason, seen.outcome, site.users) == (Reason.FORBIDDEN, Outcome.REFUSED, [])


@pytest.mark.parametrize("text", ["Exceeded MaxStartups", "Not allowed at this time"])
async def test_who_has_no_room_and_says_so_in_words_is_asked_another_time(settings: NetConfig, text: str) -> None:
    async def once(text: str) -> AsyncIterator[bytes]:
        yield f"{text}\r\n".encode()

    assert (await scripted(settings, once(text), HangUp())).reason is Reason.RATE_LIMIT


@pytest.mark.parametrize(
    "then", [HangUp(), HangUp(reset=True), b"\xff" * 100_000, b"\0\0\0\1" + b"\0" * 100, b"\0" * 8192]
)
async def test_a_server_that_speaks_ssh_refuses_and_never_fails(settings: NetConfig, then: Act) -> None:
    for hello in (HELLO, b"Welcome\r\n" + HELLO, b"SSH-1.99-Old\n", b"SSH-1.5-Ancient\r\n", b"SSH-2.0-\xff\xfe\r\n"):
        seen = await scripted(settings, hello, then)
        assert (seen.status, seen.reason, seen.outcome) == (Status.NO_ACCESS, Reason.FORBIDDEN, Outcome.REFUSED), hello


async def test_silence_is_a_failure_or_a_refusal_in_time_and_a_tar_pit_ends(
    settings: NetConfig, hasty: NetConfig
) -> None:
    assert (await scripted(replace(settings, answer_s=1.0), HELLO, Silence())).reason is Reason.FORBIDDEN
    assert (await scripted(hasty, Silence())).reason is Reason.TIMEOUT
    assert (await scripted(hasty, endlessly(b"x\r\n", 0.05))).reason is Reason.TIMEOUT


@pytest.mark.parametrize("reset", [False, True])
async def test_a_hang_up_before_a_word_is_a_reset(settings: NetConfig, reset: bool) -> None:
    assert (await scripted(settings, HangUp(reset=reset))).reason is Reason.RESET


@pytest.mark.parametrize("line", [b"x" * 4096, b"Welcome\r\n", b"\r\n"])
async def test_a_welcome_without_end_is_read_to_a_bound_only(settings: NetConfig, line: bytes) -> None:
    assert (await scripted(settings, endlessly(line))).reason is Reason.PROTOCOL


async def test_a_flood_is_read_to_a_bound_only(settings: NetConfig) -> None:
    ignored = b"\x02\0\0\1\0" + b"x" * 256  # a message to be ignored, in a packet by the rules
    packet = (len(ignored) + 1 + 6).to_bytes(4, "big") + b"\6" + ignored + b"\0" * 6
    async with serve_ftp(answers({"": HELLO, ME: endlessly(packet * 100)})) as site:
        seen = await seen_at(settings, site.url(scheme="sftp"))
    assert seen.reason is Reason.FORBIDDEN
    assert site.sent_bytes < 100 * RECEIVED_BYTES  # with all that lies in buffers between us


@pytest.mark.parametrize("greeting", [b"220 A little server\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\xff"])
async def test_what_is_not_ssh_is_a_fault(settings: NetConfig, greeting: bytes) -> None:
    async def once() -> AsyncIterator[bytes]:
        yield greeting

    seen = await scripted(settings, once(), HangUp())
    assert (seen.status, seen.reason) == (Status.NETWORK, Reason.PROTOCOL)
