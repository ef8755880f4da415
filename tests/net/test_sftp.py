"""One check over SFTP against real servers, well-behaved ones and others that are not (C-10, C-13)."""

import asyncio
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from support.ftpserver import answers, endlessly, serve_ftp
from support.misbehaving import Act, HangUp, Silence, Zone, at_once, name_server, noting

from weboid.config import NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.verdict.judge import is_host_failure
from weboid.net.guard import NotPublic
from weboid.net.outbound import open_session
from weboid.net.sftp import RECEIVED_BYTES, fetch_sftp

LONG_S = 30.0
HELLO = b"SSH-2.0-Other_1.0\r\n"
ME = "SSH-2.0-Weboid"
KEY = asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture
def patient(settings: NetConfig) -> NetConfig:
    """Time enough for whatever should work."""
    return replace(settings, connect_s=LONG_S, answer_s=LONG_S)


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


class Full(Open):
    """Turns everybody away by the protocol's own words."""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.conn = conn

    def begin_auth(self, username: str) -> bool:
        self.conn.disconnect(asyncssh.DISC_TOO_MANY_CONNECTIONS, "Later")
        return True


class Secretive(asyncssh.SFTPServer):
    """Denies every look."""

    def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        raise asyncssh.SFTPPermissionDenied("no")


class Slow(asyncssh.SFTPServer):
    """Answers when the test is over."""

    over = asyncio.Event()

    async def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        await self.over.wait()
        return asyncssh.SFTPAttrs()


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
        """An absolute URL on this server."""
        return f"sftp://{host}:{self.port}{path}"


@asynccontextmanager
async def serve_ssh(
    kind: Callable[[list[str]], asyncssh.SSHServer] = Open,
    sftp: Callable[[asyncssh.SSHServerChannel[bytes]], asyncssh.SFTPServer] | None = None,
    **options: Any,
) -> AsyncIterator[SshSite]:
    """Runs a real SSH server until the block ends."""
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
    """The observation of one check."""
    async with open_session(settings) as session:
        return await fetch_sftp(session, url, turn=at_once)


async def scripted(settings: NetConfig, greeting: str | Act, then: str | Act = b"") -> Observation:
    """The observation of a server that sends this and that whatever it hears."""
    async with serve_ftp(answers({"": greeting, ME: then})) as site:
        return await seen_at(settings, site.url(scheme="sftp"))


def over(folder: Path) -> Callable[[asyncssh.SSHServerChannel[bytes]], asyncssh.SFTPServer]:
    """A file server over a folder."""
    return lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder).encode())


@pytest.mark.parametrize(
    ("path", "reason", "mime", "size_kib"),
    [
        ("/file", Reason.OK, None, None),
        ("/report.pdf", Reason.OK, "pdf", 3),
        ("/pub", Reason.OK, None, None),
        ("/pub/", Reason.OK, None, None),
        ("//pub", Reason.OK, None, None),
        ("/%C3%A4%20b?c", Reason.OK, None, None),
        ("/", Reason.OK, None, None),
        ("/~", Reason.OK, None, None),
        ("/nothing", Reason.NOT_FOUND, None, None),
        ("/nothing/file", Reason.NOT_FOUND, None, None),
        ("/~/nothing", Reason.NOT_FOUND, None, None),
    ],
)
async def test_a_server_that_lets_everybody_in_tells_what_is_there(
    patient: NetConfig, tmp_path: Path, path: str, reason: Reason, mime: str | None, size_kib: int | None
) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "ä b?c").write_bytes(b"x")
    (tmp_path / "report.pdf").write_bytes(b"x" * 2049)
    (tmp_path / "pub").mkdir()
    async with serve_ssh(sftp=over(tmp_path)) as site:
        seen = await seen_at(patient, site.url(path))
    assert (seen.reason, seen.mime, seen.size_kib) == (reason, mime, size_kib)
    assert seen.status is (Status.FINE if reason is Reason.OK else Status.NOT_FOUND)
    assert site.users == ["anonymous"]


@pytest.mark.parametrize("path", ["/file", "/~/file"])
async def test_a_path_is_looked_for_from_where_the_login_leads_too(patient: NetConfig, path: str) -> None:
    async with serve_ssh(sftp=AtHome) as site:
        assert (await seen_at(patient, site.url(path))).reason is Reason.OK


async def test_a_server_for_members_refuses_and_is_asked_by_nothing_more(patient: NetConfig) -> None:
    """A wrong password would be taken for an attack."""
    async with serve_ssh(Members) as site:
        seen = await seen_at(patient, site.url())
    assert (seen.status, seen.reason, seen.outcome) == (Status.NO_ACCESS, Reason.LOGIN, Outcome.REFUSED)
    assert site.users == ["anonymous"]


async def test_no_set_up_of_this_machine_is_used(
    patient: NetConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host *\n  User somebody\n  ProxyCommand false\n  Port none\n")
    KEY.write_private_key(tmp_path / ".ssh" / "id_ed25519")
    (tmp_path / ".ssh" / "known_hosts").write_text("nobody")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    async with serve_ssh(Members) as site:
        assert (await seen_at(patient, site.url())).reason is Reason.LOGIN
    assert site.users == ["anonymous"]


@pytest.mark.parametrize("sftp", [None, Secretive])
async def test_who_lets_us_in_and_no_further_refuses(
    patient: NetConfig, sftp: Callable[[asyncssh.SSHServerChannel[bytes]], asyncssh.SFTPServer] | None
) -> None:
    async with serve_ssh(sftp=sftp) as site:
        seen = await seen_at(patient, site.url())
    assert (seen.reason, seen.outcome) == (Reason.FORBIDDEN, Outcome.REFUSED)


async def test_who_falls_silent_after_the_login_refuses(settings: NetConfig) -> None:
    over = asyncio.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Slow, "over", over)
        async with serve_ssh(sftp=Slow) as site:
            # The login alone may take long on a busy machine.
            seen = await seen_at(replace(settings, answer_s=3.0), site.url())
            over.set()
    assert (seen.reason, site.users) == (Reason.FORBIDDEN, ["anonymous"])


async def test_an_old_server_is_alive_all_the_same(patient: NetConfig, tmp_path: Path) -> None:
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
            assert (await seen_at(patient, site.url("/"))).reason is Reason.OK


async def test_no_server_chooses_what_we_compute_with(patient: NetConfig) -> None:
    """Testing whether a large number is a prime would hold up all other checks for seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async with serve_ssh(kex_algs=["diffie-hellman-group-exchange-sha256"]) as site:
            seen = await seen_at(patient, site.url())
    assert (seen.reason, seen.outcome, site.users) == (Reason.FORBIDDEN, Outcome.REFUSED, [])


async def test_who_is_full_is_asked_another_time(patient: NetConfig) -> None:
    async with serve_ssh(Full) as site:
        assert (await seen_at(patient, site.url())).reason is Reason.RATE_LIMIT


@pytest.mark.parametrize("text", ["Exceeded MaxStartups", "Not allowed at this time"])
async def test_who_has_no_room_and_says_so_in_words_is_asked_another_time(patient: NetConfig, text: str) -> None:
    async def once(text: str) -> AsyncIterator[bytes]:
        yield f"{text}\r\n".encode()

    assert (await scripted(patient, once(text), HangUp())).reason is Reason.RATE_LIMIT


@pytest.mark.parametrize(
    "then", [HangUp(), HangUp(reset=True), b"\xff" * 100_000, b"\0\0\0\1" + b"\0" * 100, b"\0" * 8192]
)
@pytest.mark.parametrize("hello", [HELLO, b"Welcome\r\n" + HELLO, b"SSH-1.99-Old\n", b"SSH-2.0-\xff\xfe\r\n"])
async def test_whoever_speaks_ssh_refuses_and_never_fails(patient: NetConfig, hello: bytes, then: Act) -> None:
    seen = await scripted(patient, hello, then)
    assert (seen.status, seen.reason, seen.outcome) == (Status.NO_ACCESS, Reason.FORBIDDEN, Outcome.REFUSED)


async def test_the_oldest_protocol_is_a_refusal(patient: NetConfig) -> None:
    assert (await scripted(patient, b"SSH-1.5-Ancient\r\n")).outcome is Outcome.REFUSED


async def test_silence_after_the_introduction_is_a_refusal_in_time(settings: NetConfig) -> None:
    assert (await scripted(replace(settings, answer_s=2.0), HELLO, Silence())).reason is Reason.FORBIDDEN


async def test_silence_is_a_failure_in_time(settings: NetConfig) -> None:
    assert (await scripted(settings, Silence())).reason is Reason.TIMEOUT


async def test_a_tar_pit_ends_in_time(settings: NetConfig) -> None:
    assert (await scripted(settings, endlessly(b"x\r\n", 0.05))).reason is Reason.TIMEOUT


@pytest.mark.parametrize("reset", [False, True])
async def test_a_hang_up_before_a_word_is_a_reset(patient: NetConfig, reset: bool) -> None:
    assert (await scripted(patient, HangUp(reset=reset))).reason is Reason.RESET


@pytest.mark.parametrize("line", [b"x" * 4096, b"Welcome\r\n", b"\r\n"])
async def test_a_welcome_without_end_is_read_to_a_bound_only(patient: NetConfig, line: bytes) -> None:
    assert (await scripted(patient, endlessly(line))).reason is Reason.PROTOCOL


async def test_a_flood_is_read_to_a_bound_only(patient: NetConfig) -> None:
    ignored = b"\x02\0\0\1\0" + b"x" * 256  # a message to be ignored, in a packet by the rules
    packet = (len(ignored) + 1 + 6).to_bytes(4, "big") + b"\6" + ignored + b"\0" * 6
    async with serve_ftp(answers({"": HELLO, ME: endlessly(packet * 100)})) as site:
        seen = await seen_at(patient, site.url(scheme="sftp"))
    assert seen.reason is Reason.FORBIDDEN
    assert site.sent_bytes < 100 * RECEIVED_BYTES  # with all that lies in buffers between us


@pytest.mark.parametrize("greeting", [b"220 A little server\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\xff"])
async def test_what_is_not_ssh_is_a_fault(patient: NetConfig, greeting: bytes) -> None:
    async def once() -> AsyncIterator[bytes]:
        yield greeting

    seen = await scripted(patient, once(), HangUp())
    assert (seen.status, seen.reason) == (Status.NETWORK, Reason.PROTOCOL)


@pytest.mark.parametrize("path", ["/a%0D%0Ab", "/a%00b"])
async def test_a_path_with_controls_is_never_asked_for(patient: NetConfig, path: str) -> None:
    hosts: list[str] = []
    async with serve_ssh() as site, open_session(patient) as session:
        seen = await fetch_sftp(session, site.url(path), turn=noting(hosts))
    assert (seen.reason, hosts, site.users) == (Reason.UNSAFE, [], [])


@pytest.mark.parametrize("url", ["http://site.test/", "ftp://site.test/", "sftp://localhost/", "/path"])
async def test_only_valid_sftp_urls_are_asked(settings: NetConfig, url: str) -> None:
    async with open_session(settings) as session:
        with pytest.raises(ValueError):
            await fetch_sftp(session, url, turn=at_once)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sftp://10.1.2.3/", Reason.NOT_PUBLIC),
        ("sftp://[::1]/", Reason.NOT_PUBLIC),
        ("sftp://127.0.0.1:21/", Reason.BAD_PORT),
        ("sftp://127.0.0.1:25/", Reason.BAD_PORT),
        ("sftp://127.0.0.1:5432/", Reason.BAD_PORT),
    ],
)
async def test_neither_inner_addresses_nor_ports_of_others_are_asked(
    settings: NetConfig, url: str, reason: Reason
) -> None:
    assert (await seen_at(settings, url)).reason is reason


async def test_names_are_looked_up_before_the_guard_and_never_after(patient: NetConfig, tmp_path: Path) -> None:
    zone: Zone = {"site.test": ["127.0.0.1"], "inner.test": ["10.1.2.3"]}
    async with serve_ssh(sftp=over(tmp_path)) as site, name_server(zone) as dns:
        settings = replace(patient, dns=(dns.address,))
        assert (await seen_at(settings, site.url("/", "site.test"))).reason is Reason.OK
        assert sorted(dns.asked) == ["A site.test", "AAAA site.test"]
        assert (await seen_at(settings, site.url("/", "inner.test"))).reason is Reason.NOT_PUBLIC
        gone = await seen_at(settings, site.url("/", "nobody.test"))
    assert gone.reason is Reason.DNS_GONE
    assert is_host_failure(gone)


async def test_a_closed_port_is_no_evidence_against_the_host(patient: NetConfig) -> None:
    async with serve_ssh() as site:
        pass
    seen = await seen_at(patient, site.url())
    assert seen.reason is Reason.CONNECTION_REFUSED
    assert not is_host_failure(seen)


async def test_the_turn_is_taken_and_may_be_refused(patient: NetConfig) -> None:
    async def never(_: str) -> None:
        raise NotPublic

    hosts: list[str] = []
    async with serve_ssh() as site, open_session(patient) as session:
        assert (await fetch_sftp(session, site.url(), turn=never)).reason is Reason.NOT_PUBLIC
        assert site.users == []
        await fetch_sftp(session, site.url(), turn=noting(hosts))
    assert hosts == ["127.0.0.1"]


async def test_seats_are_given_back_whatever_happens(settings: NetConfig) -> None:
    async with (
        serve_ftp(answers({"": Silence()})) as silent,
        serve_ftp(answers({"": HangUp()})) as rude,
        open_session(replace(settings, connections=1)) as session,
    ):
        urls = [silent.url(scheme="sftp"), rude.url(scheme="sftp"), rude.url(scheme="sftp")]
        seen = await asyncio.gather(*(fetch_sftp(session, url, turn=at_once) for url in urls))
    assert [each.reason for each in seen] == [Reason.TIMEOUT, Reason.RESET, Reason.RESET]


async def test_who_gives_up_closes_the_connection(patient: NetConfig) -> None:
    came, ended = asyncio.Event(), asyncio.Event()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HELLO)
        await reader.readline()
        came.set()
        await reader.read()
        writer.close()
        ended.set()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server, open_session(patient) as session:
        url = f"sftp://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        check = asyncio.create_task(fetch_sftp(session, url, turn=at_once))
        async with asyncio.timeout(LONG_S):
            await came.wait()
            check.cancel()
            with pytest.raises(asyncio.CancelledError):
                await check
            await ended.wait()


def test_the_library_is_loaded_only_for_the_first_such_url() -> None:
    code = "import sys, weboid.cli, weboid.net.sftp; sys.exit('asyncssh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_what_our_own_machine_lacks_is_raised(settings: NetConfig) -> None:
    settings = replace(settings, dns=("127.0.0.1:9",))  # nobody is there: our own name servers are down
    async with open_session(settings) as session:
        with pytest.raises(OSError):
            await fetch_sftp(session, "sftp://site.test/", turn=at_once)
