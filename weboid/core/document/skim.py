"""Skims a document while it arrives: its beginning as it is, then only what is text, until there is enough (C-11).

Real pages begin with scripts and styles: in the first 64 KiB a third of them show less than forty words. The result is
markup again, to be read by ``core/document/document``: of elements that show nothing only the tags are left. It depends
on the bytes alone, not on how they arrive; it is bounded, and so is the work for each byte.
"""

import re
from bisect import bisect_left
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from typing import Final

from weboid.core.document.document import MAX_SKIMMED, is_html
from weboid.core.document.markup import HIDING, RAW, VOID, awaits_script, hides

ENOUGH_WORDS: Final = 250
"""With more words no sign asks whether a document is thin."""
_MAX_TAGS: Final = 8_000
"""Only a hostile document has more and no text; each takes a microsecond."""
_BLOCK: Final = 16_384
"""Bytes that are read at a time, wherever a body is cut (D-115)."""
_LONGEST_TAG: Final = 4_096
_LONGEST_KEPT: Final = 1_000
_SNIFFED: Final = 512
_LONGEST_END: Final = 16
_NAME: Final = 40
_DEEPEST: Final = 64
_COMMENT: Final = "!--"
_WORD_BYTES: Final = 12
"""Bytes that count as a word in scripts without spaces."""

# An attribute's quoted value may contain ">". What the end of the data cuts is no tag yet: its quotes may still be
# closed. Every quantifier is possessive: each position is examined once.
_ATTRIBUTES: Final = rb"(?>[^>=\"']++|=\s*+(?>\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\s>]*+)|[\"'])*+"
_TOKEN: Final = re.compile(
    rb"<(?P<close>/?+)(?P<name>[a-z][^\s/>]*+)(?P<attributes>" + _ATTRIBUTES + rb")>"
    rb"|(?P<comment><!--)(?!\Z)(?:-?>)?+|<(?=[!?/])(?!!--)[^>]*+>|(?P<cut><(?:[a-z/!?].*+|\Z))",
    re.IGNORECASE | re.DOTALL,
)
# Texts and tags that go by without a look at each: of elements that are neither hidden nor kept with attributes.
_TAG: Final = rb"<(/?+[a-z][^\s/>]*+)" + _ATTRIBUTES + rb">"
_TAGS: Final = re.compile(_TAG, re.IGNORECASE)
_SPACES: Final = re.compile(rb"\s+")
# Words in a block in lower case: a tag may hide its element, or say that a script fills it in. Patterns that begin with
# a literal are found several times as fast as one pattern of all.
_STOPS: Final = tuple(
    re.compile(word)
    for word in (b"hidden", b"display", rb"id\s*+=\s*+[\"']?+(?:root|app|_|q-app|svelte|main-app|react-|mount)")
)


def _plain(*special: Iterable[str]) -> re.Pattern[bytes]:
    names = b"|".join(name.encode() for name in sorted(frozenset().union(*special)))
    return re.compile(rb"(?:[^<]++|(?!<(?:" + names + rb")[\s/>])" + _TAG + rb")++", re.IGNORECASE)


_CUT_TAG: Final = re.compile(
    rb"<(?P<name>[a-z][^\s/>]*+)(?P<attributes>" + _ATTRIBUTES + rb")(?P<value>=\s*+[\"']?+)?+", re.IGNORECASE
)
_MAY_HIDE: Final = re.compile(rb"hidden|display", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(
    rb"([^\s/>=\"'][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"?+|'([^']*+)'?+|([^\s>]*+)))?+", re.IGNORECASE
)
_COMMENT_END: Final = re.compile(rb"--!?>")
_ENDS: Final = {name: re.compile(rb"</" + name.encode() + rb"(?=[\s/>])", re.IGNORECASE) for name in RAW}
_TEXTS: Final = frozenset({"title", "noscript"})
"""Of these elements the content is kept, though it is not markup."""
_WITH_ATTRIBUTES: Final = frozenset({"html", "meta", "link", "base", "iframe", "frame", "script", "embed", "input"})
"""Elements whose attributes are kept."""
_PLAIN: Final = _plain(RAW, HIDING)
_PLAIN_KEPT: Final = _plain(RAW, HIDING, _WITH_ATTRIBUTES, {"a"})


class Skim:
    """One document: of its first `whole` bytes all are kept, of the first `most` at least the text if it is HTML.

    It begins to read markup only when there are `whole` bytes, so a short document costs nothing.
    """

    def __init__(self, whole: int, most: int, content_type: str = "") -> None:
        self._whole = whole
        self._most = max(whole, most)
        self._content_type = content_type
        self._beginning = bytearray()
        self._waiting = bytearray()
        self._skimmed = bytearray()
        self._taken = 0
        self._is_done = False
        self._is_keeping = False
        self._rest = b""
        self._cut_bytes = 0
        self._is_ended = False
        self._inside = ""
        self._hidden_by = ""
        self._hidden_depth = 0
        self._open: list[str] = []
        """Elements in a hidden one that are open where the beginning ends."""
        self._words = 0
        self._tags = 0

    @property
    def room(self) -> int:
        """The number of bytes that may still be taken."""
        return 0 if self._is_done else self._most - self._taken

    def take(self, data: bytes) -> bool:
        """Takes the next bytes; returns whether no more are needed."""
        data = data[: self.room]
        self._taken += len(data)
        if not self._is_keeping:
            missing = self._whole - len(self._beginning)
            self._beginning += data[:missing]
            data = data[missing:]
            if len(self._beginning) == self._whole and not self._is_done:
                self._begin()
        self._waiting += data
        while len(self._waiting) >= _BLOCK and not self._is_done:
            self._read(bytes(self._waiting[:_BLOCK]))
            del self._waiting[:_BLOCK]
        if self._taken == self._most:
            self._finish()
        return self._is_done

    def kept(self) -> bytes:
        """The kept bytes of all that was taken; nothing can be taken any more."""
        self._finish()
        return bytes(self._beginning + self._skimmed[:MAX_SKIMMED])

    def _begin(self) -> None:
        """Reads the beginning; if there is too little text in it, what follows is skimmed."""
        self._is_done = self._most == self._whole or not _is_skimmable(self._content_type, self._beginning)
        for start in range(0, self._whole, _BLOCK):
            if not self._is_done:
                self._read(bytes(self._beginning[start : start + _BLOCK]))
        if self._is_done:
            return
        self._is_keeping = True
        if self._cut_bytes > _LONGEST_TAG:
            # A tag without end, or with a quote without one: what it holds is kept, and it is ended here.
            self._skimmed += (self._rest[-1:] if self._rest.endswith((b'"', b"'")) else b"") + b">"
            self._is_ended = True
        elif self._cut_bytes:
            # What the end cuts is read again, as a part of what follows.
            del self._beginning[-self._cut_bytes :]
        if self._inside or self._hidden_by:
            _drop_character(self._beginning)
        if self._inside:
            self._skimmed += b"-->" if self._inside == _COMMENT else b"\n"

    def _finish(self) -> None:
        if not self._is_done and self._waiting:
            self._read(bytes(self._waiting))
        self._waiting.clear()
        self._is_done = True

    def _read(self, data: bytes) -> None:
        """Reads the next block, with what was cut from the last."""
        block_bytes, cut_before = len(data), self._cut_bytes if self._rest else 0
        data = self._rest + data
        self._rest, self._cut_bytes = b"", 0
        at, lowered = 0, data.lower()
        stops = sorted(data.rfind(b"<", 0, found.start()) for stop in _STOPS for found in stop.finditer(lowered))
        while at < len(data):
            if self._inside:
                at = self._leave(data, at)
                continue
            if not (self._hidden_by or self._is_ended):
                stop = bisect_left(stops, at)
                end = stops[stop] if stop < len(stops) else len(data)
                if plain := (_PLAIN_KEPT if self._is_keeping else _PLAIN).match(data, at, end):
                    at = plain.end()
                    self._take_plain(plain[0])
                    continue
            found = _TOKEN.search(data, at)
            if found is None:
                self._take_text(data[at:])
                break
            if found.start() > at:
                self._take_text(data[at : found.start()])
            at = found.end()
            self._tags += 1
            if cut := found["cut"]:
                # A tag that began in an earlier block was longer than what was kept of it.
                self._rest = _shortened(cut)
                self._cut_bytes = cut_before + block_bytes if cut_before and not found.start() else len(cut)
            elif found["comment"]:
                self._inside = _COMMENT if at - found.start() == len(found["comment"]) else ""
            elif name := found["name"]:
                self._take_tag(name.lower().decode("latin-1")[:_NAME], found["attributes"], bool(found["close"]))
        is_full = self._words >= ENOUGH_WORDS or len(self._skimmed) >= MAX_SKIMMED or self._tags > _MAX_TAGS
        self._is_done = self._is_done or is_full

    def _leave(self, data: bytes, at: int) -> int:
        """Skips the content of an element whose content is not markup; returns where to go on."""
        end = (_COMMENT_END if self._inside == _COMMENT else _ENDS[self._inside]).search(data, at)
        if end is None:
            start = max(at, len(data) - _LONGEST_END)
            self._rest, self._cut_bytes = data[start:], len(data) - start
        else:
            start = end.start()
        if self._is_keeping and self._inside in _TEXTS:
            self._skimmed += data[at:start]
        if end is None:
            return len(data)
        was_comment = self._inside == _COMMENT
        self._inside = ""
        return end.end() if was_comment else start

    def _take_text(self, data: bytes) -> None:
        if self._hidden_by:
            return
        parts = data.split()
        self._count(parts)
        if self._is_keeping:
            before, after = b" " * data[:1].isspace(), b" " * (data[-1:].isspace() and bool(parts))
            self._skimmed += before + b" ".join(parts) + after

    def _take_plain(self, data: bytes) -> None:
        parts = _TAGS.split(data)  # texts and names of tags in turn
        self._tags += len(parts) // 2
        self._count(b" ".join(parts[::2]).split())
        if self._is_keeping:
            parts[1::2] = [b"<%s>" % name for name in parts[1::2]]
            self._skimmed += _SPACES.sub(b" ", b"".join(parts))

    def _count(self, parts: list[bytes]) -> None:
        self._words += max(len(parts), sum(map(len, parts)) // _WORD_BYTES)

    def _take_tag(self, name: str, attributes: bytes, closing: bool) -> None:
        hides_now = not closing and not self._hidden_by and _hides(name, attributes)
        is_end = closing and name == self._hidden_by and self._hidden_depth == 1
        if self._is_ended:
            self._is_ended = False
        elif self._is_keeping and (not self._hidden_by or name == self._hidden_by):
            if is_end:
                self._skimmed += b"".join(b"</%s>" % each.encode("latin-1") for each in reversed(self._open))
            self._skimmed += _short_tag(name, attributes, closing=closing, hides_now=hides_now)
        if hides_now:
            self._hidden_by, self._hidden_depth = name, 1
        elif is_end:
            self._hidden_by = ""
            self._open.clear()
        elif name == self._hidden_by:
            self._hidden_depth += -1 if closing else 1
        elif self._hidden_by and not self._is_keeping:
            self._note_open(name, closing)
        if not closing and name in _ENDS:
            self._inside = name

    def _note_open(self, name: str, closing: bool) -> None:
        """Notes what is open in a hidden element: its end may not end that in the tree (``core/document/markup``)."""
        if closing and name in self._open:
            while self._open.pop() != name:
                pass
        elif not (closing or name in VOID or len(self._open) == _DEEPEST):
            self._open.append(name)


def _is_skimmable(content_type: str, beginning: bytearray) -> bool:
    """True if it is HTML in a charset in which the characters of tags are single bytes."""
    return is_html(content_type, bytes(beginning[:_SNIFFED])) and not beginning.startswith((BOM_UTF16_LE, BOM_UTF16_BE))


def _short_tag(name: str, attributes: bytes, *, closing: bool, hides_now: bool) -> bytes:
    """A tag with no more of its attributes than the reader of the document asks for."""
    kept = b""
    if closing:
        name = f"/{name}"
    elif name in _WITH_ATTRIBUTES and len(attributes) <= _LONGEST_KEPT:
        kept = attributes
    elif hides_now:
        kept = b" hidden"
    elif name == "a" and _value(b"href", attributes) is not None:
        kept = b" href"
    elif awaits_script(name, _value(b"id", attributes)):
        kept = b" id=root"
    return b"<%s%s>" % (name.encode("latin-1"), kept)


def _hides(name: str, attributes: bytes) -> bool:
    if not _MAY_HIDE.search(attributes):
        return hides(name, None, None)
    return hides(name, _value(b"hidden", attributes), _value(b"style", attributes))


def _value(name: bytes, attributes: bytes) -> str | None:
    """The value of an attribute; None if it is not there."""
    if name in attributes.lower():
        for found in _ATTRIBUTE.finditer(attributes):
            if found[1].lower() == name:
                return (found[2] or found[3] or found[4] or b"").decode("latin-1")
    return None


def _shortened(cut: bytes) -> bytes:
    """The beginning of a tag that the data cuts, or something short that goes on in the same way."""
    if len(cut) <= _LONGEST_TAG:
        return cut
    found = _CUT_TAG.match(cut)
    if found is None:
        return cut[:2] + b"x"
    name, attributes = found["name"][:_NAME].lower(), found["attributes"]
    short = b"<" + name
    if _hides(name.decode("latin-1"), attributes):
        short += b" hidden"
    if _value(b"href", attributes) is not None:
        short += b" href"
    if value := found["value"]:
        return short + b" x=" + value.strip(b"= \t\r\n\f")
    return short + (b" x=" if attributes.rstrip().endswith(b"=") else b" ")


def _drop_character(data: bytearray) -> None:
    """Removes the last character, which may be incomplete, if it is in UTF-8 and not ASCII."""
    while data and 0x80 <= data[-1] < 0xC0:
        data.pop()
    if data and data[-1] >= 0xC0:
        data.pop()
