"""One check over FTP against real servers, a well-behaved one and others that are not (C-10, C-13)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest
from support.ftpserver import FtpSite, Script, answers, endlessly, open_door, real_ftp, serve_ftp
from support.misbehaving import Act, Certificates, HangUp, Silence, Zone, at_once, name_server, noting

from weboid.config import NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.verdict.judge import is_host_failure
from weboid.net import ftp
from weboid.net.fetch import ANSWERS_A_CHECK
from weboid.net.ftp import fetch_ftp
from weboid.net.guard import NotPublic
from weboid.net.outbound import open_session

LONG_S = 30.0
FILE = {"MLST": "250-Listing\r\n type=file;size=2049; file\r\n250 End"}
NO_DATA = {"MLST": "550 No such file", "SIZE": "550 No such file"}
OLD = {"CWD": "550 No such directory"}
"""A server that knows of files only how to send them."""


@pytest.fixture
def patient(settings: NetConfig) -> NetConfig:
    """Time enough for whatever should work."""
    return replace(settings, connect_s=LONG_S, answer_s=LONG_S)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the real server has to offer."""
    (tmp_path / "file").write_bytes(b"x" * 100)
    (tmp_path / "report.pdf").write_bytes(b"x" * 2049)
    (tmp_path / "a b ä?x=1;y").write_bytes(b"x")
    (tmp_path / "pub").mkdir()
    (tmp_path / "pub" / "inner").write_bytes(b"x")
    return tmp_path


async def seen_at(settings: NetConfig, url: str) -> Observation:
    """The observation of one check."""
    async with open_session(settings) as session:
        return await fetch_ftp(session, url, turn=at_once)


async def scripted(settings: NetConfig, script: Script, path: str = "/file") -> tuple[Observation, FtpSite]:
    """The observation of one check of a scripted server, and what that was asked."""
    async with serve_ftp(script) as site:
        return await seen_at(settings, site.url(path)), site


WAYS_TO_ASK = [(), ("MLST",), ("MLST", "SIZE"), ("MLST", "SIZE", "MDTM"), ("MLST", "SIZE", "MDTM", "EPSV")]


@pytest.mark.parametrize("without", WAYS_TO_ASK)
@pytest.mark.parametrize(
    "path", ["/file", "/pub", "/pub/", "/pub/inner", "//pub/inner", "/%2Ffile", "/", "/file;type=i"]
)
async def test_what_is_there_is_found_on_a_real_server(
    patient: NetConfig, folder: Path, without: tuple[str, ...], path: str
) -> None:
    with real_ftp(folder, without=without, named="203.0.113.9") as site:
        seen = await seen_at(patient, site.url(path))
    assert (seen.status, seen.reason, seen.mime, seen.size_kib) == (Status.FINE, Reason.OK, None, None)


@pytest.mark.parametrize("without", WAYS_TO_ASK)
@pytest.mark.parametrize("path", ["/nothing", "/nothing/", "/pub/nothing", "/nothing/inner", "/FILE"])
async def test_what_is_not_there_is_not_found_on_a_real_server(
    patient: NetConfig, folder: Path, without: tuple[str, ...], path: str
) -> None:
    with real_ftp(folder, without=without, named="203.0.113.9") as site:
        seen = await seen_at(patient, site.url(path))
    assert (seen.status, seen.reason, seen.outcome) == (Status.NOT_FOUND, Reason.NOT_FOUND, Outcome.FAILING)


@pytest.mark.parametrize("without", [(), ("MLST",)])
async def test_a_notable_file_is_told_with_its_size(patient: NetConfig, folder: Path, without: tuple[str, ...]) -> None:
    with real_ftp(folder, without=without) as site:
        seen = await seen_at(patient, site.url("/report.pdf"))
    assert (seen.reason, seen.mime, seen.size_kib) == (Reason.OK, "pdf", 3)


async def test_odd_names_are_asked_for_as_they_are(patient: NetConfig, folder: Path) -> None:
    with real_ftp(folder) as site:
        seen = await seen_at(patient, site.url("/a%20b%20%C3%A4?x=1;y"))
    assert seen.reason is Reason.OK


async def test_a_server_for_members_only_refuses_and_does_not_fail(patient: NetConfig, folder: Path) -> None:
    with real_ftp(folder, perm=None) as site:
        seen = await seen_at(patient, site.url())
    assert (seen.status, seen.reason, seen.outcome) == (Status.NO_ACCESS, Reason.LOGIN, Outcome.REFUSED)


async def test_what_may_not_be_looked_at_is_forbidden_and_not_missing(patient: NetConfig, folder: Path) -> None:
    with real_ftp(folder, perm="r") as site:
        seen = await seen_at(patient, site.url())
    assert (seen.reason, seen.outcome) == (Reason.FORBIDDEN, Outcome.REFUSED)


async def test_one_command_is_enough_where_the_server_knows_it(patient: NetConfig) -> None:
    seen, site = await scripted(replace(patient, sender="bot@tools.example"), answers(FILE))
    assert seen.reason is Reason.OK
    assert site.asked[:3] == [b"USER anonymous", b"PASS bot@tools.example", b"MLST file"]
    assert site.commands() == ["USER", "PASS", "MLST"]


async def test_no_password_is_sent_unasked(patient: NetConfig) -> None:
    seen, site = await scripted(patient, answers(FILE, USER="230 Come in"))
    assert (seen.reason, site.commands()) == (Reason.OK, ["USER", "MLST"])


async def test_nothing_is_called_missing_on_the_word_of_one_command(patient: NetConfig) -> None:
    seen, site = await scripted(patient, answers({"MLST": "550 No such file", "SIZE": "213 5"}))
    assert (seen.reason, site.commands()) == (Reason.OK, ["USER", "PASS", "MLST", "TYPE", "SIZE"])


async def test_a_path_is_tried_from_the_root_where_the_login_leads_elsewhere(patient: NetConfig) -> None:
    def script(line: bytes) -> Act:
        known = FILE if line.endswith(b" /file") else NO_DATA
        return answers(known, PWD='257 "/home/ftp"')(line)

    seen, site = await scripted(patient, script)
    assert seen.reason is Reason.OK
    assert [line for line in site.asked if line != b"QUIT"][-2:] == [b"PWD", b"MLST /file"]


async def test_announcements_and_long_welcomes_are_waited_for(patient: NetConfig) -> None:
    welcome = "120 In a minute\r\n220-Welcome\r\n\r\n220 is not the end of \x1b[2Jthis:\r\n"
    hello = "220-Welcome\r\n  230 of our files\r\n\x07\x00\xff 2200\r\n220-more\r\n220 Now"
    seen, _ = await scripted(patient, answers(FILE, **{"": hello}))
    assert seen.reason is Reason.OK
    seen, _ = await scripted(patient, answers(FILE, **{"": welcome.splitlines()[0] + "\r\n220 Now"}))
    assert seen.reason is Reason.OK


async def test_bare_line_ends_are_understood(patient: NetConfig) -> None:
    seen, _ = await scripted(patient, lambda line: bytes(answers(FILE)(line)).replace(b"\r", b""))  # type: ignore[arg-type]
    assert seen.reason is Reason.OK


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"": "421 Too many connections"}, Reason.RATE_LIMIT),
        ({"": "421 Service not available"}, Reason.UNAVAILABLE),
        ({"": "500 OOPS"}, Reason.SERVER_ERROR),
        ({"USER": "530 Sorry, no anonymous access"}, Reason.LOGIN),
        ({"PASS": "530 Login incorrect"}, Reason.LOGIN),
        ({"PASS": "332 Account?"}, Reason.LOGIN),
        ({"USER": "332 Account?"}, Reason.LOGIN),
        ({"PASS": "421 Too many users"}, Reason.RATE_LIMIT),
        ({"MLST": "421 Timeout"}, Reason.UNAVAILABLE),
        ({"MLST": "530 Not logged in"}, Reason.LOGIN),
        ({"MLST": "550 Permission denied", "SIZE": "550 No such file"}, Reason.FORBIDDEN),
        ({"MLST": "450 Not now", "SIZE": "550 No such file"}, Reason.UNAVAILABLE),
    ],
)
async def test_every_stage_may_refuse(patient: NetConfig, given: dict[str, str], reason: Reason) -> None:
    seen, _ = await scripted(patient, answers(given))
    assert seen.reason is reason


STAGES = ["", "USER", "PASS", "MLST", "SIZE", "CWD"]


@pytest.mark.parametrize("stage", STAGES)
async def test_silence_at_any_stage_ends_in_time(settings: NetConfig, stage: str) -> None:
    begun = asyncio.get_running_loop().time()
    seen, site = await scripted(settings, answers({**NO_DATA, stage: Silence()}))
    assert seen.reason is Reason.TIMEOUT
    assert asyncio.get_running_loop().time() - begun < LONG_S
    assert site.connections == 1


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("stage", STAGES)
async def test_a_hang_up_at_any_stage_is_a_reset(patient: NetConfig, stage: str, reset: bool) -> None:
    seen, _ = await scripted(patient, answers({**NO_DATA, stage: HangUp(reset=reset)}))
    assert (seen.status, seen.reason) == (Status.NETWORK, Reason.RESET)


@pytest.mark.parametrize("stage", ["", "PASS", "MLST"])
@pytest.mark.parametrize(
    "line", [b"220 " + b"x" * 4096, b"230-More\r\n", b"250-" + b"\r\n" * 2000, b"120 Wait\r\n", b"\r\n"]
)
async def test_what_has_no_end_is_read_to_a_bound_only(patient: NetConfig, stage: str, line: bytes) -> None:
    seen, site = await scripted(patient, answers({stage: endlessly(line)}))
    assert seen.reason is Reason.PROTOCOL
    assert site.sent_bytes < 1_000 * patient.body_bytes  # with all that lies in buffers between us


async def test_a_welcome_that_drips_for_ever_ends_in_time(settings: NetConfig) -> None:
    seen, _ = await scripted(settings, answers({"": endlessly(b"220-Welcome\r\n", 0.05)}))
    assert seen.reason is Reason.TIMEOUT


async def test_a_check_ends_even_if_every_single_reply_is_in_time(settings: NetConfig) -> None:
    async def late(line: bytes) -> AsyncIterator[bytes]:
        await asyncio.sleep(0.7 * settings.answer_s)
        yield line

    told = answers(NO_DATA)
    seen, site = await scripted(settings, lambda line: late(bytes(told(line))))  # type: ignore[arg-type]
    assert seen.reason is Reason.TIMEOUT
    assert len(site.asked) <= ANSWERS_A_CHECK / 0.7 + 1


@pytest.mark.parametrize(
    "greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-Other\r\n", b"\x00\xff\r\n", b"2200 Ready\r\n", b"\r\n"]
)
async def test_what_is_not_ftp_is_a_fault(patient: NetConfig, greeting: bytes) -> None:
    seen, site = await scripted(patient, answers({"": greeting}))
    assert (seen.reason, site.asked) == (Reason.PROTOCOL, [b"QUIT"])


@pytest.mark.parametrize("path", ["/a%0D%0ADELE%20b", "/a%0Ab", "/a%0Db", "/a%00b", "/%0D%0A"])
async def test_more_than_one_line_is_never_sent(patient: NetConfig, path: str) -> None:
    hosts: list[str] = []
    async with serve_ftp(answers(FILE)) as site, open_session(patient) as session:
        seen = await fetch_ftp(session, site.url(path), turn=noting(hosts))
    assert (seen.reason, seen.outcome) == (Reason.UNSAFE, Outcome.DOUBTFUL)
    assert (hosts, site.connections) == ([], 0)


async def test_a_byte_that_telnet_would_swallow_is_said_twice(patient: NetConfig) -> None:
    _, site = await scripted(patient, answers(FILE), "/a%FFb")
    assert b"MLST a\xff\xffb" in site.asked
    assert b"OPTS UTF8 ON" in site.asked


async def test_the_farewell_is_said(patient: NetConfig) -> None:
    gone = asyncio.Event()
    told = answers(FILE)

    def script(line: bytes) -> Act:
        if line == b"QUIT":
            gone.set()
        return told(line)

    async with serve_ftp(script) as site:
        await seen_at(patient, site.url())
        async with asyncio.timeout(LONG_S):
            await gone.wait()


async def test_no_data_connection_is_made_where_the_server_knows_its_files(patient: NetConfig) -> None:
    for given in (NO_DATA, {"MDTM": "550 No such file"}, {"SIZE": "550 No such file"}):
        seen, site = await scripted(patient, answers(given))
        assert seen.reason is Reason.NOT_FOUND
        assert not {"EPSV", "PASV", "RETR"} & set(site.commands())


async def test_data_comes_from_the_server_itself_whatever_address_it_names(patient: NetConfig) -> None:
    """FTP bounce, or a way into a network of ours: neither is opened."""
    with open_door("127.0.0.1") as own, open_door("127.0.0.2") as foreign:
        port = f"{own.port // 256},{own.port % 256}"
        given = {**OLD, "PASV": f"227 Go (127,0,0,2,{port})", "RETR": "150 Here it comes"}
        seen, _ = await scripted(patient, answers(given))
        assert (seen.reason, own.connections, foreign.connections) == (Reason.OK, 1, 0)
        # A port that only the foreign address has.
        given["PASV"] = f"227 Go {foreign.six}"
        seen, site = await scripted(patient, answers(given))
        assert (seen.reason, seen.outcome) == (Reason.FORBIDDEN, Outcome.REFUSED)
        assert (own.connections, foreign.connections) == (1, 0)
        assert "RETR" not in site.commands()


@pytest.mark.parametrize("port", [1, 22, 25, 1023, 6000, 6667, 0, 65_536, 99_999])
async def test_no_port_of_another_service_is_taken_for_data(patient: NetConfig, port: int) -> None:
    given = {**OLD, "EPSV": f"229 Go (|||{port}|)", "RETR": "150 Here it comes"}
    seen, site = await scripted(patient, answers(given))
    assert seen.reason is Reason.FORBIDDEN
    assert "RETR" not in site.commands()


@pytest.mark.parametrize(
    ("retr", "reason"),
    [
        ("150 Here it comes", Reason.OK),
        ("125 Here it comes", Reason.OK),
        ("226 There it was", Reason.OK),
        ("550 No such file", Reason.NOT_FOUND),
        ("550 Permission denied", Reason.FORBIDDEN),
        ("425 Cannot open data connection", Reason.FORBIDDEN),
        ("426 Transfer aborted", Reason.FORBIDDEN),
        ("500 What?", Reason.FORBIDDEN),
        ("421 Too many transfers", Reason.RATE_LIMIT),
    ],
)
async def test_a_transfer_that_begins_shows_the_file(patient: NetConfig, retr: str, reason: Reason) -> None:
    with open_door() as door:
        seen, _ = await scripted(patient, answers({**OLD, "EPSV": f"229 Go (|||{door.port}|)", "RETR": retr}))
    assert seen.reason is reason


@pytest.mark.parametrize("url", ["http://site.test/", "sftp://site.test/", "ftp://localhost/", "/path"])
async def test_only_valid_ftp_urls_are_asked(settings: NetConfig, url: str) -> None:
    async with open_session(settings) as session:
        with pytest.raises(ValueError):
            await fetch_ftp(session, url, turn=at_once)


async def test_every_connection_takes_its_turn_and_may_be_refused_it(patient: NetConfig) -> None:
    async def never(_: str) -> None:
        raise NotPublic

    hosts: list[str] = []
    async with serve_ftp(answers(FILE)) as site, open_session(patient) as session:
        assert (await fetch_ftp(session, site.url(), turn=never)).reason is Reason.NOT_PUBLIC
        assert site.connections == 0
        assert (await fetch_ftp(session, site.url(), turn=noting(hosts))).reason is Reason.OK
    assert (hosts, site.connections) == (["127.0.0.1"], 1)


async def test_seats_are_given_back_whatever_happens(settings: NetConfig) -> None:
    async with (
        serve_ftp(answers({"": Silence()})) as silent,
        serve_ftp(answers(FILE)) as good,
        open_session(replace(settings, connections=1)) as session,
    ):
        urls = [silent.url(), silent.url(), good.url()]
        seen = await asyncio.gather(*(fetch_ftp(session, url, turn=at_once) for url in urls))
    assert [each.reason for each in seen] == [Reason.TIMEOUT, Reason.TIMEOUT, Reason.OK]


async def test_who_gives_up_closes_the_connection(patient: NetConfig) -> None:
    ended = asyncio.Event()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()
        writer.close()
        ended.set()

    came = asyncio.Event()
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server, open_session(patient) as session:
        url = f"ftp://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        check = asyncio.create_task(fetch_ftp(session, url, turn=at_once))
        async with asyncio.timeout(LONG_S):
            await came.wait()
            check.cancel()
            with pytest.raises(asyncio.CancelledError):
                await check
            await ended.wait()


async def test_a_closed_port_is_no_evidence_against_the_host(patient: NetConfig) -> None:
    async with serve_ftp(answers(FILE)) as site:
        pass
    seen = await seen_at(patient, site.url())
    assert (seen.status, seen.reason) == (Status.IP_SILENT, Reason.CONNECTION_REFUSED)
    assert not is_host_failure(seen)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://10.1.2.3/", Reason.NOT_PUBLIC),
        ("ftp://[::1]/", Reason.NOT_PUBLIC),
        ("ftp://127.0.0.1:25/", Reason.BAD_PORT),
        ("ftps://127.0.0.1:22/", Reason.BAD_PORT),
        ("ftp://127.0.0.1:6379/", Reason.BAD_PORT),
    ],
)
async def test_neither_inner_addresses_nor_ports_of_others_are_asked(
    settings: NetConfig, url: str, reason: Reason
) -> None:
    seen = await seen_at(settings, url)
    assert (seen.reason, seen.outcome) == (reason, Outcome.DOUBTFUL)


async def test_names_are_looked_up_and_each_address_is_tried(patient: NetConfig) -> None:
    async with serve_ftp(answers(FILE), ip="127.0.0.7") as site:
        zone: Zone = {
            "site.test": ["127.0.0.7"],
            "second.test": ["127.0.0.8", "127.0.0.7"],
            "inner.test": ["10.1.2.3", "192.168.1.1"],
            "refused.test": 5,
        }
        async with name_server(zone) as dns, open_session(replace(patient, dns=(dns.address,))) as session:
            for host, reason in [
                ("site.test", Reason.OK),
                ("second.test", Reason.OK),
                ("inner.test", Reason.NOT_PUBLIC),
                ("nobody.test", Reason.DNS_GONE),
                ("refused.test", Reason.DNS_ERROR),
            ]:
                seen = await fetch_ftp(session, site.url(host=host), turn=at_once)
                assert seen.reason is reason, host
                assert is_host_failure(seen) == (reason in (Reason.DNS_GONE, Reason.DNS_ERROR))


async def test_an_address_that_is_not_permitted_is_left_out(patient: NetConfig) -> None:
    patient = replace(patient, permit=(ip_network("127.0.0.7/32"),))
    async with serve_ftp(answers(FILE), ip="127.0.0.8") as closed, serve_ftp(answers(FILE), ip="127.0.0.7"):
        zone: Zone = {"site.test": ["127.0.0.8", "127.0.0.7"]}
        async with name_server(zone) as dns:
            seen = await seen_at(replace(patient, dns=(dns.address,)), closed.url(host="site.test"))
        assert (seen.reason, closed.connections) == (Reason.CONNECTION_REFUSED, 0)


ZONE: Zone = {"site.test": ["127.0.0.1"]}


async def test_ftps_begins_with_tls(patient: NetConfig, certificates: Certificates) -> None:
    async with (
        serve_ftp(answers(FILE), tls=certificates.good("site.test")) as site,
        name_server(ZONE) as dns,
    ):
        settings = replace(patient, ca=certificates.ca_file, dns=(dns.address,))
        seen = await seen_at(settings, site.url(scheme="ftps", host="site.test"))
    assert (seen.reason, site.connections) == (Reason.OK, 1)
    assert "AUTH" not in site.commands()
    assert all(site.secret)


async def test_ftps_that_begins_in_the_clear_is_found_by_auth(patient: NetConfig, certificates: Certificates) -> None:
    hosts: list[str] = []
    async with (
        serve_ftp(answers(FILE), auth=certificates.good("127.0.0.1")) as site,
        open_session(replace(patient, ca=certificates.ca_file)) as session,
    ):
        seen = await fetch_ftp(session, site.url(scheme="ftps"), turn=noting(hosts))
    assert (seen.reason, len(hosts)) == (Reason.OK, 2)
    told = dict(zip(site.asked, site.secret, strict=True))
    assert told[b"AUTH TLS"] is False
    assert told[b"USER anonymous"] is True


@pytest.mark.parametrize(("first", "second"), [("open", "never"), ("closed", "open")])
async def test_of_the_two_ports_of_ftps_one_that_works_is_enough(
    patient: NetConfig, certificates: Certificates, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    good = certificates.good("127.0.0.1")
    async with serve_ftp(answers(FILE), tls=good) as implicit, serve_ftp(answers(FILE), auth=good) as explicit:
        if first == "closed":
            with open_door() as gone:
                implicit.port = gone.port
        monkeypatch.setattr(ftp, "DEFAULT_PORTS", {"ftp": explicit.port, "ftps": implicit.port})
        seen = await seen_at(replace(patient, ca=certificates.ca_file), implicit.url(scheme="ftps"))
        assert seen.reason is Reason.OK
        assert explicit.connections == (second == "open")
        assert implicit.connections == (first == "open")


async def test_the_port_of_ftp_is_asked_by_auth_at_once(
    patient: NetConfig, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve_ftp(answers(FILE), auth=certificates.good("127.0.0.1")) as site:
        monkeypatch.setattr(ftp, "DEFAULT_PORTS", {"ftp": site.port, "ftps": 990})
        seen = await seen_at(replace(patient, ca=certificates.ca_file), site.url(scheme="ftps"))
    assert (seen.reason, site.connections) == (Reason.OK, 1)


@pytest.mark.parametrize("refusal", ["500 What?", "534 Not here", "220 Sure"])
async def test_ftps_never_goes_on_in_the_clear(patient: NetConfig, refusal: str) -> None:
    async with serve_ftp(answers(FILE, AUTH=refusal)) as site:
        seen = await seen_at(patient, site.url(scheme="ftps"))
    assert (seen.reason, seen.outcome) == (Reason.TLS, Outcome.FAILING)
    assert site.commands() == ["AUTH"]


async def test_what_came_before_tls_is_not_taken_for_a_reply_inside(
    patient: NetConfig, certificates: Certificates
) -> None:
    injected = b"234 Go on\r\n230 You are in\r\n250 All is there\r\n"
    async with serve_ftp(answers({"AUTH": injected}), auth=certificates.good("127.0.0.1")) as site:
        seen = await seen_at(replace(patient, ca=certificates.ca_file), site.url(scheme="ftps"))
    assert seen.outcome is Outcome.FAILING


@pytest.mark.parametrize("kind", ["tls", "auth"])
@pytest.mark.parametrize(
    ("certificate", "name", "reason"),
    [
        ("expired", "site.test", Reason.CERTIFICATE_EXPIRED),
        ("good", "other.test", Reason.CERTIFICATE_WRONG_HOST),
        ("self_signed", "site.test", Reason.CERTIFICATE_SELF_SIGNED),
        ("foreign", "site.test", Reason.CERTIFICATE_UNKNOWN_ISSUER),
    ],
)
async def test_bad_certificates_are_told_apart_as_for_https(
    patient: NetConfig, certificates: Certificates, kind: str, certificate: str, name: str, reason: Reason
) -> None:
    context = getattr(certificates, certificate)(name)
    async with serve_ftp(answers(FILE), **{kind: context}) as site, name_server(ZONE) as dns:
        settings = replace(patient, ca=certificates.ca_file, dns=(dns.address,))
        seen = await seen_at(settings, site.url(scheme="ftps", host="site.test"))
    assert (seen.reason, seen.outcome) == (reason, Outcome.DOUBTFUL)
    assert b"USER anonymous" not in site.asked


async def test_silence_in_the_handshake_ends_in_time(settings: NetConfig) -> None:
    async with serve_ftp(answers({"": Silence()})) as site:
        seen = await seen_at(settings, site.url(scheme="ftps"))
    assert seen.reason is Reason.TIMEOUT


async def test_a_transfer_over_ftps_is_protected_first(patient: NetConfig, certificates: Certificates) -> None:
    with open_door() as door:
        given = {**OLD, "EPSV": f"229 Go (|||{door.port}|)", "RETR": "150 Here it comes"}
        async with serve_ftp(answers(given), tls=certificates.good("127.0.0.1")) as site:
            seen = await seen_at(replace(patient, ca=certificates.ca_file), site.url(scheme="ftps"))
    assert seen.reason is Reason.OK
    assert site.commands()[-4:] == ["PBSZ", "PROT", "EPSV", "RETR"]


async def test_what_our_own_machine_lacks_is_raised(settings: NetConfig) -> None:
    settings = replace(settings, dns=("127.0.0.1:9",))  # nobody is there: our own name servers are down
    async with open_session(settings) as session:
        with pytest.raises(OSError):
            await fetch_ftp(session, "ftp://site.test/", turn=at_once)
