"""Decodes the bytes of a document to characters, as a browser would (WHATWG Encoding). See ``core/document/markup`` for
what the characters mean.

One law: no bytes and no declaration make this raise; what cannot be read becomes U+FFFD.
"""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from typing import Final

SNIFFED: Final = 1_024
"""Bytes in which a document may declare its charset."""

_BOMS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))
# Browsers read some names as a superset, because that is usually meant. Only names in this table are passed to a codec:
# Python also has codecs that are not charsets.
_LABELS: Final[dict[str, str]] = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8",
    "utf-16-le": "utf-16 utf-16le unicode ucs-2 iso-10646-ucs-2",
    "utf-16-be": "utf-16be unicodefffe",
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso_8859-1 iso88591 latin1 latin-1 l1 ascii us-ascii",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251 win-1251",
    "cp1253": "windows-1253 cp1253",
    "cp1254": "windows-1254 cp1254 iso-8859-9 iso8859-9 latin5",
    "cp1255": "windows-1255 cp1255",
    "cp1256": "windows-1256 cp1256",
    "cp1257": "windows-1257 cp1257",
    "cp1258": "windows-1258 cp1258",
    "cp874": "windows-874 tis-620 iso-8859-11 dos-874",
    "cp866": "ibm866 cp866 866",
    "iso8859-2": "iso-8859-2 iso8859-2 latin2",
    "iso8859-3": "iso-8859-3 latin3",
    "iso8859-4": "iso-8859-4 latin4",
    "iso8859-5": "iso-8859-5 iso8859-5 cyrillic",
    "iso8859-6": "iso-8859-6 arabic asmo-708",
    "iso8859-7": "iso-8859-7 iso8859-7 greek",
    "iso8859-8": "iso-8859-8 iso-8859-8-i iso-8859-8-e hebrew visual logical",
    "iso8859-10": "iso-8859-10 latin6",
    "iso8859-13": "iso-8859-13",
    "iso8859-14": "iso-8859-14",
    "iso8859-15": "iso-8859-15 iso8859-15 latin9 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi8 koi koi8_r",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk gb2312 gb_2312-80 x-gbk chinese hz-gb-2312",
    "big5hkscs": "big5 big5-hkscs cn-big5 x-x-big5",
    "euc_jp": "euc-jp x-euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp932": "shift_jis shift-jis sjis x-sjis windows-31j ms932",
    "cp949": "euc-kr euckr ks_c_5601-1987 ksc5601 korean windows-949 cp949",
}
_CODECS: Final = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_PARAMETER: Final = re.compile(r"charset\s*+=\s*+[\"']?+([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_DECLARED: Final = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*+=\s*+[\"']?+\s*+([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)


def decoded(body: bytes, content_type: str = "") -> str:
    """The characters of a document: by byte order mark, else header, else declaration, else UTF-8 or Windows-1252.

    An incomplete character at the end is dropped; NUL, which no document means, becomes a space.
    """
    body, codec = _codec(body, content_type)
    # Not final: the body may be cut anywhere, even within a character.
    text = getincrementaldecoder(codec)(errors="replace").decode(body)
    return text.replace("\0", " ")


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
        read = getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return body, "cp1252"
    # What could be an incomplete UTF-8 character is more likely a character of an older charset if it is the only one.
    return body, "cp1252" if read.isascii() and not body.isascii() else "utf-8"


def _named(match: re.Match[str] | None) -> str:
    return _CODECS.get(match[1].lower(), "") if match else ""
