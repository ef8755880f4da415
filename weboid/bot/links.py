"""Links of a page that may be repaired, with the marks that belong to them by where these stand (B-2)."""

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from weboid.bot.archived import wayback_copy
from weboid.core.wikitext.citations import Citation
from weboid.core.wikitext.nodes import LinkNode, NodeSpot, ParameterNode, TemplateNode, Wikitext
from weboid.core.wikitext.settings import ObsoleteTemplate

_REUSED: Final = re.compile(r"<ref\b[^>]*/>\Z", re.IGNORECASE)
"""A reference whose text is at another place of the page."""
_LONGEST_REUSED: Final = 300


class LinkForm(Enum):
    """The form in which a link is written."""

    CITATION = "citation"
    BRACKETED = "bracketed"
    BARE = "bare"
    DEAD_TAG = "dead tag"
    """A dead tag that stands in the link's place."""
    COPY = "copy"
    """An archive template that stands in the link's place, or alone."""


@dataclass(frozen=True, slots=True)
class ArchiveMark:
    """An archive template: the address of its copy, the link that this is of, and what to call the copy's settings.

    `address` is None if the template does not say which copy, `url` None if it does not say of which link.
    """

    template: TemplateNode
    address: str | None
    url: str | None
    obsolete: ObsoleteTemplate | None = None
    renamed: ParameterNode | None = None
    """The parameter that names the copy of a service that is deprecated, in the place of the settings' own."""
    is_open: bool = False
    """It leads to no copy: by ``wayback=*``, or by another archive's address where only a moment is named."""


@dataclass(slots=True)
class RepairableLink:
    """One link; `url` as written, without the archive's address around it if it is written as a copy."""

    kind: LinkForm
    start: int
    end: int
    url: str
    spot: NodeSpot
    citation: Citation | None = None
    node: LinkNode | None = None
    template: TemplateNode | None = None
    wrapped: str | None = None
    """The address of the copy, where that stands in the place of the URL."""
    dead_tags: list[TemplateNode] = field(default_factory=list)
    archives: list[ArchiveMark] = field(default_factory=list)
    copy_next: str | None = None
    """The address of a copy of it that is the link next to it, such as ``([https://web.archive.org/… archived])``."""
    is_paid: bool = False
    is_ignored: bool = False

    @property
    def stamp(self) -> str:
        """The moment by which a citation names its copy in the Wayback Machine, as written; empty if it does not."""
        given = None if self.citation is None else self.citation.archive_stamp
        return "" if given is None else given.value

    @property
    def copy_address(self) -> str | None:
        """The address of the copy that the link has; None if it has none, or the page does not say which."""
        cited = None if self.citation is None else self.citation.archive_url
        if cited is not None and cited.value:
            return cited.value
        if self.stamp:
            copy = wayback_copy(self.stamp, self.url)
            return None if copy is None else copy.address
        if self.wrapped is not None:
            return self.wrapped
        return self.archives[0].address if self.archives else self.copy_next


class _Spanned(NamedTuple):
    node: LinkNode | TemplateNode
    link: RepairableLink | None


class MarkOwners:
    """The links so far, in the order in which they begin, and the owner of a mark that follows.

    It is the link that ends nearest before the mark, on its line or in its reference; of nested links that is another
    than the one that begins last. Where nothing ends there, it is the link in which the mark stands.
    """

    def __init__(self, wikitext: Wikitext) -> None:
        self._text = wikitext.text
        self._references = {each.end: each for each in wikitext.references}
        self._by_text: dict[int, list[_Spanned]] = {}
        """By text, those in which the next node may stand, the innermost last; it may have ended already."""
        self._open: list[RepairableLink] = []
        self._in_reference: dict[int, list[RepairableLink | None]] = {}
        """What is in each reference, by where that ends."""

    def add(self, node: LinkNode | TemplateNode, link: RepairableLink | None) -> None:
        """Adds the next link, None for one that is left alone: marks that follow are its own all the same."""
        spanned = self._by_text.setdefault(node.spot.home, [])
        while spanned and spanned[-1].node.end <= node.start:
            spanned.pop()
        spanned.append(_Spanned(node, link))
        if node.spot.reference is not None:
            self._in_reference.setdefault(node.spot.reference.end, []).append(link)
        if link is not None:
            self._close(node.start)
            self._open.append(link)

    def before(self, start: int, spot: NodeSpot) -> RepairableLink | None:
        """The link that ends last before a node on its line, or in its reference; else the one in whose label it is."""
        spanned = self._by_text.get(spot.home, [])
        while len(spanned) > 1 and spanned[-2].node.end <= start:
            spanned.pop()
        if not spanned or (spanned[-1].node.spot.last_line != spot.line and spot.reference is None):
            return None
        return spanned[-1].link

    def owner(self, mark: TemplateNode) -> RepairableLink | None:
        """The link to which a mark belongs that stands in no citation."""
        start = blanks_before(self._text, mark.start)
        reference = self._references.get(start)
        if reference is not None:
            inside = self._in_reference.get(reference.end, [])
            return inside[0] if len(inside) == 1 else None
        is_reused = _REUSED.search(self._text, max(0, start - _LONGEST_REUSED), start)
        return None if is_reused else self.before(mark.start, mark.spot)

    def around(self, mark: TemplateNode) -> RepairableLink | None:
        """The innermost link in which a mark stands."""
        self._close(mark.start)
        return self._open[-1] if self._open else None

    def _close(self, start: int) -> None:
        while self._open and self._open[-1].end <= start:
            self._open.pop()


def blanks_before(text: str, end: int) -> int:
    """The offset at which the blanks and tabs before `end` begin."""
    while end > 0 and text[end - 1] in " \t":
        end -= 1
    return end
