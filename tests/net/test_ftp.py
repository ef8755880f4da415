"""One check over FTP against real servers, a well-behaved one and others that are not (C-10, C-13)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.ftpserver import FtpSite, Script, answers, endlessly, open_door, real_ftp, serve_ftp
from support.misbehaving import Act, Certificates, HangUp, Silence, Zone, at_once, name_server, noting

from weboid.config import NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.net import ftp
from weboid.net.fetch import ANSWERS_A_CHECK
from weboid.net.ftp import fetch_ftp
from weboid.net.outbound import open_session

HANGING_S = 60.0
FILE = {"MLST": "250-Listing\r\n type=file;size=2049; file\r\n250 End"}
NO_DATA = {"MLST": "550 No such file", "SIZE": "550 No such file"}
OLD = {"CWD": "550 No such directory"}
"""A server that knows of files only how to send them."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(b"x" * 100)
    (tmp_path / "report.pdf").write_bytes(b"x" * 2049)
    (tmp_path / "a b ä?x=1;y").write_bytes(b"x")
    (tmp_path / "pub").mkdir()
    (tmp_path / "pub" / "inner").write_bytes(b"x")
    return tmp_path


async def seen_at(settings: NetConfig, url: str) -> Observation:
    async with open_session(settings) as session:
        return await fetch_ftp(session, url, turn=at_once)


async def scripted(settings: NetConfig, script: Script, path: str = "/file") -> tuple[Observation, FtpSite]:
    """The observation of one check of a scripted server, and what that was asked."""
    async with serve_ftp(script) as site:
        return await seen_at(settings, site.url(path)), site


WAYS_TO_ASK = [(), ("MLST",), ("MLST", "SIZE"), ("MLST", "SIZE", "MDTM"), ("MLST", "SIZE", "MDTM", "EPSV")]


THERE = (
    "/file",
    "/pub",
    "/pub/",
    "/pub/inner",
    "//pub/inner",
    "/%2Ffile",
    "/",
    "/file;type=i",
    "/a%20b%20%C3%A4?x=1;y",
)
MISSING = ("/nothing", "/nothing/", "/pub/nothing", "/nothing/inner", "/FILE")


@pytest.mark.parametrize("without", WAYS_TO_ASK)
async def test_a_real_server_is_understood_however_little_it_knows(
    settings: NetConfig, folder: Path, without: tuple[str, ...]
) -> None:
    with real_ftp(folder, without=without, named="203.0.113.9") as site:
        found = {path: await seen_at(settings, site.url(path)) for path in (*THERE, *MISSING)}
    assert {path: (seen.status, seen.reason) for path, seen in found.items()} == {
        **dict.fromkeys(THERE, (Status.FINE, Reason.OK)),
        **dict.fromkeys(MISSING, (Status.NOT_FOUND, Reason.NOT_FOUND)),
    }


@pytest.mark.parametrize("without", [(), ("MLST",)])
async def test_a_notable_file_has_its_size(settings: NetConfig, folder: Path, without: tuple[str, ...]) -> None:
    with real_ftp(folder, without=without) as site:
        seen = await seen_at(settings, site.url("/report.pdf"))
    assert (seen.reason, seen.mime, seen.size_kib) == (Reason.OK, "pdf", 3)


@pytest.mark.parametrize(
    ("perm", "status", "reason"),
    [(None, Status.NO_ACCESS, Reason.LOGIN), ("r", Status.NO_ACCESS, Reason.FORBIDDEN)],
    ids=["for members only", "nothing may be looked at"],
)
async def test_a_server_that_refuses_does_not_fail(
    settings: NetConfig, folder: Path, perm: str | None, status: Status, reason: Reason
) -> None:
    with real_ftp(folder, perm=perm) as site:
        seen = await seen_at(settings, site.url())
    assert (seen.status, seen.reason, seen.outcome) == (status, reason, Outcome.REFUSED)


async def test_only_commands_that_are_needed_are_said_and_none_makes_a_file_missing(settings: NetConfig) -> None:
    seen, site = await scripted(replace(settings, sender="bot@tools.example"), answers(FILE))
    assert seen.reason is Reason.OK
    assert site.asked[:3] == [b"USER anonymous", b"PASS bot@tools.example", b"MLST file"]
    assert site.commands() == ["USER", "PASS", "MLST"]
    seen, site = await scripted(settings, answers(FILE, USER="230 Come in"))
    assert (seen.reason, site.commands()) == (Reason.OK, ["USER", "MLST"])
    seen, site = await scripted(settings, answers({"MLST": "550 No such file", "SIZE": "213 5"}))
    assert (seen.reason, site.commands()) == (Reason.OK, ["USER", "PASS", "MLST", "TYPE", "SIZE"])


async def test_a_path_is_tried_from_the_root_where_the_login_leads_to_another_folder(settings: NetConfig) -> None:
    def script(line: bytes) -> Act:
        return answers(FILE if line.endswith(b" /file") else NO_DATA, PWD='257 "/home/ftp"')(line)

    seen, site = await scripted(settings, script)
    assert seen.reason is Reason.OK
    assert [line for line in site.asked if line != b"QUIT"][-2:] == [b"PWD", b"MLST /file"]


async def test_long_welcomes_and_bare_line_ends_are_understood(settings: NetConfig) -> None:
    welcome = "120 In a minute\r\n220-Welcome\r\n\r\n220 is not the end of \x1b[2Jthis:\r\n"
    hello = "220-Welcome\r\n  230 of our files\r\n\x07\x00\xff 2200\r\n220-more\r\n220 Now"
    seen, _ = await scripted(settings, answers(FILE, **{"": hello}))
    assert seen.reason is Reason.OK
    seen, _ = await scripted(settings, answers(FILE, **{"": welcome.splitlines()[0] + "\r\n220 Now"}))
    assert seen.reason is Reason.OK
    seen, _ = await scripted(settings, lambda line: bytes(answers(FILE)(line)).replace(b"\r", b""))  # type: ignore[arg-type]
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
async def test_every_stage_may_refuse(settings: NetConfig, given: dict[str, str], reason: Reason) -> None:
    seen, _ = await scripted(settings, answers(given))
    assert seen.reason is reason


STAGES = ["", "USER", "PASS", "MLST", "SIZE", "CWD"]


async def test_silence_at_any_stage_ends_in_time(hasty: NetConfig) -> None:
    silent = (scripted(hasty, answers({**NO_DATA, stage: Silence()})) for stage in STAGES)
    async with asyncio.timeout(HANGING_S):
        found = await asyncio.gather(*silent)
    assert [(seen.reason, site.connections) for seen, site in found] == [(Reason.TIMEOUT, 1)] * len(STAGES)


@pytest.mark.parametrize("reset", [False, True])
async def test_a_hang_up_at_any_stage_is_a_reset(settings: NetConfig, reset: bool) -> None:
    rude = (scripted(settings, answers({**NO_DATA, stage: HangUp(reset=reset)})) for stage in STAGES)
    found = [seen for seen, _ in await asyncio.gather(*rude)]
    assert [(seen.status, seen.reason) for seen in found] == [(Status.NETWORK, Reason.RESET)] * len(STAGES)


@pytest.mark.parametrize(
    ("stage", "line"),
    [
        ("", b"220 " + b"x" * 4096),
        ("PASS", b"230-More\r\n"),
        ("MLST", b"250-" + b"\r\n" * 2000),
        ("", b"120 Wait\r\n"),
        ("MLST", b"\r\n"),
    ],
)
async def test_what_has_no_end_is_read_to_a_bound_only(settings: NetConfig, stage: str, line: bytes) -> None:
    seen, site = await scripted(settings, answers({stage: endlessly(line)}))
    assert seen.reason is Reason.PROTOCOL
    assert site.sent_bytes < 1_000 * settings.body_bytes  # with all that lies in buffers between us


async def test_what_drips_is_silent_in_the_handshake_or_is_always_just_in_time_ends_in_time(hasty: NetConfig) -> None:
    seen, _ = await scripted(hasty, answers({"": endlessly(b"220-Welcome\r\n", 0.05)}))
    assert seen.reason is Reason.TIMEOUT
    async with serve_ftp(answers({"": Silence()})) as site:
        seen = await seen_at(hasty, site.url(scheme="ftps"))
    assert seen.reason is Reason.TIMEOUT
    hasty = replace(hasty, answer_s=0.2)

    async def late(line: bytes) -> AsyncIterator[bytes]:
        await asyncio.sleep(0.7 * hasty.answer_s)
        yield line

    known_replies = answers(NO_DATA)
    seen, site = await scripted(hasty, lambda line: late(bytes(known_replies(line))))  # type: ignore[arg-type]
    assert seen.reason is Reason.TIMEOUT
    assert len(site.asked) <= ANSWERS_A_CHECK / 0.7 + 1


@pytest.mark.parametrize(
    "greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-Other\r\n", b"\x00\xff\r\n", b"2200 Ready\r\n", b"\r\n"]
)
async def test_what_is_not_ftp_is_a_fault(settings: NetConfig, greeting: bytes) -> None:
    seen, site = await scripted(settings, answers({"": greeting}))
    assert (seen.reason, site.asked) == (Reason.PROTOCOL, [b"QUIT"])


async def test_a_byte_that_telnet_would_swallow_is_said_twice(settings: NetConfig) -> None:
    _, site = await scripted(settings, answers(FILE), "/a%FFb")
    assert b"MLST a\xff\xffb" in site.asked
    assert b"OPTS UTF8 ON" in site.asked


async def test_no_data_connection_is_made_where_the_server_knows_its_files(settings: NetConfig) -> None:
    for given in (NO_DATA, {"MDTM": "550 No such file"}, {"SIZE": "550 No such file"}):
        seen, site = await scripted(settings, answers(given))
        assert seen.reason is Reason.NOT_FOUND
        assert not {"EPSV", "PASV", "RETR"} & set(site.commands())


async def test_data_comes_from_the_server_itself_whatever_address_it_names(settings: NetConfig) -> None:
    """FTP bounce, or a way into a network of ours: neither is opened."""
    with open_door("127.0.0.1") as own, open_door("127.0.0.2") as foreign:
        port = f"{own.port // 256},{own.port % 256}"
        given = {**OLD, "PASV": f"227 Go (127,0,0,2,{port})", "RETR": "150 Here it comes"}
        seen, _ = await scripted(settings, answers(given))
        assert (seen.reason, own.connections, foreign.connections) == (Reason.OK, 1, 0)
        # A port that only the foreign address has.
        given["PASV"] = f"227 Go {foreign.six}"
        seen, site = await scripted(settings, answers(given))
        assert (seen.reason, seen.outcome) == (Reason.FORBIDDEN, Outcome.REFUSED)
        assert (own.connections, foreign.connections) == (1, 0)
        assert "RETR" not in site.commands()


@pytest.mark.parametrize("port", [0, 22, 1023, 6667, 99_999])
async def test_no_port_of_another_service_is_taken_for_data(settings: NetConfig, port: int) -> None:
    given = {**OLD, "EPSV": f"229 Go (|||{port}|)", "RETR": "150 Here it comes"}
    seen, site = await scripted(settings, answers(given))
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
async def test_a_transfer_that_begins_shows_the_file(settings: NetConfig, retr: str, reason: Reason) -> None:
    with open_door() as door:
        seen, _ = await scripted(settings, answers({**OLD, "EPSV": f"229 Go (|||{door.port}|)", "RETR": retr}))
    assert seen.reason is reason


ZONE: Zone = {"site.test": ["127.0.0.1"]}


async def test_ftps_begins_with_tls(settings: NetConfig, certificates: Certificates) -> None:
    async with serve_ftp(answers(FILE), tls=certificates.good("site.test")) as site, name_server(ZONE) as dns:
        settings = replace(settings, ca=certificates.ca_file, dns=(dns.address,))
        seen = await seen_at(settings, site.url(scheme="ftps", host="site.test"))
    assert (seen.reason, site.connections) == (Reason.OK, 1)
    assert "AUTH" not in site.commands()
    assert all(site.secret)


async def test_ftps_that_begins_in_the_clear_is_found_by_auth(settings: NetConfig, certificates: Certificates) -> None:
    hosts: list[str] = []
    async with (
        serve_ftp(answers(FILE), auth=certificates.good("127.0.0.1")) as site,
        open_session(replace(settings, ca=certificates.ca_file)) as session,
    ):
        seen = await fetch_ftp(session, site.url(scheme="ftps"), turn=noting(hosts))
    assert (seen.reason, len(hosts)) == (Reason.OK, 2)
    known_replies = dict(zip(site.asked, site.secret, strict=True))
    assert known_replies[b"AUTH TLS"] is False
    assert known_replies[b"USER anonymous"] is True


@pytest.mark.parametrize(("first", "second"), [("open", "never"), ("closed", "open")])
async def test_of_the_two_ports_of_ftps_one_that_works_is_enough(
    settings: NetConfig, certificates: Certificates, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    good = certificates.good("127.0.0.1")
    async with serve_ftp(answers(FILE), tls=good) as implicit, serve_ftp(answers(FILE), auth=good) as explicit:
        if first == "closed":
            with open_door() as gone:
                implicit.port = gone.port
        monkeypatch.setattr(ftp, "DEFAULT_PORTS", {"ftp": explicit.port, "ftps": implicit.port})
        seen = await seen_at(replace(settings, ca=certificates.ca_file), implicit.url(scheme="ftps"))
        assert seen.reason is Reason.OK
        assert explicit.connections == (second == "open")
        assert implicit.connections == (first == "open")


async def test_the_port_of_ftp_is_asked_by_auth_at_once(
    settings: NetConfig, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve_ftp(answers(FILE), auth=certificates.good("127.0.0.1")) as site:
        monkeypatch.setattr(ftp, "DEFAULT_PORTS", {"ftp": site.port, "ftps": 990})
        seen = await seen_at(replace(settings, ca=certificates.ca_file), site.url(scheme="ftps"))
    assert (seen.reason, site.connections) == (Reason.OK, 1)


@pytest.mark.parametrize("refusal", ["500 What?", "534 Not here", "220 Sure"])
async def test_ftps_never_goes_on_in_the_clear(settings: NetConfig, refusal: str) -> None:
    async with serve_ftp(answers(FILE, AUTH=refusal)) as site:
        seen = await seen_at(settings, site.url(scheme="ftps"))
    assert (seen.reason, seen.outcome) == (Reason.TLS, Outcome.FAILING)
    assert site.commands() == ["AUTH"]


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
async def test_bad_certificates_are_reported_apart_as_for_https(
    settings: NetConfig, certificates: Certificates, kind: str, certificate: str, name: str, reason: Reason
) -> None:
    context = getattr(certificates, certificate)(name)
    async with serve_ftp(answers(FILE), **{kind: context}) as site, name_server(ZONE) as dns:
        settings = replace(settings, ca=certificates.ca_file, dns=(dns.address,))
        seen = await seen_at(settings, site.url(scheme="ftps", host="site.test"))
    assert (seen.reason, seen.outcome) == (reason, Outcome.DOUBTFUL)
    assert b"USER anonymous" not in site.asked


async def test_a_transfer_over_ftps_is_protected_first_and_what_came_before_tls_is_no_reply_inside(
    settings: NetConfig, certificates: Certificates
) -> None:
    with open_door() as door:
        given = {**OLD, "EPSV": f"229 Go (|||{door.port}|)", "RETR": "150 Here it comes"}
        async with serve_ftp(answers(given), tls=certificates.good("127.0.0.1")) as site:
            seen = await seen_at(replace(settings, ca=certificates.ca_file), site.url(scheme="ftps"))
    assert seen.reason is Reason.OK
    assert site.commands()[-4:] == ["PBSZ", "PROT", "EPSV", "RETR"]
    injected = b"234 Go on\r\n230 You are in\r\n250 All is there\r\n"
    async with serve_ftp(answers({"AUTH": injected}), auth=certificates.good("127.0.0.1")) as site:
        seen = await seen_at(replace(settings, ca=certificates.ca_file), site.url(scheme="ftps"))
    assert seen.outcome is Outcome.FAILING
