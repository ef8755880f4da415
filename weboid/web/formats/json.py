"""JSON: ASCII only, and safe inside JavaScript and HTML as well (W-8).

One law: both writers, the quick and the exact one, give the same bytes; a test compares them.
"""

import codecs
from json.encoder import encode_basestring_ascii
from typing import Any, Final

import orjson

CONTENT_TYPE: Final = "application/json"
_ESCAPED: Final = "json-escapes"
"""The name under which Python's codecs know `_escaped`."""


def text_of(payload: dict[str, Any]) -> str:
    """The payload as one line of JSON; raises TypeError for what JSON cannot express."""
    text = quick_text(payload)
    return exact_text(payload) if text is None else text


def quick_text(payload: dict[str, Any]) -> str | None:
    """The payload by the quick writer; None if it has a lone surrogate or an integer beyond 64 bits."""
    try:
        data = orjson.dumps(payload)
    except orjson.JSONEncodeError:
        return None
    return _safe(data.decode("ascii") if data.isascii() else data.decode().encode("ascii", _ESCAPED).decode("ascii"))


def exact_text(payload: dict[str, Any]) -> str:
    """The same for any payload, slowly."""
    return _safe(_exact(payload))


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
    """JSON without what could end a script in HTML, and without U+007F, a control that JSON does not escape.

    U+2028, at which older JavaScript engines end a string, has been escaped before, like all that is not ASCII.
    """
    # Four passes for characters that are rare are much quicker than one that looks up every character.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\x7f", "\\u007f")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The escapes for characters that are not ASCII (a codec's error handler); they only occur inside of strings."""
    assert isinstance(error, UnicodeEncodeError)
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escaped)
