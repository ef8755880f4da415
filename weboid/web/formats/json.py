"""JSON: ASCII only, and safe inside JavaScript and HTML as well (W-8).

One law: both writers, the quick and the exact one, give the same bytes (`test_both_ways_write_the_same`).
"""

import codecs
from collections.abc import Iterator
from itertools import chain, repeat
from json.encoder import encode_basestring_ascii
from typing import Any, Final

import orjson

from weboid.mechanism.slices import Steps

CONTENT_TYPE: Final = "application/json"
_DEPTH: Final = 2
_LONG: Final = 50
"""Items of lists, of a page or of all: so few are written at once."""
_SOME: Final = 20
"""Items that are written at a time: a fraction of a millisecond."""
_ESCAPED: Final = "json-escapes"
"""The name under which Python's codecs know `_escaped`."""


def text_of(payload: Any) -> str:
    """The payload, or a part of one, as one line of JSON; raises TypeError for what JSON cannot express."""
    text = quick_text(payload)
    return exact_text(payload) if text is None else text


def bytes_steps(payload: dict[str, Any]) -> Steps[bytes]:
    """`text_of`, encoded, in steps: the items of lists in lists some at a time, such as the links of pages, where there
    are many; they are taken out of the payload, whose memory would otherwise be given back in one long step.
    """
    if sum(_items(inner) for value in payload.values() if isinstance(value, list) for inner in value) <= _LONG:
        return text_of(payload).encode("ascii")
    pieces: list[bytes] = []
    for piece in _pieces(payload, _DEPTH):
        pieces.append(piece.encode("ascii"))
        yield
    return b"".join(pieces)


def _items(value: Any) -> int:
    """The number of items in the lists of a page; 1 of other values."""
    inner = value.values() if isinstance(value, dict) else ()
    return 1 + sum(len(each) for each in inner if isinstance(each, list))


def _pieces(value: Any, depth: int) -> Iterator[str]:
    """The text of a value, which is taken apart down to long lists in lists."""
    match value:
        case dict() if value and (depth > 1 or (depth and _items(value) > _LONG)):
            for begin, (key, inner) in zip(chain("{", repeat(",")), value.items(), strict=False):
                yield f"{begin}{_safe(_key(key))}:"
                yield from _pieces(inner, depth)
            yield "}"
        case list() if depth == 1 and value:
            for begin in chain("[", repeat(",")):
                yield begin + text_of(value[:_SOME])[1:-1]
                del value[:_SOME]
                if not value:
                    break
            yield "]"
        case list() if depth and value:
            for begin, inner in zip(chain("[", repeat(",")), value, strict=False):
                yield begin
                yield from _pieces(inner, depth - 1)
            yield "]"
        case _:
            yield text_of(value)


def quick_text(payload: Any) -> str | None:
    """The payload by the quick writer; None if it has a lone surrogate or an integer beyond 64 bits."""
    try:
        data = orjson.dumps(payload)
    except orjson.JSONEncodeError:
        return None
    return _safe(data.decode("ascii") if data.isascii() else data.decode().encode("ascii", _ESCAPED).decode("ascii"))


def exact_text(payload: Any) -> str:
    """The payload by the exact writer, which takes any and is slower."""
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
