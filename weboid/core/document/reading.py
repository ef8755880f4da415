"""Reads the markup of a document while it arrives, by libxml2, in bounded time and memory (C-11, C-13, D-20).

libxml2 cuts markup into tags and texts as HTML5 says, but opens no unclosed formatting tag again in every paragraph, by
which 64 KiB grow to gigabytes. No tree is built. ``core/document/document`` makes a document of what was read.
"""

import re
import sys
from codecs import IncrementalDecoder
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import re2  # type: ignore[import-untyped]
from lxml import etree
from msgspec import Struct

from weboid.core.document.charset import decoder_of, in_utf8
from weboid.core.document.folding import words_of
from weboid.core.document.markup import HIDING, INLINE, RAW, awaits_script, collapsed, hides

MAX_TITLE: Final = 300
"""Characters of a title or heading."""
_MAX_ELEMENTS: Final = 10_000
_MAX_DEPTH: Final = 1_024
_MAX_TAGS: Final = 20_000
"""Only a hostile document has more elements, nests more of them or has more tags, a reference being a third of one; it
is read no further.
"""
_MAX_SCRIPT: Final = 4_000
"""Characters that are kept of a script: a longer one does more than to lead on."""
_MAX_TELLING: Final = 3_000
_SLICE: Final = 16_384
"""Bytes that libxml2 is given at a time: it does not end before."""
_MAX_HEADINGS: Final = 4
_HEADINGS: Final = frozenset({"h1", "h2"})
_TELLING: Final = words_of("title script noscript meta link base html input iframe frameset frame embed")
_WITH_CONTENT: Final = words_of("title script noscript")
_UNSHOWN: Final = RAW | HIDING
_SPECIAL: Final = _TELLING | _UNSHOWN | _HEADINGS | {"a"}
_GAP: Final = " \n"
"""Separates the texts of elements that are not inline."""
# As in browsers, what follows them belongs to the page; libxml2 would end there.
_ENDS: Final = re.compile(rb"</(?:html|body)(?=[\s/>])[^>\n]*+>", re.IGNORECASE)
_HAS_ENDS: Final[Any] = re2.compile(rb"</(?:[hH][tT][mM][lL]|[bB][oO][dD][yY])")
"""The same by RE2, which takes a fifth of the time where there are none, spelled so that it looks for ``</`` first."""
_LONGEST_END: Final = 16


def _number(byte: bytes, markup: bytes) -> int:
    """The number of one byte in markup: `bytes.count` looks at all bytes by themselves, in three times as long."""
    return len(markup) - len(markup.replace(byte, b""))


class Telling(Struct):
    """An element that says something by its attributes, or by a content that is no text of the page."""

    name: str
    attributes: Mapping[str, str]
    content: list[str]
    """In pieces."""


class Pieces(NamedTuple):
    """A text in the pieces in which it was read, which NUL separates: a list takes three times as much memory."""

    text: str = ""
    linked: Sequence[tuple[int, int]] = ()
    """The first piece of each link, and the first one after it."""

    def unlinked(self) -> str:
        """The text outside of links."""
        text, own, at = self.text.split("\0"), list[str](), 0
        for start, end in self.linked:
            own += [*text[at:start], *[_GAP] * (_GAP in text[start:end])]
            at = end
        return collapsed("".join([*own, *text[at:]]))


class _TooMuch(Exception):
    """Ends the reading of a hostile document."""


class MarkupReader:
    """Takes what a document says, before its URL is known."""

    def __init__(self, content_type: str = "") -> None:
        self._content_type = content_type
        self._rest = b""
        self._tags = 0
        self._decoder: IncrementalDecoder | None = None
        self._source = _IDLE.pop() if _IDLE else _Source()
        self._source.begin()
        self.headings = self._source.headings
        self.telling = self._source.telling
        self.names = self._source.names
        self.links = 0
        self.is_shell = self.is_ended = False
        self.whole = Pieces()
        """The text, once all is read."""
        self.made: Any = None
        """The document, once it is made."""
        self._text = self._source.text
        self._joined = (0, "")
        """Where all text ended when it was joined last, and this."""

    def feed(self, data: bytes) -> None:
        """Reads the next bytes; the first ones, in which the charset is found, should be many."""
        if self._decoder is None:
            data, self._decoder = decoder_of(data, self._content_type)
        # NUL is what no document means.
        markup = self._rest + in_utf8(self._decoder, data).replace(b"\0", b" ")
        cut = markup.find(b"<", max(len(markup) - _LONGEST_END, 0))
        markup, self._rest = (markup, b"") if cut < 0 else (markup[:cut], markup[cut:])
        if markup:
            self._feed(markup)

    def _feed(self, markup: bytes) -> None:
        markup = _ENDS.sub(b" ", markup) if _HAS_ENDS.search(markup) else markup
        with suppress(_TooMuch):
            for start in range(0, len(markup), _SLICE):
                piece = markup[start : start + _SLICE]
                self._tags += _number(b"<", piece) + _number(b"&", piece) // 3
                self.is_ended = self.is_ended or self._tags > _MAX_TAGS
                if self.is_ended:
                    return
                self._source.parser.feed(piece)
        self._source.put_aside()
        self.is_ended = self.is_ended or self._source.is_too_much

    def finish(self, *, is_cut: bool = False) -> None:
        """Reads the end, unless it is that of what was cut; nothing can be read any more."""
        self._feed(b"" if is_cut else self._rest)
        with suppress(etree.XMLSyntaxError, _TooMuch):  # an empty document, or a hostile one
            self._source.parser.close()
        source = self._source
        source.put_aside()
        self.links, self.is_shell = source.links, source.is_shell
        self._text = source.text.copy()
        linked = source.linked + [(source.link_at, len(source.text))] * bool(source.link_depth)
        self.whole = Pieces("\0".join(self._text), linked)
        if not self.is_ended and not source.is_too_much:
            _IDLE.append(source)
        del self._source

    def forget(self) -> None:
        """Keeps nothing of what was read."""
        self._text, self.whole, self.telling, self.names, self._joined = [], Pieces(), [], set(), (0, "")

    @property
    def pieces(self) -> int:
        """The number of pieces of text that were read, to be passed to `text`."""
        return len(self._text)

    def text(self, start: int = 0) -> str:
        """The text that is shown, or what follows its first pieces."""
        if start:
            return collapsed("".join(self._text[start:]))
        end, joined = self._joined
        # Nearly always nothing but ends of elements has followed.
        if end == 0 or "".join(self._text[end:]).strip():
            joined = collapsed("".join(self._text))
        self._joined = (len(self._text), joined)
        return joined


class _Source:
    """Takes what its parser finds. Each is used again, since parsers of lxml refer to themselves.

    `start` and `end` are called by lxml, and so is `data`, which is no method of ours for speed: `text` gets every
    text, and loses at the end of an element those that are no text of the page.
    """

    def __init__(self) -> None:
        self.text: list[str] = []
        self.data = self.text.append
        target: Any = self  # its methods take texts alone, as lxml passes them
        self.parser = etree.HTMLParser(target=target, encoding="utf-8", collect_ids=False, huge_tree=True)

    def begin(self) -> None:
        """Begins another document."""
        self.text.clear()
        self.headings: list[str] = []
        self.telling: list[Telling] = []
        self.names: set[str] = set()
        self.linked: list[tuple[int, int]] = []
        self.links = self.link_depth = self.link_at = 0
        self.is_shell = self.is_too_much = False
        self._elements = self._depth = 0
        self._heading_at = -1
        self._may_be_shell = False
        self._skipped = self._skipped_at = 0
        """The depth in an element of which the content is not text of the page, 0 outside; where that begins."""
        self._content: list[str] | None = None
        self._room = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Takes the beginning of an element."""
        self._depth = depth = self._depth + 1
        self._elements += 1
        if self._elements > _MAX_ELEMENTS or depth > _MAX_DEPTH:
            self.is_too_much = True
            raise _TooMuch
        self._may_be_shell = False
        if self._skipped:
            self.data(_GAP)
            return
        self.names.add(name)
        if name not in INLINE:
            self.data(_GAP)
        if "id" in attributes or "-" in name:
            self._may_be_shell = awaits_script(name, attributes.get("id"))
        if attributes and ("style" in attributes or "hidden" in attributes):
            self._skipped = depth if hides(name, attributes.get("hidden"), attributes.get("style")) else 0
            self._skipped_at = len(self.text)
        if name in _SPECIAL:
            self._start_special(name, attributes)

    def _start_special(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _TELLING and len(self.telling) < _MAX_TELLING:
            self.telling.append(Telling(name, attributes, []))
            self._content = self.telling[-1].content if name in _WITH_CONTENT else None
            self._room = _MAX_SCRIPT if name == "script" else sys.maxsize
        if self._skipped or name in _UNSHOWN:
            self._skipped, self._skipped_at = self._depth, len(self.text)
        elif name == "a" and "href" in attributes:
            self.links += 1
            if not self.link_depth:
                self.link_depth, self.link_at = self._depth, len(self.text)
        elif name in _HEADINGS and len(self.headings) < _MAX_HEADINGS:
            self._heading_at = len(self.text)

    def end(self, name: str) -> None:
        """Takes the end of an element."""
        if self._may_be_shell:
            self.is_shell, self._may_be_shell = True, False
        depth = self._depth
        self._depth = depth - 1
        if self._skipped:
            if depth > self._skipped:
                self.data(_GAP)
                return
            self.put_aside()
            self._skipped, self._content = 0, None
        if name not in INLINE:
            self.data(_GAP)
        if depth == self.link_depth:
            self.linked.append((self.link_at, len(self.text)))
            self.link_depth = 0
        elif self._heading_at >= 0 and name in _HEADINGS:
            self.headings += filter(None, [collapsed("".join(self.text[self._heading_at :]))[:MAX_TITLE]])
            self._heading_at = -1

    def put_aside(self) -> None:
        """Removes from the text what is no text of the page, as far as it was read."""
        if self._skipped:
            if self._content is not None and self._room > 0:
                content = "".join(self.text[self._skipped_at :])[: self._room]
                self._content.append(content)
                self._room -= len(content)
            del self.text[self._skipped_at :]

    def close(self) -> None:
        """Ends no tree."""


_IDLE: Final[list[_Source]] = []
