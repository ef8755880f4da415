"""The nodes of a wikitext, by offsets into the very text: templates, external links, references.

``reader`` makes them; the meaning of a wiki's templates is in ``settings`` and ``citations``.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
PIPE: Final = "{{!}}"
"""A pipe within a parameter."""
BLANKS: Final = " \t\n\r\0\v"
"""The characters that MediaWiki takes off a value; a no-break space is none of them."""


class Enclosure(Enum):
    """The strongest of all that is around a node, the weakest first; a reference begins anew."""

    TEXT = "text"
    CAPTION = "caption"
    """Of a file."""
    HEADING = "heading"
    WIKILINK = "wikilink"
    TEMPLATE = "template"
    """A parameter of a template, a parser function, or the default of a template's own parameter."""
    BROKEN = "broken"
    """Behind braces or brackets that nothing closes."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One ``<ref>``: `start` and `end` of all, `inner_start` and `inner_end` of what is between its tags."""

    start: int
    inner_start: int
    inner_end: int
    end: int


@dataclass(frozen=True, slots=True)
class NodeSpot:
    """The place of a node. `home` is the same for all nodes of one text, one parameter, one reference; `line` counts
    the lines in it, up to the node's beginning and up to its end."""

    home: int
    line: int
    last_line: int
    enclosure: Enclosure
    reference: Reference | None


@dataclass(frozen=True, slots=True)
class ParameterNode:
    """A parameter from its ``|`` at `start` to `end`, which is the next ``|`` or the template's end.

    `name` is without blanks and comments; of a parameter without ``=`` its number, and `equals` is None.
    """

    name: str
    start: int
    equals: int | None
    end: int

    @property
    def value_start(self) -> int:
        """The beginning of the value, with the blanks before it."""
        return (self.start if self.equals is None else self.equals) + 1


@dataclass(frozen=True, slots=True)
class TemplateNode:
    """``{{name|…}}`` from `start` to `end`; `name` is without blanks and comments, `name_end` the first ``|`` or the
    closing braces."""

    name: str
    start: int
    name_end: int
    end: int
    parameters: tuple[ParameterNode, ...]
    spot: NodeSpot


@dataclass(frozen=True, slots=True)
class LinkNode:
    """``[url label]``, or a bare URL, from `start` to `end`.

    `url` is as written, up to `url_end`; `label` is None for a bare URL and empty for ``[url]``. Unless `is_whole`,
    MediaWiki takes more for the URL; it does so with what a template directly at `url_end` gives, too.
    """

    start: int
    end: int
    url: str
    url_end: int
    label: str | None
    is_whole: bool
    spot: NodeSpot


@dataclass(frozen=True, slots=True)
class Wikitext:
    """A text and its nodes, each kind in the order of the text. Comments, texts that are shown as they are
    (``<nowiki>``) and texts that are no wikitext (``<math>``) have none."""

    text: str
    templates: tuple[TemplateNode, ...]
    links: tuple[LinkNode, ...]
    references: tuple[Reference, ...]

    def value_of(self, parameter: ParameterNode) -> str:
        """The value without comments and the blanks around it, and with its pipes."""
        return COMMENT.sub("", self.text[parameter.value_start : parameter.end]).strip(BLANKS).replace(PIPE, "|")
