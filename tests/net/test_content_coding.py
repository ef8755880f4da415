"""Content codings within bounds (C-2, C-13)."""

import gzip
import zlib

import pytest

from weboid.net.content_coding import decoded

TEXT = b"the beginning of a page " * 100
BARE = zlib.compressobj(wbits=-15)
DEFLATED = BARE.compress(TEXT) + BARE.flush()


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
    assert decoded(data, coding, 10_000) == TEXT
    assert decoded(data, coding, 7) == TEXT[:7]


def test_a_body_that_was_cut_off_gives_its_beginning() -> None:
    assert TEXT.startswith(decoded(gzip.compress(TEXT)[:-12], "gzip", 10_000)[:10])


def test_a_bomb_gives_no_more_than_the_bound() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert decoded(bomb, "gzip", 1000) == bytes(1000)


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "nonsense"])
def test_a_coding_we_did_not_ask_for_gives_nothing(coding: str) -> None:
    assert decoded(TEXT, coding, 100) == b""


def test_what_is_not_what_it_says_gives_nothing() -> None:
    assert decoded(b"<html>plain after all", "gzip", 100) == b""
