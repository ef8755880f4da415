"""Parses an HTTP/1 reply while its bytes arrive: head, framing of the body, and the body's beginning. Pure.

It reads what servers actually send, not only what RFC 9112 allows: what browsers accept is not a fault here. Everything
kept is bounded. One law: no byte is looked at more than a few times, however small the pieces are in which it comes
(`test_what_comes_byte_by_byte_is_not_searched_anew_for_each_byte`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from weboid.core.document.document import is_html
from weboid.core.document.reading import MarkupReader
from weboid.core.document.skim import Skim
from weboid.net.content_coding import Decoder

HEADER_LINES: Final = 2048
"""Header lines of a reply, at most."""
HEAD_BYTES: Final = 262_144
"""Bytes of a head with all that precedes it (empty lines, heads with 1xx), at most: as many as in browsers."""
INTERIM: Final = 64
"""Interim responses (1xx) before the reply, at most."""

_START: Final = re.compile(
    r"[^\n]{0,4}?(?:HTTP(?:/(\d)\d*+(?:\.(\d)\d*+)?+|(?=[ \t]))|ICY)(?:[ \t]+(?:(\d{3})|\d{1,2})(?!\d)|[ \t]*+(?!\d))",
    re.IGNORECASE,
)
"""A status line as browsers read it: after a few other bytes, in any case. Without a code of three digits it is 200."""
_SETTINGS: Final = re.compile(rb"\x00..\x04.\x00{4}", re.DOTALL)
"""The frame with which a server begins HTTP/2 (RFC 9113, 3.4 and 6.5)."""
_FOLDED: Final = re.compile(r"\r?\n[ \t]+")
_CHUNK: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?\r?")
_CHUNK_LINE: Final = 4096
"""Bytes of the line before a chunk, with its extensions."""
_FRAMING: Final = 65_536
"""Bytes between the parts of a chunked body, at most; where there are more, the body ends."""
_LENGTH: Final = re.compile(r"[0-9]{1,15}")
_SPACE: Final = " \t\r"
_RETURN: Final = ord("\r")
_SHORT_REST: Final = 16_384
"""Bytes at the end of a body that are read though nobody needs them, so that the connection can be kept."""
_SWITCHING: Final = 101
_WITHOUT_BODY: Final = frozenset({_SWITCHING, 204, 304})


_NO_HEAD: Final = "an HTML document without a status line"
_TOO_LONG: Final = f"response headers exceed {HEAD_BYTES // 1024} KiB or {HEADER_LINES} lines"


class BrokenReply(OSError):
    """The received data is not an HTTP/1 reply."""


class OtherProtocol(OSError):
    """The server speaks HTTP/2 whatever it is asked."""


class ReplyTooLarge(OSError):
    """The head exceeds the limits, or there is none (HTTP/0.9): it may be a reply, but nobody has read it."""


class ResponseParser:
    """One reply. `code` is 0 until the head is complete; `headers` then has the first value of each lower-case name.

    Of the body the first `body_bytes` are kept, decompressed; of an HTML document with status 2xx that begins with too
    little text also what is text in its first `text_bytes` (C-13, ``core/document/skim``). The head is decoded as
    UTF-8, with surrogates for other bytes. `is_clean`: the reply is complete, nothing followed it, and the server keeps
    the connection open. With `most_bytes` it is asked, with the headers, for `body_bytes`, and nothing is shortened.
    """

    def __init__(
        self,
        method: str,
        *,
        line_bytes: int,
        body_bytes: int,
        text_bytes: int = 0,
        most_bytes: Callable[[Mapping[str, str]], int] | None = None,
    ) -> None:
        self.code = 0
        self.headers: dict[str, str] = {}
        self.cookies: tuple[str, ...] = ()
        self._body: Body | None = None
        """None for a reply without one."""
        self.is_clean = False
        self._is_head = method == "HEAD"
        self._line_bytes = line_bytes
        self._body_bytes = body_bytes
        self._text_bytes = text_bytes
        self._most_bytes = most_bytes
        # What has come of a head, or of the line before a chunk, that is not complete yet.
        self._buffer = bytearray()
        self._lines = 0
        # Bytes of heads so far, and of those that are complete.
        self._head_bytes = self._complete_bytes = 0
        self._interim = 0
        self._framing = 0
        self._keeps = False
        self._is_chunked = False
        self._after_chunk = False
        # Bytes of the body, or of a chunk, that are still missing; None = all until the connection ends.
        self._left: int | None = None

    @property
    def body(self) -> bytes:
        """The kept part of the body, decompressed; no more of it can be taken afterwards."""
        return self._body.content() if self._body else b""

    @property
    def reading(self) -> MarkupReader | None:
        """The reader of the document in the body, if it was read while it arrived."""
        return self._body.reading if self._body else None

    @property
    def begun_bytes(self) -> int:
        """Bytes of a head that has begun and is not complete; 0 before it begins, between heads and after the last."""
        return 0 if self.code else self._head_bytes - self._complete_bytes + len(self._buffer)

    def take(self, data: bytes) -> bool:
        """Takes received data, b"" for the end of the connection; returns whether no more data is needed.

        A body that breaks off, or whose framing is wrong, ends there; the status remains valid. Raises BrokenReply,
        OtherProtocol, ReplyTooLarge, and ConnectionResetError if the connection ends before the head is complete.
        """
        if self.code:
            return not data or self._take_body(data)
        if not data:
            return self._take_end_of_head()
        return self._take_head(data)

    def _take_head(self, data: bytes) -> bool:
        """Takes a part of a head; only what is new is searched for its end (D-90)."""
        buffer = self._buffer
        while True:
            if known := len(buffer):
                buffer += data
            else:
                data = self._without_blank(data)
            # A head that comes in one piece is never copied.
            found = _find_end_of_head(buffer if known else data, known)
            if found is None:
                if not known:
                    buffer += data
                if _SETTINGS.match(buffer):
                    raise OtherProtocol
                self._lines += data.count(b"\n")
                if self._head_bytes + len(buffer) > HEAD_BYTES or self._lines > HEADER_LINES + 1:
                    raise ReplyTooLarge(_TOO_LONG)
                return False
            end, after = found
            whole = bytes(buffer) if known else data
            head, data = whole[:end], whole[after:]
            if known:
                buffer.clear()
                self._lines = 0
            self._count_head_bytes(after)
            self._complete_bytes = self._head_bytes
            if self._take_complete_head(head):
                # The body of a redirect is not waited for: only its Location matters, if it has one. Who wants whole
                # bodies asks a server again and again, so that its connection is worth more than the wait.
                is_enough = self.code // 100 == 3 and self._most_bytes is None and bool(self.headers.get("location"))
                return self._take_body(data) or is_enough

    def _take_end_of_head(self) -> bool:
        """Takes the end of the connection; browsers take a head for complete that lacks nothing but its empty line."""
        buffer = bytes(self._buffer)
        if is_html("", buffer):
            raise ReplyTooLarge(_NO_HEAD)
        if buffer.count(b"\n") > 1 and buffer.endswith(b"\n") and self._take_complete_head(buffer.rstrip(b"\r\n")):
            return True
        raise ConnectionResetError

    def _without_blank(self, data: bytes) -> bytes:
        rest = data.lstrip(b"\r\n")
        self._count_head_bytes(len(data) - len(rest))
        return rest

    def _count_head_bytes(self, count: int) -> None:
        self._head_bytes += count
        if self._head_bytes > HEAD_BYTES:
            raise ReplyTooLarge(_TOO_LONG)

    def _take_complete_head(self, head: bytes) -> bool:
        """Takes a head, without the empty line; returns whether it is the reply's, not an interim one (1xx)."""
        text = head.decode("utf-8", "surrogateescape")
        if "\n " in text or "\n\t" in text:
            text = _FOLDED.sub(" ", text)
        lines = text.split("\n")
        start = _START.match(lines[0])
        if start is None or b"\0" in head:
            raise ReplyTooLarge(_NO_HEAD) if is_html("", head) else BrokenReply("not an HTTP/1 response")
        if head.count(b"\n") > HEADER_LINES:
            raise ReplyTooLarge(_TOO_LONG)
        if len(head) > self._line_bytes and max(map(len, lines)) > self._line_bytes:
            raise ReplyTooLarge(f"a response header exceeds {self._line_bytes} bytes")
        code = int(start[3] or 200)
        if code // 100 == 1 and code != _SWITCHING:
            self._interim += 1
            if self._interim > INTERIM:
                raise ReplyTooLarge(f"more than {INTERIM} interim responses")
            return False
        self._take_fields(lines)
        self.code = code
        if not self._is_head and code not in _WITHOUT_BODY:
            most = self._most_bytes(self.headers) if self._most_bytes else self._body_bytes
            self._body = Body(code, self.headers, most, 0 if self._most_bytes else self._text_bytes)
        self._frame(start[1], start[2])
        return True

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
        if self._body is None:
            self._keeps = self._keeps and self.code != _SWITCHING
        elif coding is not None:
            self._is_chunked = "chunked" in coding.lower()
            self._left = 0 if self._is_chunked else None
        elif _LENGTH.fullmatch(length):
            self._left = int(length)

    def _take_body(self, data: bytes) -> bool:
        if self._body is None:
            self.is_clean = self._keeps and not data
            return True
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

    def _take_chunks(self, data: bytes, body: "Body") -> bool:
        """Takes chunks (RFC 9112, 7.1); after the last one only an empty trailer leaves the connection clean."""
        at = 0
        while True:
            if self._left:
                part = data[at : at + self._left]
                at += len(part)
                is_enough = body.take(part)
                self._left -= len(part)
                self._after_chunk = True
                if self._left or is_enough:
                    return is_enough
            end = data.find(b"\n", at)
            self._framing += (len(data) if end < 0 else end + 1) - at
            if self._framing > _FRAMING:
                return True
            if end < 0:
                self._buffer += data[at:]
                return len(self._buffer) > _CHUNK_LINE
            line = bytes(self._buffer + data[at:end])
            self._buffer.clear()
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


def _find_end_of_head(buffer: bytearray | bytes, known: int) -> tuple[int, int] | None:
    """Finds the end of a head and the beginning of what follows it; None if it is not complete.

    Its first `known` bytes hold no end: it is searched for from just before them on.
    """
    with_return = buffer.find(b"\n\r\n", max(known - 2, 0))
    without = buffer.find(b"\n\n", max(known - 1, 0), None if with_return < 0 else with_return + 1)
    if without >= 0:
        end, after = without, without + 2
    elif with_return >= 0:
        end, after = with_return, with_return + 3
    else:
        return None
    return end - (end > 0 and buffer[end - 1] == _RETURN), after


class Body:
    """The body of one reply, decompressed and cut while it arrives."""

    def __init__(self, code: int, headers: Mapping[str, str], body_bytes: int, text_bytes: int) -> None:
        most = text_bytes if 200 <= code <= 299 else 0
        self._decoder = Decoder(headers.get("content-encoding", ""))
        self._skim = Skim(body_bytes, most, headers.get("content-type", ""))
        self._body_bytes = body_bytes
        self._left = self._most_sent = max(body_bytes, most)
        self._sent = 0

    def take(self, data: bytes) -> bool:
        """Takes the next bytes as sent; returns whether no more are needed."""
        if self._left:
            self._sent += len(data)
            found = self._decoder.take(data, self._left)
            self._left = 0 if self._skim.take(found) else self._left - len(found)
        limit = self._body_bytes if self._decoder.is_at_end else self._most_sent
        return not self._left or self._sent >= limit

    @property
    def reading(self) -> MarkupReader | None:
        """The reader of a long document."""
        return self._skim.reading

    def content(self) -> bytes:
        """Returns what is kept; nothing can be taken any more."""
        return self._skim.kept()
