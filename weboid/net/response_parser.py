"""Parses an HTTP/1 reply while its bytes arrive: head, framing of the body, and the body's beginning. Pure.

It reads what servers actually send, not only what RFC 9112 allows: what browsers accept is not a fault here.
One law: everything kept is bounded, and what follows a reply is never taken for a part of it.
"""

import re
from typing import Final

from weboid.net.body import Body

HEADER_LINES: Final = 256
"""Header lines of a reply, at most; more count as a broken protocol."""
LINES_A_HEAD: Final = 16
"""The whole head, with all that precedes it, may be this many times as long as the longest allowed line."""

_START: Final = re.compile(r"(?:HTTP/(\d)(?:\.(\d))?|ICY)[ \t]+(\d{3})(?!\d)")
_END: Final = re.compile(rb"\r?\n\r?\n")
_FOLDED: Final = re.compile(r"\r?\n[ \t]+")
_CHUNK: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?\r?")
_CHUNK_LINE: Final = 4096
"""Bytes of the line before a chunk, with its extensions."""
_LENGTH: Final = re.compile(r"[0-9]{1,15}")
_SPACE: Final = " \t\r"
_SHORT_REST: Final = 16_384
"""Bytes at the end of a body that are read though nobody needs them, so that the connection can be kept."""
_SWITCHING: Final = 101
_WITHOUT_BODY: Final = frozenset({_SWITCHING, 204, 304})


class BrokenReply(OSError):
    """The received data is not an HTTP/1 reply, or exceeds the limits."""


class ResponseParser:
    """One reply. `code` is 0 until the head is complete; `headers` then has the first value of each lower-case name.

    `body_bytes` and `text_bytes` as in ``net/body``.
    Text is decoded as UTF-8, with surrogates for other bytes. `is_clean`: the reply is complete, nothing followed it,
    and the server keeps the connection open.
    """

    __slots__ = (
        "_after_chunk",
        "_body",
        "_buffer",
        "_is_chunked",
        "_is_head",
        "_keeps",
        "_left",
        "_most_body",
        "_most_line",
        "_most_text",
        "_taken",
        "code",
        "cookies",
        "headers",
        "is_clean",
    )

    def __init__(self, method: str, *, line_bytes: int, body_bytes: int, text_bytes: int = 0) -> None:
        self.code = 0
        self.headers: dict[str, str] = {}
        self.cookies: tuple[str, ...] = ()
        self._body: Body | None = None
        self.is_clean = False
        self._is_head = method == "HEAD"
        self._most_line = line_bytes
        self._most_body = body_bytes
        self._most_text = text_bytes
        self._buffer = b""
        self._taken = 0
        self._keeps = False
        self._is_chunked = False
        self._after_chunk = False
        # Bytes of the body, or of a chunk, that are still missing; None = all until the connection ends.
        self._left: int | None = None

    @property
    def body(self) -> bytes:
        """What is kept of the body, decompressed; no more of it can be taken afterwards."""
        return self._body.content() if self._body else b""

    def take(self, data: bytes) -> bool:
        """Takes received data, b"" for the end of the connection; returns whether no more data is needed.

        A body that breaks off, or whose framing is wrong, ends there; the status remains valid. Raises BrokenReply, and
        ConnectionResetError if the connection ends before the head is complete.
        """
        if self.code:
            return not data or self._take_body(data)
        if not data:
            raise ConnectionResetError
        return self._take_head(data)

    def _take_head(self, data: bytes) -> bool:
        self._taken += len(data)
        if self._buffer:
            data = self._buffer + data
        while True:
            data = data.lstrip(b"\r\n")
            end = _END.search(data)
            if end is None:
                if self._taken > LINES_A_HEAD * self._most_line or data.count(b"\n") > HEADER_LINES:
                    raise BrokenReply("endless headers")
                self._buffer = data
                return False
            head, data = data[: end.start()], data[end.end() :]
            text = head.decode("utf-8", "surrogateescape")
            if "\n " in text or "\n\t" in text:
                text = _FOLDED.sub(" ", text)
            lines = text.split("\n")
            start = _START.match(lines[0])
            if start is None or len(lines) > HEADER_LINES + 1 or b"\0" in head:
                raise BrokenReply("no reply")
            if len(head) > self._most_line and max(map(len, lines)) > self._most_line:
                raise BrokenReply("an endless header")
            code = int(start[3])
            if code // 100 != 1 or code == _SWITCHING:
                break
        self._buffer = b""
        self._take_fields(lines)
        self.code = code
        self._body = Body(code, self.headers, body_bytes=self._most_body, text_bytes=self._most_text)
        self._frame(start[1], start[2])
        # The body of a redirect is not waited for: only its Location matters.
        return self._take_body(data) or code // 100 == 3

    def _take_fields(self, lines: list[str]) -> None:
        """Takes the header lines; the first line is skipped, and so are lines without a name, as in browsers."""
        headers = self.headers
        cookies: list[str] = []
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            name = name.strip(_SPACE).lower()
            if name and colon:
                value = value.strip(_SPACE)
                headers.setdefault(name, value)
                if name == "set-cookie":
                    cookies.append(value)
        self.cookies = tuple(cookies)

    def _frame(self, major: str | None, minor: str | None) -> None:
        """Determines the body's length, and whether the connection stays open after it (RFC 9112, 6.3 and 9.3)."""
        connection = self.headers.get("connection", "").lower()
        self._keeps = "keep-alive" in connection if (major, minor) == ("1", "0") else "close" not in connection
        coding = self.headers.get("transfer-encoding")
        length = self.headers.get("content-length", "")
        if self._is_head or self.code in _WITHOUT_BODY:
            self._left = 0
            self._keeps = self._keeps and self.code != _SWITCHING
        elif coding is not None:
            self._is_chunked = "chunked" in coding.lower()
            self._left = 0 if self._is_chunked else None
        elif _LENGTH.fullmatch(length):
            self._left = int(length)

    def _take_body(self, data: bytes) -> bool:
        assert self._body is not None
        if self._is_chunked:
            return self._take_chunks(data, self._body)
        if self._left is None:
            return self._body.take(data)
        is_enough = self._body.take(data[: self._left])
        surplus = len(data) > self._left
        self._left -= min(len(data), self._left)
        if not self._left:
            self.is_clean = self._keeps and not surplus
            return True
        return is_enough and self._left > _SHORT_REST

    def _take_chunks(self, data: bytes, body: Body) -> bool:
        """Takes chunks (RFC 9112, 7.1); after the last one only an empty trailer leaves the connection clean."""
        data = self._buffer + data
        at = 0
        while True:
            if self._left:
                part = data[at : at + self._left]
                at += len(part)
                is_enough = body.take(part)
                self._left -= len(part)
                self._buffer = b""
                self._after_chunk = True
                if self._left or is_enough:
                    return is_enough
            end = data.find(b"\n", at)
            if end < 0:
                self._buffer = data[at:]
                return len(self._buffer) > _CHUNK_LINE
            line = data[at:end]
            at = end + 1
            if self._after_chunk and not line.rstrip(b"\r"):
                self._after_chunk = False
                continue
            size = _CHUNK.fullmatch(line)
            if size is None:
                return True
            self._left = int(size[1], 16)
            if not self._left:
                self.is_clean = self._keeps and data[at:] in (b"\r\n", b"\n")
                return True
