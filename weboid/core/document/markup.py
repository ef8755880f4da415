"""Splits HTML into a sequence of pieces (texts, tags and raw contents) in one pass of linear time (C-13).

No tree is built. For an HTML5 tree, 64 KiB can grow to gigabytes and many seconds (unclosed formatting tags are
re-opened in every paragraph), and a title, a text and some links need no tree (D-20). Nothing makes this raise. The
elements that matter to a text are also those of ``core/document/skim``, which shortens markup.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from weboid.core.document.folding import words_of

INLINE: Final = words_of(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
RAW: Final = "script|style|title|textarea|noscript|iframe|xmp|noembed|noframes"
"""Elements whose content is not markup, as a pattern."""
_HIDING: Final = frozenset({"svg", "template", "select", "datalist", "canvas", "object"})
_VOID: Final = words_of("area base br col embed frame hr img input link meta param source track wbr")
_UNHIDABLE: Final = frozenset({"html", "body", *RAW.split("|")})
"""Elements that are not left out when hidden: a hidden ``html`` or ``body`` is shown by a script later, and the others
have no content here.
"""
_HIDDEN: Final = re.compile(r"\shidden(?=[\s/=]|$)(?!=[\"']?until)|display\s*+:\s*+none", re.IGNORECASE)
# Elements that a script fills in later: empty, with the id of a framework or with a name that says so.
_SHELL_ID: Final = re.compile(
    r"\sid\s*+=\s*+[\"']?(?:root|app|__next|__nuxt|___gatsby|q-app|svelte|main-app|react-root|app-root|mount)(?![^\s\"'/])",
    re.IGNORECASE,
)
_SHELL_NAMES: Final = ("-root", "-app")
# An attribute's quoted value may contain ">"; a quote that is never closed is taken for an ordinary character.
# Every quantifier is possessive: each position is examined once.
_ATTRIBUTES: Final = r"(?>[^>=\"']++|=\s*+(?>\"[^\"]*+\"|'[^']*+'|[^\s>]*+)|[\"'])*+"
_PIECE: Final = re.compile(
    rf"""
    <(?P<raw>{RAW})(?=[\s/>])(?P<raw_attributes>{_ATTRIBUTES})>
        (?P<inner>.*?)(?:</(?P=raw)(?=[\s/>])[^>]*+>?|\Z)
    | <(?P<close>/?+)(?P<name>[a-z][^\s/>]*+)(?P<attributes>{_ATTRIBUTES})>
    | <!--(?:-?>|.*?--!?>|.*+)
    | <[!?/][^>]*+>
    | <[a-z/!?].*+
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"""([^\s/>=\"'][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+""")
_MAX_ATTRIBUTES: Final = 40
# A number of thousands of digits is an error in Python, and never a character.
_ENDLESS_NUMBER: Final = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")


@dataclass(slots=True)
class Piece:
    """One piece. `name` is empty for a text; `text` is the text as written; `closing` marks an end tag.

    An element whose content is not markup (scripts, titles, …) is one piece with that content as `text`.
    """

    name: str
    text: str = ""
    closing: bool = False
    raw_attributes: str = ""

    def attributes(self) -> dict[str, str]:
        """The attributes, at most forty, names in lower case, values unescaped; of equal names the first counts."""
        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self.raw_attributes):
            if len(found) == _MAX_ATTRIBUTES:
                break
            value = match[2] or match[3] or match[4] or ""
            found.setdefault(match[1].lower(), unescaped(value) if "&" in value else value)
        return found


def pieces(markup: str) -> Iterator[Piece]:
    """The pieces of a document in order; comments, declarations and an incomplete last tag are left out."""
    end = 0
    for match in _PIECE.finditer(markup):
        if match.start() > end:
            yield Piece("", markup[end : match.start()])
        end = match.end()
        if name := match["name"]:
            yield Piece(name.lower(), closing=bool(match["close"]), raw_attributes=match["attributes"])
        elif name := match["raw"]:
            yield Piece(name.lower(), match["inner"], raw_attributes=match["raw_attributes"])
    if end < len(markup):
        yield Piece("", markup[end:])


def unescaped(text: str) -> str:
    """A text with its character references resolved."""
    return unescape(_ENDLESS_NUMBER.sub("\ufffd", text)) if "&" in text else text


def collapsed(text: str) -> str:
    """A text as displayed: references resolved, every run of white space one space, none at the ends."""
    return " ".join(unescaped(text).split())


def hides(name: str, raw_attributes: str) -> bool:
    """True if an element hides its content."""
    if name in _VOID or name in _UNHIDABLE:
        return False
    return name in _HIDING or _HIDDEN.search(raw_attributes) is not None


def awaits_script(name: str, raw_attributes: str) -> bool:
    """True if an element, if it is empty, is one that a script fills in."""
    return name.endswith(_SHELL_NAMES) or ("id" in raw_attributes and _SHELL_ID.search(raw_attributes) is not None)
