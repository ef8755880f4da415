"""To which link of a page a mark belongs, by where it stands (B-2).

It is the link that ends nearest before the mark, on its line or in its reference; of nested links that is another than
the one that begins last. Where nothing ends there, it is the link in which the mark stands.
"""

import re
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from weboid.core.wikitext.nodes import LinkNode, NodeSpot, TemplateNode, Wikitext

_REUSED: Final = re.compile(r"<ref\b[^<>]*/>\Z", re.IGNORECASE)
"""A reference whose text is somewhere else on the page."""
_LONGEST_REUSED: Final = 300


class _Spanning(Protocol):
    start: int
    end: int


_Link = TypeVar("_Link", bound=_Spanning)


class _Taken(NamedTuple, Generic[_Link]):
    node: LinkNode | TemplateNode
    link: _Link | None


class MarkOwners(Generic[_Link]):
    """The links taken so far, in the order in which they begin, and to which of them a mark that follows belongs."""

    def __init__(self, wikitext: Wikitext) -> None:
        self._text = wikitext.text
        self._references = {each.end: each for each in wikitext.references}
        self._by_home: dict[int, list[_Taken[_Link]]] = {}
        """Of each text those in which the next node may stand, the innermost last; it may have ended already."""
        self._open: list[_Link] = []
        self._in_reference: dict[int, list[_Link | None]] = {}
        """What is in each reference, by where that ends."""

    def take(self, node: LinkNode | TemplateNode, link: _Link | None) -> None:
        """The next link, None for one that is left alone: marks that follow are its own all the same."""
        taken = self._by_home.setdefault(node.spot.home, [])
        while taken and taken[-1].node.end <= node.start:
            taken.pop()
        taken.append(_Taken(node, link))
        if node.spot.reference is not None:
            self._in_reference.setdefault(node.spot.reference.end, []).append(link)
        if link is not None:
            self._close(node.start)
            self._open.append(link)

    def before(self, start: int, spot: NodeSpot) -> _Link | None:
        """The link that ends last before a node on its line, or in its reference; else the one in whose label it is."""
        taken = self._by_home.get(spot.home, [])
        while len(taken) > 1 and taken[-2].node.end <= start:
            taken.pop()
        if not taken or (taken[-1].node.spot.last_line != spot.line and spot.reference is None):
            return None
        return taken[-1].link

    def owner(self, mark: TemplateNode) -> _Link | None:
        """The link to which a mark belongs that stands in no citation."""
        start = mark.start
        while start > 0 and self._text[start - 1] in " \t":
            start -= 1
        reference = self._references.get(start)
        if reference is not None:
            inside = self._in_reference.get(reference.end, [])
            return inside[0] if len(inside) == 1 else None
        is_elsewhere = _REUSED.search(self._text, max(0, start - _LONGEST_REUSED), start)
        return None if is_elsewhere else self.before(mark.start, mark.spot)

    def around(self, mark: TemplateNode) -> _Link | None:
        """The innermost link in which a mark stands."""
        self._close(mark.start)
        return self._open[-1] if self._open else None

    def _close(self, start: int) -> None:
        while self._open and self._open[-1].end <= start:
            self._open.pop()
