"""JSON: ASCII only, and safe to stand inside JavaScript or HTML as well (W-8).

One law: a document is written in the same bytes whichever of the two ways writes it; a test compares them.
"""

import codecs
from json.encoder import encode_basestring_ascii
from typing import Any, Final

import orjson

CONTENT_TYPE: Final = "application/json"
_ESCAPED: Final = "json-escapes"
"""The name under which Python's codecs know `_escaped`."""


def text_of(document: dict[str, Any]) -> str:
    """The document as one line of JSON; raises TypeError for what JSON has no form for."""
    text = quick_text(document)
    return exact_text(document) if text is None else text


def quick_text(document: dict[str, Any]) -> str | None:
    """The document as nearly all are written; None where it holds a lone surrogate or an integer beyond 64 bits."""
    try:
        data = orjson.dumps(document)
    except orjson.JSONEncodeError:
        return None
    return _safe(data.decode("ascii") if data.isascii() else data.decode().encode("ascii", _ESCAPED).decode("ascii"))


def exact_text(document: dict[str, Any]) -> str:
    """The same of any document, slowly."""
    return _safe(_exact(document))


def _exact(value: Any) -> str:
    match value:
        case dict():
            return f"{{{','.join(f'{_key(key)}:{_exact(inner)}' for key, inner in value.items())}}}"
        case list() | tuple():
            return f"[{','.join(map(_exact, value))}]"
        case str():
            return encode_basestring_ascii(value)
        case int() if not isinstance(value, bool):
            return int.__repr__(value)
        case _:
            return orjson.dumps(value).decode("ascii")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is no key of a JSON object")
    return encode_basestring_ascii(key)


def _safe(text: str) -> str:
    """JSON without what ends a script in HTML, and without U+007F, which JSON lets stand though it is a control.

    Older engines of JavaScript end a string at U+2028: it has been escaped before, as all that is not ASCII.
    """
    # Four passes for what is rarely there are much quicker than one that looks every character up.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\x7f", "\\u007f")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What stands in JSON for the characters that are not ASCII: they only occur inside of strings."""
    assert isinstance(error, UnicodeEncodeError)
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escaped)
