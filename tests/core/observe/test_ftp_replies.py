"""The meaning of FTP's replies and paths (C-10)."""

from weboid.assets import toml_next_to
from weboid.core.observe.ftp_replies import (
    UNSAFE,
    Found,
    FtpReply,
    Hint,
    code_observation,
    data_port,
    fault_observation,
    found_by,
    found_observation,
    hint_of,
    http_code_of,
    login_folder,
    remote_path,
)
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.verdict.judge import is_host_failure

_CASES = toml_next_to(__file__)


def test_a_refusing_reply_is_judged_like_the_http_code_that_says_the_same() -> None:
    for code, text, status, reason, outcome in _CASES["replies"]:
        seen = code_observation(http_code_of(FtpReply(code, text)))
        assert (seen.status, seen.reason.word, seen.outcome) == (status, reason, outcome), (code, text)


def test_a_command_that_is_not_known_says_nothing_of_the_path() -> None:
    for code, hint in [
        (200, Hint.UNKNOWN_COMMAND), (202, Hint.UNKNOWN_COMMAND), (500, Hint.UNKNOWN_COMMAND),
        (502, Hint.UNKNOWN_COMMAND), (504, Hint.UNKNOWN_COMMAND), (550, Hint.MISSING), (553, Hint.DENIED),
        (530, Hint.DENIED), (451, Hint.TROUBLE),
    ]:  # fmt: skip
        assert hint_of(FtpReply(code)) is hint


def test_a_path_is_decoded_never_more_than_one_line_and_an_unsafe_one_is_a_doubt() -> None:
    for path, remote in [
        ("/", b""), ("/pub/a.txt", b"pub/a.txt"), ("/pub/", b"pub/"), ("/%2Fetc/motd", b"/etc/motd"),
        ("//etc/motd", b"/etc/motd"), ("/a%20b%C3%A4", b"a b\xc3\xa4"), ("/a;type=i", b"a"), ("/pub/;type=D", b"pub/"),
        ("/a;type=ii", b"a;type=ii"), ("/a?b=c", b"a?b=c"), ("/a%0D%0ADELE%20b", None), ("/a%0Ab", None),
        ("/a%0db", None), ("/a%00b", None),
    ]:  # fmt: skip
        assert remote_path(path) == remote
    assert UNSAFE.outcome is Outcome.DOUBTFUL


def test_mlst_tells_files_from_folders_and_their_size() -> None:
    for text, found in [
        ("Listing a\n type=file;size=1025;modify=20200101000000; a\nEnd", Found(1025)),
        ("Listing a\n Type=File;Size=7; a\nEnd", Found(7)),
        ("Listing a\ntype=file;size=7; a\nEnd", Found(7)),
        ("Listing a\n modify=20200101000000;perm=el;type=dir;unique=1; a\nEnd", Found(is_folder=True)),
        ("Listing .\n type=cdir;size=4096; .\nEnd", Found(is_folder=True)),
        ("Listing a\n type=file;size=-1; a\nEnd", Found()),
        ("Listing a\n type=file;size=99999999999999999999; a\nEnd", Found()),
        ("Listing a\n  a\nEnd", Found()),
        ("", Found()),
    ]:
        assert found_by(b"MLST", FtpReply(250, text)) == found
        assert found_by(b"MLST", FtpReply(550, text)) is None


def test_a_size_is_a_number_and_only_notable_files_have_one_and_a_type() -> None:
    for text, size_bytes in [("1024", 1024), (" 7 ", 7), ("-1", None), ("²", None), ("", None)]:
        assert found_by(b"SIZE", FtpReply(213, text)) == Found(size_bytes)
    for path, found, mime, size_kib in [
        (b"a/Report.PDF", Found(1025), "pdf", 2), (b"a.tar.gz", Found(0), "gzip", 0),
        (b"a.iso", Found(), "binary", None), (b"a.txt", Found(5000), None, None), (b"a.html", Found(5000), None, None),
        (b"a.jpg", Found(5000), None, None), (b"README", Found(5000), None, None),
        (b"a.zip/README", Found(5000), None, None), (b"a.zip", Found(is_folder=True), None, None),
        (b"a.\xff\xfe", Found(5000), None, None),
    ]:  # fmt: skip
        seen = found_observation(found, path)
        assert (seen.status, seen.reason, seen.mime, seen.size_kib) == (Status.FINE, Reason.OK, mime, size_kib), path


def test_a_passive_reply_gives_a_port_alone_and_a_login_its_folder_in_quotes() -> None:
    for code, text, port in [
        (229, "Entering Extended Passive Mode (|||6446|)", 6446), (229, "Ja (!!!6446!)", 6446),
        (229, "Entering Extended Passive Mode (||6446|)", None),
        (229, "Entering Extended Passive Mode (|1|203.0.113.9|6446|)", None),
        (227, "Entering Passive Mode (203,0,113,9,4,1)", 1025), (227, "=203,0,113,9,4,1", 1025),
        (227, "Entering Passive Mode", None), (500, "(|||6446|)", None),
    ]:  # fmt: skip
        assert data_port(FtpReply(code, text)) == port
    for code, text, folder in [
        (257, '"/pub" is current directory', "/pub"), (257, '"/a ""b""" is current directory', '/a "b"'),
        (257, "here", "/"), (550, '"/pub"', "/"),
    ]:  # fmt: skip
        assert login_folder(FtpReply(code, text)) == folder


def test_a_closed_port_fails_the_url_a_gone_name_the_host_and_a_silent_address_has_its_status() -> None:
    for fault in [Reason.CONNECTION_REFUSED, Reason.TIMEOUT, Reason.RESET, Reason.TLS]:
        seen = fault_observation(fault, "site.demo")
        assert (seen.status, seen.outcome) == (Status.NETWORK, Outcome.FAILING), fault
        assert not is_host_failure(seen), fault
    seen = fault_observation(Reason.DNS_GONE, "site.demo")
    assert seen.status is Status.DNS_GONE
    assert is_host_failure(seen)
    assert fault_observation(Reason.TIMEOUT, "192.0.2.7").status is Status.IP_SILENT
