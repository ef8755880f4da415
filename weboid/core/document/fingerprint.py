"""Fingerprints of texts: 64 bits that differ little if the texts differ little (simhash, C-11, R-5).

``core/document/face`` and ``portrait`` decide what a distance means. Stored fingerprints must stay comparable, so the
words, the shingles and the hash never change without a new `VERSION`.
"""

import re
from hashlib import blake2b
from typing import Final

from weboid.core.document.folding import beyond_ascii

VERSION: Final = 1
SHINGLE: Final = 3
"""Number of words that are hashed together."""
MAX_WORDS: Final = 2_000
"""Of a longer text only the beginning counts."""
_MAX_CHARS: Final = 12 * MAX_WORDS

# Scripts without spaces: each character counts as a word. Hangul has spaces.
_SPACELESS: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_IS_SPACELESS: Final = re.compile(f"[{_SPACELESS}]").match
# Digits are left out: dates, counters and prices differ each time the same document is fetched.
_WORD: Final = re.compile(rf"[{_SPACELESS}]|[^\W\d_{_SPACELESS}]+")
_PLAIN: Final = bytes(code if code >= 0x80 or chr(code).isalpha() else ord(" ") for code in range(256))
_EMPTY: Final = blake2b(digest_size=8)
_MOSTLY_ASCII: Final = 1.1
"""Bytes in UTF-8 for a character of a text, at most, whose words are found by replacing what is none …"""
_FEW: Final = 40
"""… and different characters in it that are not in ASCII."""


def words(text: str) -> list[str]:
    """The words of a text in lower case, at most `MAX_WORDS`; numbers do not count."""
    beginning = text[:_MAX_CHARS].lower()
    encoded = beginning.encode(errors="surrogatepass")
    if len(encoded) > _MOSTLY_ASCII * len(beginning) or len(others := beyond_ascii(encoded)) > _FEW:
        return _first_words(beginning)
    plain = encoded.translate(_PLAIN).decode(errors="surrogatepass")
    for char in others:
        if not (kind := _WORD.match(char)) or _IS_SPACELESS(char):
            plain = plain.replace(char, f" {char} " if kind else " ")
    return plain.split()[:MAX_WORDS]


def _first_words(text: str) -> list[str]:
    """Looks for no more words than are needed: where letters are words, a quarter of the text has them."""
    found, at = list[str](), 0
    while at < len(text) and len(found) < MAX_WORDS:
        end = text.find(" ", at + _MAX_CHARS // 8) % (len(text) + 1)
        found += _WORD.findall(text, at, end)
        at = end
    return found[:MAX_WORDS]


def fingerprint(joined: str) -> int | None:
    """The fingerprint of words separated by spaces, unsigned; None if they are too few for one shingle."""
    encoded = joined.encode("utf-8", "replace").split(b" ")
    shingles = set(map(b" ".join, zip(*(encoded[start:] for start in range(SHINGLE)), strict=False)))
    if not shingles:
        return None
    digests = bytearray()
    for shingle in shingles:
        hashed = _EMPTY.copy()  # to make one anew takes half as long again
        hashed.update(shingle)
        digests += hashed.digest()
    half = len(shingles) / 2
    lowest = int.from_bytes(b"\1" * len(shingles))
    bits = 0
    for place in range(8):
        # Numbers of a byte a shingle: 64 sums over all shingles in Python take twenty times as long.
        column = int.from_bytes(digests[place::8])
        for bit in range(8):
            if (column >> bit & lowest).bit_count() > half:
                bits |= 1 << (8 * place + bit)
    return bits


def distance(one: int, other: int) -> int:
    """The number of bits (of 64) in which two fingerprints differ: 0 = alike, about 32 = unrelated."""
    return (one ^ other).bit_count()
