"""Content codings (C-2): decompresses a body while it arrives, within bounds. Pure."""

import zlib
from typing import Final

_ZLIB_OR_GZIP: Final = zlib.MAX_WBITS | 32
_RAW: Final = -zlib.MAX_WBITS
_COMPRESSED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_OTHERS: Final = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz", "xz", "bzip2"})


class Decoder:
    """Decompresses one body in the coding that its header names; gives nothing in a coding that we do not read.

    What is no coding (``utf-8``, ``none``) is passed over, as in browsers. A call never gives more than its limit; what
    it does not give because of that is lost.
    """

    def __init__(self, coding: str) -> None:
        named = [each for each in map(str.strip, coding.lower().split(",")) if each in _COMPRESSED | _OTHERS]
        self._is_plain = not named
        self._inflater = zlib.decompressobj(_ZLIB_OR_GZIP) if len(named) == 1 and named[0] in _COMPRESSED else None
        self._first = b""
        self._has_begun = False

    @property
    def is_at_end(self) -> bool:
        """True if nothing can follow: the data has ended, is damaged, or is in a coding that we did not ask for."""
        return not self._is_plain and (self._inflater is None or self._inflater.eof)

    @property
    def is_whole(self) -> bool:
        """True if all that was taken could be decompressed, to the end that the coding marks and nothing after it."""
        return self._is_plain or (self._inflater is not None and self._inflater.eof and not self._inflater.unused_data)

    def take(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes of what the next bytes stand for."""
        if self._is_plain:
            return data[:limit]
        if self._inflater is None or limit <= 0:
            return b""
        if not self._has_begun:
            self._first += data
        try:
            found = self._inflater.decompress(data, limit)
        except zlib.error:
            found = self._begun_anew(limit)
        if found:
            self._has_begun, self._first = True, b""
        return found

    def _begun_anew(self, limit: int) -> bytes:
        """The same without the header of zlib: "deflate" means its format (RFC 9110, 8.4.1.2), but some omit it."""
        first, self._first = self._first, b""
        self._inflater = None if self._has_begun else zlib.decompressobj(_RAW)
        self._has_begun = True
        try:
            return self._inflater.decompress(first, limit) if self._inflater else b""
        except zlib.error:
            self._inflater = None
            return b""
