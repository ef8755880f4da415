"""Parsing replies, however they are split into pieces, and where reading ends (C-1, C-13). Content codings within
bounds, however a body is cut (C-2, C-13). The cookies of one check (C-2).
"""

import gzip
import zlib
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.net.content_coding import Decoder
from weboid.net.fetch import COOKIES, COOKIES_CHARS, CookieJar
from weboid.net.response_parser import (
    HEAD_BYTES,
    HEADER_LINES,
    INTERIM,
    Body,
    BrokenReply,
    ReplyTooLarge,
    ResponseParser,
)

LINE = 1000
BODY = 100


def read(*pieces: bytes, method: str = "GET") -> tuple[ResponseParser, bool]:
    """A reply that came in pieces, b"" being the end of the connection; and whether no more was wanted."""
    coming = ResponseParser(method, line_bytes=LINE, body_bytes=BODY)
    done = False
    for piece in pieces:
        assert not done
        done = coming.take(piece)
    return coming, done


def body_of(*pieces: bytes) -> bytes:
    coming, done = read(*pieces)
    assert done
    return coming.body


def test_a_reply_with_a_length() -> None:
    coming, done = read(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A:  a b \r\nx-a: c\r\n\r\nbody")
    assert (coming.code, coming.headers, coming.body) == (200, {"content-length": "4", "x-a": "a b"}, b"body")
    assert done
    assert coming.is_clean


REPLIES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789",
    b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n"
    b"3\r\nabc\r\n1;x=y\r\nd\r\nA \r\n0123456789\r\n0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 200 OK\nFolded: a\n b\n\nthe end",
    b"\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 3\r\n\r\nhay",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 200\r\nNo colon here\r\n: no name\r\nA b : c\r\nContent-Length: 0\r\n\r\n",
]


@pytest.mark.parametrize("reply", REPLIES)
@given(st.data())
def test_how_a_reply_is_cut_makes_no_difference(reply: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(reply) - 1), max_size=20)))
    pieces = [reply[start:end] for start, end in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    whole, cut = (ResponseParser("GET", line_bytes=LINE, body_bytes=BODY) for _ in range(2))
    for piece in (reply, b""):
        if whole.take(piece):
            break
    for piece in (*pieces, b""):
        if cut.take(piece):
            break
    assert (cut.code, cut.headers, cut.cookies) == (whole.code, whole.headers, whole.cookies)
    if whole.code != 302:  # whose body is not waited for
        assert cut.body == whole.body


def test_steps_on_the_way_are_not_the_reply() -> None:
    coming, _ = read(b"HTTP/1.1 100 Go\r\nX: 1\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n")
    assert (coming.code, coming.headers) == (200, {})


def test_a_change_of_protocol_is_the_reply_and_the_last_one() -> None:
    coming, done = read(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n\x00\x01")
    assert (coming.code, done, coming.is_clean) == (101, True, False)


@pytest.mark.parametrize(
    ("start", "code"),
    [
        *((b"HTTP/1.1 " + rest, 200) for rest in (b"200 OK", b"200", b" 200\tOK", b"200 caf\xe9 \xff", b"OK", b"1 ")),
        *(
            (line, 200) for line in (b"HTTP/2 200", b"http/1.1 200 OK", b"HTTP 200 OK", b"ICY 200 OK")
        ),  # a radio station
        (b"HTTP/1.0 404 Not Found", 404),
        (b"HTTP/1.1 999 Denied", 999),
        (b"HTTP/1.11 280 Fine", 280),
        (b"\xef\xbb\xbfHTTP/1.1 302 Found", 302),
    ],
)
def test_first_lines_that_browsers_read_are_read(start: bytes, code: int) -> None:
    assert read(start + b"\r\n\r\n")[0].code == code


@pytest.mark.parametrize(
    "head",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 99999 What\r\n\r\n",
        b"HTTP/1.1 2000 What\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n",
        b"SSH-2.0-Other\r\n\r\n",
    ],
)
def test_what_is_no_reply_is_broken(head: bytes) -> None:
    with pytest.raises(BrokenReply):
        read(head)


@pytest.mark.parametrize("body", [b"<html>HTTP/0.9</html>", b"<!DOCTYPE html>\r\n\r\n<p>A mill"])
def test_a_document_without_a_head_is_an_answer_that_nobody_has_read(body: bytes) -> None:
    with pytest.raises(ReplyTooLarge, match="status line"):
        read(body, b"")


@pytest.mark.parametrize("piece", [b"x" * 100, b"\r\n" * 50, b"HTTP/1.1 102 Wait\r\n\r\n"])
def test_what_never_becomes_a_reply_is_not_read_for_ever(piece: bytes) -> None:
    with pytest.raises(ReplyTooLarge):
        read(*[piece] * (HEAD_BYTES // len(piece) + 2))


@pytest.mark.parametrize("size", [1, 1000, HEAD_BYTES])
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * (HEADER_LINES + 1) + b"\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * (HEADER_LINES + 2),
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * LINE + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + 263 * (b"X: " + b"y" * 994 + b"\r\n") + b"\r\n",
        b"\r\n" * (HEAD_BYTES // 2) + b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 102 Wait\r\n\r\n" * (INTERIM + 1) + b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: y" + b"\r\n z" * (HEADER_LINES + 1) + b"\r\n\r\n",
    ],
)
def test_a_head_beyond_the_bounds_is_too_large_however_it_comes(head: bytes, size: int) -> None:
    with pytest.raises(ReplyTooLarge):
        read(*(head[at : at + size] for at in range(0, len(head), size)))


@pytest.mark.parametrize("size", [1, 1000, HEAD_BYTES])
def test_a_head_within_the_bounds_is_read_however_it_comes(size: int) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + 240 * (b"X: " + b"y" * 994 + b"\r\n")
    head += b"Y: z\r\n" * (HEADER_LINES - 240) + b"\r\n"
    coming, _ = read(*(head[at : at + size] for at in range(0, len(head), size)))
    assert (coming.code, coming.headers["y"], coming.begun_bytes) == (200, "z", 0)


@pytest.mark.parametrize(
    ("begun", "count"),
    [
        (b"", 0),
        (b"HTTP/1.1 ", 9),
        (b"\r\n\r\n", 4),
        (b"HTTP/1.1 102 Wait\r\n\r\n", 0),
        (b"HTTP/1.1 102 Wait\r\n\r\nHT", 2),
    ],
)
def test_it_is_known_how_much_of_a_head_has_come(begun: bytes, count: int) -> None:
    coming, _ = read(*([begun] if begun else []))
    assert coming.begun_bytes == count


def dripped_s(start: bytes, endless: bytes, count: int) -> float:
    """CPU seconds for parsing so many bytes, one by one, of something that does not end."""
    coming = ResponseParser("GET", line_bytes=2 * count, body_bytes=2 * count)
    coming.take(start)
    pieces = [bytes([byte]) for byte in (endless * (count // len(endless) + 1))[:count]]
    begun = process_time()
    for piece in pieces:
        if coming.take(piece):
            break
    return process_time() - begun


@pytest.mark.parametrize(
    ("start", "endless"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
        (b"\r\n", b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", (b"y" * 300 + b"\r\n ")),
        (b"HTTP/1.1 200 OK\r\n", (b"y" * 1000 + b"\r\n")),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 4000 + b"\r\ny\r\n"),
    ],
)
def test_what_comes_byte_by_byte_is_not_searched_anew_for_each_byte(start: bytes, endless: bytes) -> None:
    # In proportion it would be 40 ms; searched anew for each byte it takes several seconds.
    assert dripped_s(start, endless, 60_000) < 1.0


def test_a_body_in_chunks_that_are_nearly_all_framing_ends_early() -> None:
    coming = ResponseParser("GET", line_bytes=LINE, body_bytes=65_536)
    coming.take(CHUNKED)
    chunk = b"1;" + b"x" * 4000 + b"\r\ny\r\n"
    taken = 1
    while not coming.take(chunk):
        taken += 1
    assert taken < 20
    assert (coming.code, coming.is_clean, coming.body) == (200, False, b"y" * (taken - 1))


def test_a_head_that_lacks_only_its_empty_line_is_a_reply_once_the_connection_ends() -> None:
    coming, done = read(b"HTTP/1.1 302 Found\r\n", b"Location: /x\r\n", b"")
    assert (coming.code, coming.headers, coming.is_clean, done) == (302, {"location": "/x"}, False, True)


@pytest.mark.parametrize("begun", [(), (b"HTTP/1.1 200 OK\r\nContent-",), (b"HTTP/1.1 100 Continue\r\n\r\n",)])
def test_an_end_before_the_head_is_a_reset(begun: tuple[bytes, ...]) -> None:
    with pytest.raises(ConnectionResetError):
        read(*begun, b"")


@pytest.mark.parametrize(("method", "code"), [("HEAD", 200), ("HEAD", 404), ("GET", 204), ("GET", 304)])
def test_what_has_no_body_is_done_with_its_head(method: str, code: int) -> None:
    head = b"HTTP/1.1 %d Word\r\nContent-Length: 10\r\n\r\n" % code
    coming, done = read(head, method=method)
    assert (done, coming.is_clean, coming.body) == (True, True, b"")
    coming, done = read(head + b"a body all the same", method=method)
    assert (done, coming.is_clean, coming.body) == (True, False, b"")


@pytest.mark.parametrize(
    ("version", "connection", "keeps"),
    [
        (b"1.1", b"", True),
        (b"1.1", b"Connection: Keep-Alive\r\n", True),
        (b"1.1", b"Connection: Close\r\n", False),
        (b"1.0", b"", False),
        (b"1.0", b"Connection: Keep-Alive\r\n", True),
    ],
)
def test_who_keeps_the_connection(version: bytes, connection: bytes, keeps: bool) -> None:
    coming, done = read(b"HTTP/" + version + b" 200 OK\r\n" + connection + b"Content-Length: 2\r\n\r\nok")
    assert (done, coming.is_clean) == (True, keeps)


@pytest.mark.parametrize(
    ("sent", "is_clean", "body"),
    [
        ([b"2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n"], False, b"ok"),
        ([b"50000\r\n\r\n", b"x" * 60, b"x" * 60], False, b"x" * BODY),
        ([b"5000\r\n\r\n", b"x" * 200, b"x" * 4800], True, b"x" * BODY),
    ],
    ids=["nothing beyond the length", "a long body to the bound only", "a short rest, so that the connection is kept"],
)
def test_how_much_is_read_where_a_length_is_said(sent: list[bytes], is_clean: bool, body: bytes) -> None:
    coming, done = read(b"HTTP/1.1 200 OK\r\nContent-Length: " + sent[0], *sent[1:])
    assert (done, coming.is_clean, coming.body) == (True, is_clean, body)


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        b"Content-Length: -1\r\n",
        b"Content-Length: 2, 2\r\n",
        b"Content-Length: 0x2\r\n",
        b"Transfer-Encoding: gzip\r\n",
        b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n",
    ],
)
def test_without_a_length_that_can_be_read_the_body_ends_with_the_connection(lines: bytes) -> None:
    coming, done = read(b"HTTP/1.1 200 OK\r\n" + lines + b"\r\nlonger", b" than two", b"")
    assert (done, coming.is_clean, coming.body) == (True, False, b"longer than two")


def test_of_a_document_without_text_more_is_read_and_less_is_kept() -> None:
    """A success alone: of an error's page the beginning is enough."""
    head = "HTTP/1.1 {} OK\r\nContent-Type: text/html\r\n\r\n"
    script = b"<html><script>" + b"x = 1; " * 30_000 + b"</script>"
    cases = ((200, 500_000, True), (200, 100_000, False), (200, 0, False), (404, 500_000, False))
    for code, text_bytes, is_found in cases:
        coming = ResponseParser("GET", line_bytes=LINE, body_bytes=BODY, text_bytes=text_bytes)
        pieces = [head.format(code).encode(), script, b"<p>the text at last</p>" * 100]
        assert [coming.take(piece) for piece in pieces] == [False, not is_found, not is_found]
        assert (b"the text at last" in coming.body) is is_found
        assert len(coming.body) < 5_000


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("chunks", "body", "is_clean"),
    [
        (b"3\r\nabc\r\n0\r\n\r\n", b"abc", True),
        (b"3\nabc\n0\n\n", b"abc", True),
        (b' 03 ; ext="1"\r\nabc\r\n000\r\n\r\n', b"abc", True),
        (b"3\r\nabc0\r\n\r\n", b"abc", True),  # the line end after the chunk forgotten
        (b"3\r\nabc\r\n0\r\nTrailer: x\r\n\r\n", b"abc", False),
        (b"3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", b"abc", False),
        (b"3\r\nabc\r\nnonsense\r\nxyz", b"abc", False),
        (b"3\r\nabc\r\n-1\r\nxyz", b"abc", False),
        (b"3\r\nabc\r\n\r\n\r\n", b"abc", False),
        (b"<!doctype html>\r\n", b"", False),
        (b"ffffffffffffffff\r\nabc", b"", False),
        (b"3\r\nabc\r\n" + b"9" * 5000, b"abc", False),
    ],
)
def test_chunks_and_what_is_none(chunks: bytes, body: bytes, is_clean: bool) -> None:
    coming, done = read(CHUNKED + chunks)
    assert (done, coming.body, coming.is_clean) == (True, body, is_clean)


def test_chunks_that_break_off_leave_what_came() -> None:
    assert body_of(CHUNKED + b"10\r\nabc", b"def", b"") == b"abcdef"


def test_endless_chunks_are_read_to_the_bound_only() -> None:
    coming = ResponseParser("GET", line_bytes=LINE, body_bytes=BODY)
    assert not coming.take(CHUNKED)
    taken = 0
    while not coming.take(b"1\r\nx\r\n"):
        taken += 1
    assert taken < BODY + 2
    assert len(coming.body) == BODY


@given(st.binary(max_size=300))
def test_whatever_comes_in_is_read_or_refused(data: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n", CHUNKED):
        coming = ResponseParser("GET", line_bytes=LINE, body_bytes=BODY)
        try:
            done = coming.take(start + data) if start + data else False
        except BrokenReply:
            continue
        assert done or coming.code == 0 or len(coming.body) < BODY
        for value in coming.headers.values():
            value.encode("utf-8", "surrogateescape")


TEXT = b"the beginning of a page " * 100
BARE = zlib.compressobj(wbits=-15)
DEFLATED = BARE.compress(TEXT) + BARE.flush()


def decoded(data: bytes, coding: str, limit: int, size: int = 10_000_000) -> bytes:
    decoder, found = Decoder(coding), b""
    for start in range(0, len(data), size):
        if len(found) < limit:
            found += decoder.take(data[start : start + size], limit - len(found))
    return found


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("", TEXT),
        *((coding, TEXT) for coding in ("identity", "utf-8", "none", "8bit", "aws-chunked")),
        ("identity, gzip", gzip.compress(TEXT, mtime=0)),
        ("gzip", gzip.compress(TEXT, mtime=0)),
        (" GZIP ", gzip.compress(TEXT, mtime=0)),
        ("x-gzip", gzip.compress(TEXT, mtime=0)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", DEFLATED),
    ],
)
def test_every_coding_we_accept_is_read(coding: str, data: bytes) -> None:
    for size in (1, 2, 7, 10_000):
        assert decoded(data, coding, 10_000, size) == TEXT
        assert decoded(data, coding, 7, size) == TEXT[:7]


def test_a_cut_body_gives_its_beginning_a_bomb_no_more_than_the_bound_and_a_lie_nothing() -> None:
    assert TEXT.startswith(decoded(gzip.compress(TEXT)[:-12], "gzip", 10_000)[:10])
    assert decoded(gzip.compress(bytes(50_000_000)), "gzip", 1000) == bytes(1000)
    assert decoded(b"<html>plain after all", "gzip", 100) == b""
    assert decoded(b"<html>plain after all", "gzip", 100, 1) == b""


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "utf-8, compress"])
def test_a_coding_we_did_not_ask_for_gives_nothing(coding: str) -> None:
    assert decoded(TEXT, coding, 100) == b""


@given(st.binary(max_size=200), st.integers(0, 60), st.integers(1, 50))
def test_damaged_data_gives_something_bounded(noise: bytes, place: int, size: int) -> None:
    data = gzip.compress(TEXT)
    assert len(decoded(data[:place] + noise + data[place:], "gzip", 500, size)) <= 500


@pytest.mark.parametrize("coding", ["gzip", "br", "identity"])
def test_what_is_taken_of_a_server_is_bounded_whatever_it_sends(coding: str) -> None:
    """A stream that has ended and goes on, one in a coding that nobody asked for, a script without end."""
    body = Body(200, {"content-type": "text/html", "content-encoding": coding}, 1_000, 20_000)
    piece = gzip.compress(b"<script>") if coding == "gzip" else b"<script>" + b"x" * 100
    taken = len(piece)
    while not body.take(piece):
        taken += len(piece)
    assert taken <= (20_200 if coding == "identity" else 1_200)
    assert len(body.content()) <= 1_000


def test_a_cookie_goes_back_to_its_host_or_domain_and_nobody_sets_one_for_others() -> None:
    jar = CookieJar()
    jar.take("www.site.test", "a=1; Path=/; HttpOnly; Secure")
    assert jar.header("www.site.test") == "a=1"
    assert jar.header("site.test") == jar.header("x.www.site.test") == ""
    jar = CookieJar()
    jar.take("www.site.test", "a=1; Domain=.Site.test")
    assert jar.header("site.test") == jar.header("shop.site.test") == "a=1"
    assert jar.header("othersite.test") == ""
    jar = CookieJar()
    jar.take("evil.test", "a=1; Domain=site.test")
    jar.take("site.test", "a=1; Domain=test")
    assert jar.header("site.test") == "a=1"  # the second is kept, for its own host only
    assert jar.header("other.test") == ""
    jar = CookieJar()
    for value in range(3):
        jar.take("site.test", f"a={value}")
    assert jar.header("site.test") == "a=2"


@pytest.mark.parametrize("end", ["Max-Age=0", "max-age=-1; Path=/", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_cookie_can_be_taken_back(end: str) -> None:
    jar = CookieJar()
    jar.take("site.test", "a=1; Max-Age=3600; Expires=Fri, 01 Jan 2100 00:00:00 GMT")
    assert jar.header("site.test") == "a=1"
    jar.take("site.test", f"a=; {end}")
    assert jar.header("site.test") == ""


@given(st.lists(st.text(max_size=50) | st.from_regex(r"[a-z]{1,9}=[a-z]{0,5000}", fullmatch=True), max_size=60))
def test_no_server_can_fill_the_jar_or_break_the_header(lines: list[str]) -> None:
    jar = CookieJar()
    for line in lines:
        jar.take("site.test", line)
    header = jar.header("site.test")
    assert len(header) <= COOKIES_CHARS
    assert header.count("; ") < COOKIES
    assert not any(char < " " or char == "\x7f" for char in header)
