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


def bytes_of(payload: Any) -> bytes:
    """The payload, or a part of one, as one line of JSON; raises TypeError for what JSON cannot express."""
    return quick_bytes(payload) or exact_bytes(payload)


def bytes_steps(payload: dict[str, Any]) -> Steps[bytes]:
    """`bytes_of` in steps: the items of lists in lists some at a time, such as the links of pages, where there
    are many; they are taken out of the payload, whose memory would otherwise be given back in one long step.
    """
    if sum(_items(inner) for value in payload.values() if isinstance(value, list) for inner in value) <= _LONG:
        return bytes_of(payload)
    pieces: list[bytes] = []
    for piece in _pieces(payload, _DEPTH):
        pieces.append(piece)
        yield
    return b"".join(pieces)


def _items(value: Any) -> int:
    """The number of items in the lists of a page; 1 of other values."""
    inner = value.values() if isinstance(value, dict) else ()
    return 1 + sum(len(each) for each in inner if isinstance(each, list))


def _pieces(value: Any, depth: int) -> Iterator[bytes]:
    """The text of a value, which is taken apart down to long lists in lists."""
    match value:
        case dict() if value and (depth > 1 or (depth and _items(value) > _LONG)):
            for begin, (key, inner) in zip(chain([b"{"], repeat(b",")), value.items(), strict=False):
                yield b"%b%b:" % (begin, _safe(_key(key).encode("ascii")))
                yield from _pieces(inner, depth)
            yield b"}"
        case list() if depth == 1 and value:
            for begin in chain([b"["], repeat(b",")):
                yield begin + bytes_of(value[:_SOME])[1:-1]
                del value[:_SOME]
                if not value:
                    break
            yield b"]"
        case list() if depth and value:
            for begin, inner in zip(chain([b"["], repeat(b",")), value, strict=False):
                yield begin
                yield from _pieces(inner, depth - 1)
            yield b"]"
        case _:
            yield bytes_of(value)


def quick_bytes(payload: Any) -> bytes | None:
    """The payload by the quick writer; None if it has a lone surrogate or an integer beyond 64 bits."""
    try:
        data = orjson.dumps(payload)
    except orjson.JSONEncodeError:
        return None
    return _safe(data if data.isascii() else data.decode().encode("ascii", _ESCAPED))


def exact_bytes(payload: Any) -> bytes:
    """The payload by the exact writer, which takes any and is slower."""
    return _safe(_exact(payload).encode("ascii"))


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


def _safe(text: bytes) -> bytes:
    """JSON without what could end a script in HTML, and without U+007F, a control that JSON does not escape.

    U+2028, at which older JavaScript engines end a string, has been escaped before, like all that is not ASCII.
    """
    # Four passes for characters that are rare are quicker than one; of bytes they take a thirtieth as long as of text.
    text = text.replace(b"<", b"\\u003c").replace(b">", b"\\u003e")
    return text.replace(b"&", b"\\u0026").replace(b"\x7f", b"\\u007f")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The escapes for characters that are not ASCII (a codec's error handler); they only occur inside of strings."""
    assert isinstance(error, UnicodeEncodeError)
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escaped)
