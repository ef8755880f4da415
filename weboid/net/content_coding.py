"""Content codings (C-2): the beginning of a body, decompressed within bounds. Pure.

One law: never more comes out than was asked for, however well it was packed.
"""

import zlib
from typing import Final

_ZLIB_OR_GZIP: Final = zlib.MAX_WBITS | 32
_RAW: Final = -zlib.MAX_WBITS


def decoded(data: bytes, coding: str, limit: int) -> bytes:
    """At most `limit` bytes of what `data`, perhaps cut off, stands for; nothing if it cannot be read."""
    match coding.strip().lower():
        case "" | "identity":
            return data[:limit]
        case "gzip" | "x-gzip" | "deflate":
            # "deflate" means zlib's wrapping (RFC 9110, 8.4.1.2); some servers send it bare.
            return _inflated(data, _ZLIB_OR_GZIP, limit) or _inflated(data, _RAW, limit)
        case _:
            return b""


def _inflated(data: bytes, wbits: int, limit: int) -> bytes:
    try:
        return zlib.decompressobj(wbits).decompress(data, limit)
    except zlib.error:
        return b""
