"""CDX in all dialects: the same captures, and bad rows that lose nothing else."""

import json

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.archive.dialects.cdx import rows_of
from weboid.core.archive.dialects.replies import text_of

NAMES = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
ROW = ["demo,mill)/", "20110203040506", "http://mill.demo:80/", "text/html", "200", "MGIGF4GRGGF5GKV6", "1811"]
PYWB = {
    "urlkey": ROW[0], "timestamp": ROW[1], "url": ROW[2], "mime": ROW[3], "status": ROW[4],
    "digest": "sha1:MGIGF4GRGGF5GKV6", "length": ROW[6], "access": "allow",
}  # fmt: skip
CDXJ = {name: value for name, value in PYWB.items() if name not in ("urlkey", "timestamp")}
WIDE = [*ROW[:6], "-", "-", ROW[6], "43993900", "mills.arc.gz"]
SHORT = [ROW[1], ROW[2], ROW[4], ROW[3], ROW[5], ROW[6]]


def test_each_dialect_tells_the_same_capture() -> None:
    for text in [
        json.dumps([NAMES, ROW]), json.dumps([NAMES[1:], ROW[1:]]),
        json.dumps([NAMES, ROW, [], ["demo%2Cmill%29%2F+20110203040507"]]), json.dumps(PYWB), json.dumps(PYWB) + "\n",
        f"{ROW[0]} {ROW[1]} {json.dumps(CDXJ)}\n", " ".join(ROW) + "\n", " ".join(WIDE) + "\r\n",
        " ".join(SHORT) + "\n", " ".join(ROW) + "\n\ndemo%2Cmill%29%2F+20110203040507\n",
        " CDX N b a m s k S\n" + " ".join(ROW) + "\n", "\ufeff\n " + " ".join(ROW) + "\n",
    ]:  # fmt: skip
        rows = rows_of(text_of(text.encode()))
        assert rows, text
        (capture,) = rows.captures
        assert (f"{capture.taken:%Y%m%d%H%M%S}", *capture[1:6]) == (
            "20110203040506", "http://mill.demo:80/", 200, "text/html", "MGIGF4GRGGF5GKV6", 1811,
        ), text  # fmt: skip
        assert (rows.bad, rows.blocked, rows.is_cut) == (0, 0, False), text


def _with(**changes: object) -> list[object]:
    return [changes.get(name, value) for name, value in zip(NAMES, ROW, strict=True)]


def test_a_bad_row_loses_nothing_but_itself() -> None:
    for bad in [
        _with(timestamp="20000012112233"), _with(timestamp="20000800241623"), _with(timestamp="19691231235959"),
        _with(timestamp="2011"), _with(timestamp=20110203040506), _with(timestamp="２０１１0203040506"),
        _with(original="mailto:miller@mill.demo"), _with(original="data:image/png;base64,AAAA"),
        _with(original="some/not/even/url"), _with(original="http://mailto:miller@mill.demo/"),
        _with(original="http://mill.demo/ a"), _with(original="http://mill.demo/\u0000"),
        _with(original="http://mill.demo/\ud800"), _with(original="http://mill.demo/" + "a" * 9_000),
        _with(original=None), ROW[:3], [*ROW, "more"], "text", None, {"timestamp": ROW[1]},
    ]:  # fmt: skip
        rows = rows_of(json.dumps([NAMES, ROW, bad, _with(timestamp="20120101000000")]))
        assert rows, bad
        assert [capture.taken.year for capture in rows.captures] == [2011, 2012], bad
        assert rows.bad == 1, bad


def test_what_a_service_does_not_say_is_none() -> None:
    for field, written, read in [
        ("statuscode", "-", None), ("statuscode", "99", None), ("statuscode", 301, 301), ("statuscode", True, None),
        ("length", "-", None), ("length", "-5", None), ("length", "9" * 40, None),
        ("mimetype", "warc/revisit", "warc/revisit"), ("mimetype", "Text/HTML; charset=utf-8", "text/html"),
        ("mimetype", "unk", None), ("mimetype", "<script>", None), ("digest", "-", None), ("digest", "x" * 200, None),
    ]:  # fmt: skip
        rows = rows_of(json.dumps([NAMES, _with(**{field: written})]))
        assert rows, field
        (capture,) = rows.captures
        name = {"statuscode": "status", "mimetype": "mime"}.get(field, field)
        assert getattr(capture, name) == read, field


def test_text_rows_of_other_widths_are_read() -> None:
    for line, status in [
        (f"{ROW[1]} {ROW[2]}", None), (" ".join(ROW[:6]), 200), (" ".join([*ROW, "3"]), 200),
        (" ".join([*ROW[:6], "-", "4399", "mills.arc.gz"]), 200), (f"{ROW[2]} {ROW[1]}", None),
        (f"{ROW[1]} {ROW[2]} 200", 200), (f"{ROW[1]} {ROW[2]} text/html 200", 200),
        (f"{ROW[2]} {ROW[1]} 200 12345 {ROW[0]}", 200), (json.dumps([ROW]), 200),
        (json.dumps([[ROW[1], ROW[2], "200"], []]), 200),
    ]:  # fmt: skip
        rows = rows_of(line + "\n")
        assert rows, line
        assert [(capture.original, capture.status) for capture in rows.captures] == [(ROW[2], status)], line


def test_a_row_with_a_blank_is_bad_the_same_twice_is_one_and_a_blocked_one_is_none() -> None:
    for columns in (ROW, ROW[:4], ROW[1:4]):
        rows = rows_of(" ".join(columns).replace(ROW[2], "http://mill.demo/a b") + "\n")
        assert rows
        assert (rows.captures, rows.bad) == ((), 1)
    rows = rows_of(json.dumps([NAMES, ROW, ROW, _with(digest="YTEQQRWKL47VHUWF")]))
    assert rows
    assert len(rows.captures) == 2
    rows = rows_of(json.dumps({**PYWB, "access": "block"}) + "\n")
    assert rows
    assert (rows.captures, rows.blocked) == ((), 1)


def test_a_cut_list_says_so_and_the_length_of_its_last_row_is_not_known() -> None:
    for text, captures, is_cut in [
        (json.dumps(PYWB) + "\n" + json.dumps(PYWB)[:60], 1, True),
        (json.dumps(PYWB)[:60], 0, True),
        (json.dumps([NAMES, ROW])[:-1], 0, True),
        (json.dumps([NAMES, ROW])[:1], 0, True),
        (" ".join(ROW) + "\n" + " ".join(ROW)[:40], 1, True),
        (" ".join(ROW)[:-2], 1, True),
        (" ".join(ROW) + "\n" + " ".join(ROW[:6])[:-3], 1, True),
        (f"{ROW[1]} {ROW[2]}a\n{ROW[1]} {ROW[2]}", 1, True),
    ]:
        rows = rows_of(text)
        assert rows, text
        assert (len(rows.captures), rows.is_cut) == (captures, is_cut), text
    rows = rows_of(" ".join(ROW)[:-2])
    assert rows
    assert rows.captures[0].length is None


def test_what_is_no_cdx_is_none_and_no_nesting_is_too_deep() -> None:
    for text in [
        "<html><body>Too many requests</body></html>", "<!DOCTYPE html>", '{"message": "bad"}', "can't connect db",
        "[[]]", '[["a", "b"], ["c", "d"]]', '[["timestamp", "original", "mimety 1405"]]', "\0", "[1, 2]",
        "Blocked for too many requests",
    ]:  # fmt: skip
        assert rows_of(text) is None
    rows = rows_of("[" * 200_000)
    assert rows
    assert rows.is_cut


@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    for text in (text_of(body), text_of(b"[" + body + b"]"), text_of(b"demo,mill)/ 2011 " + body)):
        rows = rows_of(text)
        assert rows is None or len(rows.captures) <= len(text)
