"""Decodes the bytes of a document to characters, as a browser would (WHATWG Encoding).

No bytes and no declaration make this raise; what cannot be read becomes U+FFFD.
"""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, IncrementalDecoder, getincrementaldecoder
from encodings.utf_8 import IncrementalDecoder as Utf8Decoder
from typing import Final

from webencodings import PYTHON_NAMES
from webencodings.labels import LABELS

SNIFFED: Final = 1_024
"""Bytes in which a document may declare its charset."""

_BOMS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))
# Encodings of the standard for which Python's codec has another name, or for which it has none.
_OURS: Final = {
    "gbk": "gb18030",  # the standard's decoder of GBK is that of its superset
    "iso-8859-8-i": "iso8859-8",  # the same bytes: only the order on the screen differs
    # Browsers show nothing of these (ISO-2022-KR and -CN, HZ), for their bytes can hide markup: so only ASCII is read.
    "replacement": "ascii",
    # Letters of a font of the page's own. What its ASCII says can be read.
    "x-user-defined": "cp1252",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}
_UNLISTED: Final = {
    "latin-1": "cp1252",
    "latin9": "iso8859-15",
    "win-1251": "cp1251",
    "cp949": "cp949",
    "euckr": "cp949",
}
"""Labels that documents use although they stand in no standard."""
# Only names in this table are passed to a codec: Python also has codecs that are not charsets.
_CODECS: Final[dict[str, str]] = _UNLISTED | {
    label: _OURS.get(name) or PYTHON_NAMES.get(name, name) for label, name in LABELS.items()
}
_PARAMETER: Final = re.compile(r"charset\s*+=\s*+[\"']?+([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_DECLARED: Final = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*+=\s*+[\"']?+\s*+([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)

_FEW_BYTES: Final = 300
"""What has more bytes beyond ASCII may have a portrait, which must stay comparable: it is not guessed."""
_GUESSED: Final = (
    ("utf-8", re.compile("(?<=[^\0-\x7f\ufffd])[^\0-\x7f\ufffd]")),
    *((codec, re.compile("[ぁ-ヺー]")) for codec in ("cp932", "euc_jp")),
    *((codec, re.compile("(?<=[а-я]{2})[оеаинтсрвлкмд]")) for codec in ("cp1251", "koi8-r")),
)
"""What a third of a short text's characters beyond ASCII are if it has that charset; else at most a quarter are."""


def in_utf8(decoder: IncrementalDecoder, data: bytes) -> bytes:
    """The next bytes of a document in UTF-8; those of one that is in UTF-8 are checked alone."""
    begun, text = decoder.getstate()[0], decoder.decode(data)
    if not isinstance(decoder, Utf8Decoder) or "\ufffd" in text:
        return text.encode()
    return (begun + data)[: len(begun) + len(data) - len(decoder.getstate()[0])]


def decoder_of(body: bytes, content_type: str = "") -> tuple[bytes, IncrementalDecoder]:
    """The decoder of a document, and its beginning without a byte order mark: by that, else header, else declaration,
    else UTF-8, a guess, or Windows-1252."""
    body, codec = _codec(body, content_type)
    return body, getincrementaldecoder(codec)(errors="replace")


def _codec(body: bytes, content_type: str) -> tuple[bytes, str]:
    """The body without its byte order mark, and the codec to decode it."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :], codec
    if codec := _named(_PARAMETER.search(content_type[:300])):
        return body, codec
    if (found := _DECLARED.search(body[:SNIFFED])) and (codec := _CODECS.get(found[1].decode("ascii").lower(), "")):
        # A document whose declaration can be read byte by byte is not in UTF-16.
        return body, "utf-8" if codec.startswith("utf-16") else codec
    try:
        read = Utf8Decoder().decode(body)
    except UnicodeDecodeError:
        return body, _guessed(body)
    # What could be an incomplete UTF-8 character is more likely a character of an older charset if it is the only one.
    return body, "cp1252" if read.isascii() and not body.isascii() else "utf-8"


def _guessed(body: bytes) -> str:
    """The charset of a document that declares none and is not in UTF-8: browsers guess it, too."""
    if len(body.translate(None, bytes(range(128)))) <= _FEW_BYTES:
        # No character takes more than two bytes of ASCII, and text in ASCII decides nothing.
        beyond = re.sub(rb"(?<=[\0-\x7f]{2})[\0-\x7f]++", b"", body)
        for codec, telling in _GUESSED:
            text = beyond.decode(codec, "replace")
            if 3 * len(telling.findall(text)) > len(text) - len(re.sub("[^\0-\x7f]++", "", text)):
                return codec
    return "cp1252"


def _named(match: re.Match[str] | None) -> str:
    return _CODECS.get(match[1].lower(), "") if match else ""
