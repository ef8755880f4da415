"""Titles of pages with the names of their namespaces, by the rules of MediaWiki (MediaWikiTitleCodec)."""

import re
from collections.abc import Iterable
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

MAIN: Final = 0
CATEGORY: Final = 14

_NAMES: Final = ("User", "Project", "File", "MediaWiki", "Template", "Help", "Category", "Module")
_SUBJECTS: Final = dict(zip((2, 4, 6, 8, 10, 12, 14, 828), _NAMES, strict=True))
CANONICAL: Final = {1: "Talk", **_SUBJECTS, **{number + 1: f"{name} talk" for number, name in _SUBJECTS.items()}}
"""The English names that every wiki understands, in addition to its own."""

_BLANKS: Final = re.compile(r"[\s_]+")
_INVISIBLE: Final = re.compile("[\u200e\u200f\u202a-\u202e]")
"""Direction marks, which MediaWiki removes from titles."""


class Namespace(NamedTuple):
    """One name of a namespace, with spaces; the main one is ''. Of each namespace one name is no alias: it is shown.

    `is_cased`: the case of a title's first letter counts; in others titles begin with a capital letter.
    """

    number: int
    name: Annotated[str, Meta(max_length=1_000)]
    is_alias: bool = False
    is_cased: bool = False


class PageSpot(NamedTuple):
    """The place of a page: its namespace, and its title with spaces and without prefix."""

    namespace: int
    title: str


class NamespaceNames:
    """The names of one wiki's namespaces, on top of those that every wiki has."""

    def __init__(self, listed: Iterable[Namespace] = ()) -> None:
        own = list(listed)
        self._shown = {**CANONICAL, MAIN: "", **{each.number: each.name for each in own if not each.is_alias}}
        self._cased = frozenset(each.number for each in own if each.is_cased)
        self._numbers = {name.casefold(): number for number, name in CANONICAL.items()}
        self._numbers |= {each.name.casefold(): each.number for each in own if each.name}
        self.is_known = bool(own)

    def knows(self, number: int) -> bool:
        """True if the wiki's name of this namespace is known, or not needed: the main one has no name."""
        return number == MAIN or (self.is_known and number in self._shown)

    def prefixed(self, namespace: int, title: str) -> str:
        """The title with its namespace's prefix; with the number where no name of it is known."""
        if namespace == MAIN:
            return title
        return f"{self._shown.get(namespace, namespace)}:{title}"

    def spots(self, text: str) -> list[PageSpot]:
        """The possible places of the page with that title, the likelier one first; none for an impossible title."""
        text = _BLANKS.sub(" ", _INVISIBLE.sub("", text.partition("#")[0])).strip().removeprefix(":").lstrip()
        prefix, colon, rest = text.partition(":")
        number = self._numbers.get(prefix.strip().casefold(), MAIN) if colon else MAIN
        title = (rest if number != MAIN else text).strip()
        if not title:
            return []
        forms = [title] if number in self._cased else dict.fromkeys((title, capitalized(title)))
        return [PageSpot(number, form) for form in forms]


def capitalized(title: str) -> str:
    """The title with a capital letter first, where that is one letter."""
    first = title[:1].upper()
    return first + title[1:] if len(first) == 1 else title
