"""Content codings (C-2): decompresses the beginning of a body within bounds. Pure.

One law: the result never exceeds the given limit, however strongly the data is compressed.
"""

import zlib
from typing import Final

_ZLIB_OR_GZIP: Final = zlib.MAX_WBITS | 32
_RAW: Final = -zlib.MAX_WBITS


def decoded(data: bytes, coding: str, limit: int) -> bytes:
    """At most `limit` bytes of the decompressed `data`, which may be incomplete; empty if it cannot be read."""
    match coding.strip().lower():
        case "" | "identity":
            return data[:limit]
        case "gzip" | "x-gzip" | "deflate":
            # "deflate" means the zlib format (RFC 9110, 8.4.1.2); some servers send it without zlib's header.
            return _inflated(data, _ZLIB_OR_GZIP, limit) or _inflated(data, _RAW, limit)
        case _:
            return b""


def _inflated(data: bytes, wbits: int, limit: int) -> bytes:
    try:
        return zlib.decompressobj(wbits).decompress(data, limit)
    except zlib.error:
        return b""
