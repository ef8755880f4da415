"""Reads of a long document its beginning, and then only as much as has enough text (C-11).

Real pages begin with scripts and styles: in the first 64 KiB a third of them show less than forty words. What is read
depends on the bytes alone, not on how they arrive; it is bounded, and so is the work for each byte.
"""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from html import escape
from typing import Final

from weboid.core.document.document import MAX_SKIMMED, is_html
from weboid.core.document.reading import MarkupReader, Telling

ENOUGH_WORDS: Final = 250
"""With more words no sign asks whether a document is thin."""
_BLOCK: Final = 16_384
"""Bytes that are read at a time after the beginning, wherever a body is cut (D-115)."""
_SNIFFED: Final = 512
_WORD_BYTES: Final = 12
"""Bytes that count as a word in scripts without spaces."""
_LONGEST_TAG: Final = 1_000


class Skim:
    """One document: of its first `whole` bytes all are kept, of the first `most` at least the text if it is HTML.

    It reads markup only when there are `whole` bytes, so a short document costs nothing.
    """

    def __init__(self, whole: int, most: int, content_type: str = "") -> None:
        self._whole = whole
        self._most = max(whole, most)
        self._content_type = content_type
        self._beginning = b""
        self._waiting = bytearray()
        self._taken = 0
        self._is_done = False
        self._words = 0
        self._counted = self._beginning_pieces = self._beginning_telling = 0
        self.reading: MarkupReader | None = None
        """What was read; None of what is short, or no HTML."""

    def take(self, data: bytes) -> bool:
        """Takes the next bytes; returns whether no more are needed."""
        if not self._is_done:
            data = data[: self._most - self._taken]
            self._taken += len(data)
            self._waiting += data
            while not self._is_done and len(self._waiting) >= (size := _BLOCK if self._beginning else self._whole):
                self._read(size)
            if self._taken == self._most:
                self._finish()
        return self._is_done

    def kept(self) -> bytes:
        """The kept bytes of all that was taken; nothing can be taken any more."""
        self._finish()
        if self.reading is None:
            return self._beginning or bytes(memoryview(self._waiting)[: self._whole])
        # Escaped as it came: markup that a text shows is no markup.
        text, names = escape(self.reading.text(self._beginning_pieces), quote=False), sorted(self.reading.names)
        tags = [*map(_tag, self.reading.telling[self._beginning_telling :]), *(f"<{name}>" for name in names)]
        following = f"{text} {''.join(tags)}".strip().encode(errors="replace")
        return self._beginning + following[:MAX_SKIMMED]

    def _finish(self) -> None:
        if not self._is_done and self.reading:
            self._read(len(self._waiting))
        if not self._is_done and self.reading:
            self.reading.finish()
        self._is_done = True

    def _read(self, size: int) -> None:
        """Reads so many bytes; afterwards it is known if there is enough text."""
        data = bytes(memoryview(self._waiting)[:size])  # one copy, not two
        del self._waiting[:size]
        is_first = not self._beginning
        if is_first:
            self._beginning = data
            if self._whole == self._most or not _is_skimmable(self._content_type, data):
                self._is_done = True
                return
            self.reading = MarkupReader(self._content_type)
        assert self.reading is not None
        self.reading.feed(data)
        text = self.reading.text(self._counted)
        self._counted = self.reading.pieces
        self._words += max(text.count(" ") + 1 if text else 0, len(text.encode()) // _WORD_BYTES)
        if self._words >= ENOUGH_WORDS or self.reading.is_ended:
            self.reading.finish(is_cut=not is_first)
            self._is_done = True
        if is_first:
            self._beginning_pieces, self._beginning_telling = self.reading.pieces, len(self.reading.telling)
            self.reading.names.clear()


def _tag(telling: Telling) -> str:
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in telling.attributes.items())
    content = escape("".join(telling.content), quote=False) if telling.name == "noscript" else ""
    return f"<{telling.name}{attributes[:_LONGEST_TAG]}>{content}"


def _is_skimmable(content_type: str, beginning: bytes) -> bool:
    """True if it is HTML in a charset in which the characters of tags are single bytes."""
    return is_html(content_type, beginning[:_SNIFFED]) and not beginning.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
