"""Reads wikitext into nodes, by the rules of MediaWiki's preprocessor and of its parser of external links (B-2).

It is one pass with a stack and without backtracking, so that its time is linear in the text. It does not expand
templates. mwparserfromhell backtracks, hides captions of galleries, and its nodes have no offsets, which are all that a
repair needs. Reading never raises.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

from weboid.core.wikitext.nodes import (
    COMMENT,
    Enclosure,
    LinkNode,
    NodeSpot,
    ParameterNode,
    Reference,
    TemplateNode,
    Wikitext,
)

_OPAQUE: Final = (
    "nowiki|pre|code|syntaxhighlight|source|math|chem|ce|templatedata|includeonly|score|timeline|graph|mapframe|maplink|"
    "hiero|inputbox|categorytree|imagemap|templatestyles|languages|rss|quiz|phonos|html|htmlform|css|script|style"
)
"""Tags of which the inside is no wikitext, or is shown as it is, or is not shown on the page itself."""
_WIKITEXT: Final = "ref|references|gallery|poem|indicator|section|tabber"
"""Extension tags with wikitext inside; MediaWiki reads it apart from what is around."""

_CLOSING: Final = re.compile(rf"</({_OPAQUE}|{_WIKITEXT})\s*>", re.IGNORECASE)
_IS_OPAQUE: Final = frozenset(_OPAQUE.split("|"))
_IS_WIKITEXT: Final = frozenset(_WIKITEXT.split("|"))

_SCHEME: Final = r"(?:https?|ftps?|sftp)://"
_URL_CHARACTERS: Final = r"[^\]\[<>\"|{}\x00-\x20\x7f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufffd]"
_TOKEN: Final = re.compile(
    rf"<!--|</?(?P<tag>[A-Za-z][A-Za-z0-9]*)(?=[\s/>])|\{{\{{+|\}}\}}\}}?|\[+|\]\]?|[|=\n]|(?P<scheme>(?<!\w){_SCHEME})",
    re.IGNORECASE,
)
_TAG_REST: Final = re.compile(r"[^<>]*>")
_END_OF_URL: Final = r"''|&(?:lt|gt|nbsp|#0*(?:60|62|160)|#x0*(?:3c|3e|a0));"
"""The ends of a URL besides blanks and brackets: quotes of italics, and entities of what it cannot contain."""
_ENTITY: Final = re.compile(r"&(?:[a-z]+|#[0-9]+|#x[0-9a-f]+)\Z", re.IGNORECASE)
_ADDRESS: Final = re.compile(rf"(?:{_SCHEME}|//)(?:(?!{_END_OF_URL}){_URL_CHARACTERS})+", re.IGNORECASE)
_PIPED: Final = re.compile(_ADDRESS.pattern.replace(_URL_CHARACTERS, rf"(?:{_URL_CHARACTERS}|\|)"), re.IGNORECASE)
"""The same where a pipe separates nothing."""
_TABLE: Final = re.compile(r"[ \t]{0,40}(?:[|!]|:{0,40}[ \t]{0,40}\{\|)")
_HEADER: Final = re.compile(r"[ \t]{0,40}!")
_ROW: Final = re.compile(r"[ \t]{0,40}(?::{0,40}[ \t]{0,40}\{\||\|-(?!\|))")
"""The beginning of a table's line that has nothing but attributes; ``|-|`` is one of tabber's."""
_WITH_WIKILINK: Final = re.compile(r"\[\[|\{\{|-\{")
"""What is a wikilink, or may become one, so that a table's cell has no attributes."""
_NOTHING: Final = re.compile(r"(?!)")
_FILE: Final = re.compile(
    r"[^\[\]{}|\n:]+:[^\[\]{}|\n]+\."
    r"(?:jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu?|og[gav]|opus|webm|mp[34g]|mpeg|wav|flac|midi?|stl)\s*\|",
    re.IGNORECASE,
)
"""The beginning of a link to a file; namespaces have other names on every wiki, files have the same extensions."""
_FILE_OPTION: Final = re.compile(r"\|\s{0,40}[^\W\d_]\w{0,40}=")
_OPTION: Final = re.compile(r"(?:\|\s*[^\W\d_][\w -]*=\s*|<tvar\b[^<>]*>)\Z")
"""``|link=`` before a URL, in links to files, galleries and tables; ``<tvar>``, whose text may be part of a link."""
_LONGEST_OPTION: Final = 40
_UNSEEN: Final = r"(?i:<!--.*?-->|<includeonly\s*>.*?</includeonly\s*>|</?(?:no|only)include\s*>)"
_ADDED: Final = re.compile(rf"\{{\{{\{{|\{{(?!\{{)|\}}(?!\}})|\|(?![|}}])|(?>{_UNSEEN})+{_URL_CHARACTERS}", re.DOTALL)
"""Characters after a URL by which MediaWiki makes it longer."""
_LONGEST_ADDED: Final = 2_000
_STRENGTH: Final = tuple(Enclosure)


def read_wikitext(text: str) -> Wikitext:
    """The nodes of a text."""
    return _Reader(text).read()


@dataclass(eq=False, slots=True)
class _Piece:
    """An opened construct: braces, or brackets of a wikilink; without `parent` a text of its own (``<``: a gallery)."""

    start: int
    opening: str
    size: int
    """The number of open braces or brackets."""
    home: int
    line: int
    parent: "_Piece | None"
    parts: list[tuple[int, int | None]]
    """The beginning of each part (at the braces, then at each ``|``), and its first ``=``."""
    link: tuple[int, str, int, int] | None = None
    """An open ``[url``: start, URL, end of the URL, line."""
    closed: Enclosure | None = None
    """The enclosure that it turned out to be; None = nothing closed it."""
    surroundings: tuple[Enclosure, int] | None = None
    """The strongest enclosure around its inside, and the last line on which a wikilink was left open."""


@dataclass(slots=True)
class _Frame:
    """A text that is read apart: the page, or what is between an extension's tags."""

    top: _Piece
    end: int
    after: int
    """The position at which the reading goes on behind it."""
    line_start: int
    cell: int
    """The beginning of a table's cell, up to whose first pipe are attributes; behind that, the end of the frame."""
    reference: Reference | None
    line: int = 0
    tables: int = 0
    """Tables that are open."""


class _Place(NamedTuple):
    """The place of a node; its enclosure is known when all is read."""

    piece: _Piece
    home: int
    line: int
    last_line: int
    in_heading: bool
    reference: Reference | None


_Link = tuple[int, int, str, int, str | None, _Place]


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._homes = count()
        self._closings: dict[str, list[tuple[int, int]]] = {}
        for found in _CLOSING.finditer(text):
            self._closings.setdefault(found[1].lower(), []).append(found.span())
        self._covered = 0
        """Up to here, addresses are no links of their own: they stand in a tag or in another address."""
        self._tag_end = 0
        """The end of the first ``>`` behind the name of an extension's tag, with which it ends, as in MediaWiki."""
        self._templates: list[tuple[int, int, list[tuple[int, int | None]], _Place]] = []
        self._links: list[_Link] = []
        self._references: list[Reference] = []
        self._frames: list[_Frame] = []

    def read(self) -> Wikitext:
        text = self._text
        self._open_frame(0, len(text), len(text), None)
        place = 0
        while self._frames:
            frame = self._frames[-1]
            token = _TOKEN.search(text, place, frame.end)
            if token is None:
                place = frame.after
                self._frames.pop()
            else:
                place = self._consume(frame, token)
        templates = [self._template(*each) for each in self._templates]
        links = [self._link(*each) for each in self._links]
        return Wikitext(
            text,
            tuple(sorted(templates, key=lambda node: node.start)),
            tuple(sorted(links, key=lambda node: node.start)),
            tuple(self._references),
        )

    def _open_frame(self, start: int, end: int, after: int, reference: Reference | None, opening: str = "") -> None:
        base = _Piece(start, opening, 0, next(self._homes), 0, None, [(-1, None)], closed=Enclosure.TEXT)
        self._frames.append(_Frame(base, end, after, start, start, reference))

    def _consume(self, frame: _Frame, token: re.Match[str]) -> int:
        """Processes one token; returns the position at which to go on."""
        word, start = token[0], token.start()
        match word[0]:
            case "<":
                if word != "<!--":
                    return self._tag(frame, token)
                end = self._text.find("-->", start + 4, frame.end)
                # As in MediaWiki it hides the rest, where an unclosed tag hides nothing (D-242).
                return frame.end if end < 0 else end + 3
            case "{":
                return self._open(frame, start, len(word), "{")
            case "}":
                return self._close_braces(frame, start, len(word))
            case "[":
                return self._open_bracket(frame, start, len(word))
            case "]":
                return self._close_bracket(frame, start, len(word))
            case "|":
                self._pipe(frame, start)
            case "=":
                self._equals(frame, start)
            case "\n":
                frame.line += 1
                frame.line_start = token.end()
                frame.cell = frame.end if frame.top.parent else token.end()
                frame.top.link = None
            case _:
                self._bare_url(frame, start)
        return token.end()

    def _tag(self, frame: _Frame, token: re.Match[str]) -> int:
        start, name = token.start(), token["tag"].lower()
        if self._text[start + 1] == "/" or not (name in _IS_OPAQUE or name in _IS_WIKITEXT):
            # Braces and pipes count in tags, too, as MediaWiki's preprocessor does not know these.
            rest = _TAG_REST.match(self._text, token.end(), frame.end)
            self._covered = rest.end() if rest else self._covered
            return token.end()
        if self._tag_end <= token.end():
            self._tag_end = self._text.find(">", token.end()) + 1 or len(self._text) + 1
        if (end := self._tag_end) > frame.end:
            return token.end()
        closing = None if self._text[end - 2] == "/" else self._closing_of(name, end, frame.end)
        if closing is None or name in _IS_OPAQUE:
            return closing[1] if closing else end
        reference = frame.reference
        if name == "ref":
            reference = Reference(start, end, closing[0], closing[1])
            self._references.append(reference)
        self._open_frame(end, closing[0], closing[1], reference, "<" if name == "gallery" else "")
        return end

    def _closing_of(self, name: str, start: int, end: int) -> tuple[int, int] | None:
        closings = self._closings.get(name, [])
        at = bisect_left(closings, (start, start))
        return closings[at] if at < len(closings) and closings[at][1] <= end else None

    def _open(self, frame: _Frame, start: int, size: int, opening: str) -> int:
        end = start + size
        frame.top = _Piece(start, opening, size, next(self._homes), frame.line, frame.top, [(end, None)])
        return end

    def _close_braces(self, frame: _Frame, start: int, length: int) -> int:
        piece = frame.top
        if piece.opening != "{":
            return start + length
        matched = min(length, piece.size, 3)
        piece.closed = Enclosure.TEMPLATE
        opened = piece.start + piece.size - matched
        frame.top = self._left_over(piece, piece.size - matched)
        if matched == 2:
            place = self._place(frame, piece.line)
            self._templates.append((opened, start + 2, piece.parts, place))
        return start + matched

    def _left_over(self, piece: _Piece, size: int) -> _Piece:
        """The piece on top once this one is closed: the `size` braces that are still open may be closed later."""
        assert piece.parent is not None, "a text of its own is not closed by braces"
        if size < 2:
            return piece.parent
        parts: list[tuple[int, int | None]] = [(piece.start + size, None)]
        piece.parent = _Piece(piece.start, "{", size, next(self._homes), piece.line, piece.parent, parts)
        return piece.parent

    def _open_bracket(self, frame: _Frame, start: int, size: int) -> int:
        if size >= 2:
            return self._open(frame, start, size, "[")
        is_inside = frame.top.link or start < self._covered
        address = None if is_inside else self._address(frame).match(self._text, start + 1, frame.end)
        if address is not None:
            frame.top.link = (start, address[0], address.end(), frame.line)
            self._covered = max(self._covered, address.end())
        return start + 1

    def _address(self, frame: _Frame) -> re.Pattern[str]:
        """The form of addresses here: a pipe is part of one but in templates, wikilinks, galleries and lines of tables.
        There are none in options of files, in names of a gallery's files, and in lines of attributes.
        """
        top, line = frame.top, frame.line_start
        if not top.opening and not _TABLE.match(self._text, line):
            return _PIPED
        option = top.parts[-1][0] if top.opening in ("[", "<") else -1
        is_option = _FILE_OPTION.match(self._text, option) if option >= line else top.opening == "<"
        return _NOTHING if is_option or (top.parent is None and _ROW.match(self._text, line)) else _ADDRESS

    def _close_bracket(self, frame: _Frame, start: int, size: int) -> int:
        piece = frame.top
        if piece.link is not None:
            opened, url, url_end, line = piece.link
            piece.link = None
            place = self._place(frame, line)
            self._links.append((opened, start + 1, url, url_end, self._text[url_end:start].strip(), place))
            return start + 1
        if piece.opening != "[" or size < 2 or piece.parent is None:
            return start + size
        inner = piece.parts[0][0]
        if _ADDRESS.match(self._text, inner):
            piece.closed = Enclosure.BROKEN
        else:
            piece.closed = Enclosure.CAPTION if _FILE.match(self._text, inner, start) else Enclosure.WIKILINK
        frame.top = piece.parent
        return start + 2

    def _pipe(self, frame: _Frame, start: int) -> None:
        piece = frame.top
        if piece.opening:
            piece.link = None
            piece.home = next(self._homes)
            piece.parts.append((start, None))
        elif _TABLE.match(self._text, frame.line_start):
            self._pipe_of_table(frame, start)

    def _pipe_of_table(self, frame: _Frame, start: int) -> None:
        """As in MediaWiki: what is before the first pipe of a cell are attributes, unless a wikilink is in it."""
        text = self._text
        if _HEADER.match(text, frame.line_start):
            mark = text.rfind("!!", max(text.rfind("|", frame.line_start, start) + 1, frame.line_start), start)
            frame.cell = mark + 2 if mark >= 0 else frame.cell
        before = text[frame.cell : start].strip() if frame.cell == frame.line_start else "-"
        if before.lstrip(": \t") == "{":
            frame.tables, frame.cell = frame.tables + 1, frame.end
        elif not before and text.startswith("|}", start):
            frame.tables, frame.cell = max(frame.tables - 1, 0), frame.end
        elif not before:
            frame.cell = start + 1
        elif text.startswith("||", start) and frame.cell != start + 1:
            frame.cell, frame.top.link = start + 2, None
        elif start >= (begin := frame.cell):
            frame.cell = frame.end
            if frame.tables and not _WITH_WIKILINK.search(text, begin, start):
                frame.top.link, kept = None, list[_Link]()
                while self._links and self._links[-1][0] >= begin:
                    link = self._links.pop()
                    kept += [link] * (link[-1].reference is not frame.reference)
                self._links += reversed(kept)

    def _equals(self, frame: _Frame, start: int) -> None:
        piece = frame.top
        if piece.opening == "{" and len(piece.parts) > 1 and piece.parts[-1][1] is None:
            piece.parts[-1] = (piece.parts[-1][0], start)

    def _bare_url(self, frame: _Frame, start: int) -> None:
        text = self._text
        if frame.top.link or start < self._covered:
            return
        address = self._address(frame).match(text, start, frame.end)
        if address is None:
            return
        self._covered = address.end()
        if _OPTION.search(text[max(0, start - _LONGEST_OPTION) : start]):
            return
        # As in MediaWiki: a sentence's end is no part of the URL, nor is a bracket that opens before it.
        url = address[0].rstrip(",;.:!?\\" if "(" in address[0] else ",;.:!?\\)")
        url += ";" * (_ENTITY.search(url) is not None and address[0].startswith(";", len(url)))
        if len(url) > text.index("//", start) + 2 - start:
            self._links.append((start, start + len(url), url, address.end(), None, self._place(frame, frame.line)))

    def _place(self, frame: _Frame, line: int) -> _Place:
        in_heading = self._text.startswith("=", frame.line_start)
        return _Place(frame.top, frame.top.home, line, frame.line, in_heading, frame.reference)

    def _spot(self, place: _Place) -> NodeSpot:
        enclosure, open_line = _surroundings(place.piece)
        if open_line == place.line:
            enclosure = Enclosure.BROKEN
        elif place.in_heading:
            enclosure = max(enclosure, Enclosure.HEADING, key=_STRENGTH.index)
        return NodeSpot(place.home, place.line, place.last_line, enclosure, place.reference)

    def _link(self, start: int, end: int, url: str, url_end: int, label: str | None, place: _Place) -> LinkNode:
        added = _ADDED.match(self._text, url_end, url_end + _LONGEST_ADDED)
        in_table = label is None and added is not None and added[0] == "|" and place.piece.opening != ""
        return LinkNode(start, end, url, url_end, label, added is None or in_table, self._spot(place))

    def _template(self, start: int, end: int, parts: list[tuple[int, int | None]], place: _Place) -> TemplateNode:
        ends = [begin for begin, _ in parts[1:]] + [end - 2]
        name = _plain(self._text[parts[0][0] : ends[0]])
        return TemplateNode(name, start, ends[0], end, tuple(self._parameters(parts[1:], ends[1:])), self._spot(place))

    def _parameters(self, parts: list[tuple[int, int | None]], ends: list[int]) -> Iterator[ParameterNode]:
        unnamed = count(1)
        for (start, equals), end in zip(parts, ends, strict=True):
            name = str(next(unnamed)) if equals is None else COMMENT.sub("", self._text[start + 1 : equals]).strip()
            yield ParameterNode(name, start, equals, end)


def _plain(text: str) -> str:
    return " ".join(COMMENT.sub("", text).replace("_", " ").split())


def _surroundings(piece: _Piece) -> tuple[Enclosure, int]:
    """The surroundings of a piece; those of each are found once."""
    path = []
    above: _Piece | None = piece
    while above is not None and above.surroundings is None:
        path.append(above)
        above = above.parent
    known = (Enclosure.TEXT, -1) if above is None or above.surroundings is None else above.surroundings
    for each in reversed(path):
        enclosure, line = known
        if each.closed is None and each.opening == "[":
            line = max(line, each.line)
        else:
            enclosure = max(enclosure, each.closed or Enclosure.BROKEN, key=_STRENGTH.index)
        each.surroundings = known = (enclosure, line)
    return known
