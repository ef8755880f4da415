"""Notable file types (U-6): one keyword from the server's media type and the first bytes, or None if unremarkable.

What every browser displays by itself has no keyword; an unknown type is ``binary``.
"""

from typing import Final

import filetype

_ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "mpeg": ("audio/mpeg", "audio/mp3", "audio/x-mpeg"),
    "ogg": ("audio/ogg", "application/ogg"),
    "mpeg4": ("audio/mpeg4-generic", "application/mp4", "application/mpg4"),
    "rtf": ("application/rtf", "text/rtf"),
    "tiff": ("image/tiff",),
    "djvu": ("image/vnd-djvu", "image/vnd.djvu", "image/x-djvu", "image/x.djvu"),
    "css": ("text/css",),
    "csv": ("text/csv",),
    "zip": ("application/zip", "application/x-zip", "application/x-zip-compressed"),
    "gzip": ("application/gzip", "application/x-gzip"),
    "flash": (
        "application/vnd.adobe.flash-movie",
        "application/flash",
        "application/x-flash",
        "application/x-shockwave-flash",
        "video/flash",
        "video/x-flash",
    ),
    "pdf": (
        "application/pdf",
        "application/x-pdf",
        "application/xpdf",
        "application/acrobat",
        "application/vnd.adobe.pdf",
    ),
    "postscript": ("application/postscript",),
    "msexcel": (
        "application/vnd.microsoft.excel",
        "application/vnd.msexcel",
        "application/vnd.ms-excel",
        "application/x-msexcel",
        "application/msexcel",
        "application/ms-excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    "mspowerpoint": (
        "application/vnd.microsoft.mspowerpoint",
        "application/vnd.microsoft.powerpoint",
        "application/vnd.ms-powerpoint",
        "application/mspowerpoint",
        "application/ms-powerpoint",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    "msword": (
        "application/vnd.microsoft.msword",
        "application/vnd.microsoft.word",
        "application/vnd.msword",
        "application/vnd.ms-word",
        "application/msword",
        "application/ms-word",
        "text/msword",
        "text/ms-word",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
}
_KEYWORDS: Final = {alias: keyword for keyword, aliases in _ALIASES.items() for alias in aliases}

KEYWORDS: Final[tuple[str, ...]] = ("binary", *_ALIASES)
"""All keywords in a fixed order. The database stores a keyword's index, so new ones are only appended."""

_SHOWN: Final = (
    "text/",
    "image/",
    "font/",
    "audio/",
    "video/",
    "application/json",
    "application/ld+json",
    "application/xml",
    "application/xhtml+xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
)
_GENERIC: Final = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download"}
)
_MARKUP: Final = (b"<", b"\xef\xbb\xbf<", b"{", b"[")


def keyword(content_type: str, head: bytes) -> str | None:
    """The keyword for a Content-Type value and the first bytes of the body (empty after HEAD)."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in _KEYWORDS:
        return _KEYWORDS[kind]
    if kind.startswith(_SHOWN) or kind.endswith(("+xml", "+json")):
        return None
    return _by_magic(head, said=kind)


def _by_magic(head: bytes, *, said: str) -> str | None:
    """The keyword by the first bytes, for an unknown type. With neither type nor body, it is taken to be a page."""
    guess = filetype.guess_mime(head) if head else None
    if isinstance(guess, str):
        return _KEYWORDS.get(guess) or (None if guess.startswith(_SHOWN) else "binary")
    if head.lstrip().startswith(_MARKUP) or (not said and not head):
        return None
    if said in _GENERIC and head and b"\0" not in head[:512]:
        return None
    return "binary"
