"""Content codings within bounds, however a body is cut (C-2, C-13)."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.net.content_coding import Decoder
from weboid.net.response_parser import Body

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
        ("identity", TEXT),
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


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "nonsense"])
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
