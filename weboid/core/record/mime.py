"""Notable file types (U-6): one keyword from the server's media type and the first bytes, or None if unremarkable.

What every browser displays by itself has no keyword; an unknown type is ``binary``.
"""

from typing import Final

import filetype

from weboid.assets import toml_next_to

_TABLE: Final = toml_next_to(__file__)
_KEYWORDS: Final[dict[str, str]] = {kind: word for word, kinds in _TABLE["keywords"].items() for kind in kinds}
_SHOWN: Final = tuple(_TABLE["shown"])
KEYWORDS: Final[tuple[str, ...]] = ("binary", *_TABLE["keywords"])
"""All keywords in a fixed order. The database stores a keyword's index, so new ones are only appended."""
_MARKUP: Final = (b"<", b"\xef\xbb\xbf<", b"{", b"[")


def keyword(content_type: str, head: bytes) -> str | None:
    """The keyword for a Content-Type value and the first bytes of the body (empty after HEAD)."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in _KEYWORDS:
        return _KEYWORDS[media_type]
    if media_type.startswith(_SHOWN) or media_type.endswith(("+xml", "+json")):
        return None
    guess = filetype.guess_mime(head) if head else None
    if isinstance(guess, str):
        return _KEYWORDS.get(guess) or (None if guess.startswith(_SHOWN) else "binary")
    # With neither type nor body, it is taken to be a page.
    if head.lstrip().startswith(_MARKUP) or (not media_type and not head):
        return None
    return None if media_type in _TABLE["generic"] and head and b"\0" not in head[:512] else "binary"
