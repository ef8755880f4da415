"""JSON: ASCII only, and safe to stand inside JavaScript or HTML as well (W-8)."""

import json
from typing import Any, Final

import orjson

CONTENT_TYPE: Final = "application/json"

# JSON is JavaScript since ES2019, but older engines end a string at U+2028, and HTML ends a script at "</".
_ENCODER: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


def text_of(document: dict[str, Any]) -> str:
    """The document as one line of JSON."""
    text = _ascii(document)
    # Three passes for what is rarely there are much quicker than one that looks every character up.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _ascii(document: dict[str, Any]) -> str:
    """The quick way where it gives ASCII, as it does for most pages; what it cannot do is done by the other."""
    try:
        data = orjson.dumps(document)
    except orjson.JSONEncodeError:
        return _ENCODER.encode(document)
    return data.decode("ascii") if data.isascii() else _ENCODER.encode(document)
