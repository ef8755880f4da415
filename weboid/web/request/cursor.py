"""Cursors: the places where lists continue, as answers give and requests send them (``after``, ``since`` …).

A cursor is readable text: integers within bounds, then perhaps a text, with dots between them. Their meaning, and
whether the list has such a place, is known to the module of the list.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from weboid.web.request.parameters import Parameters
from weboid.web.request.problem import Problem

PAGES: Final = range(2**31)
"""Ids of pages and wikis as the store has them."""

INT64: Final = range(-(2**63), 2**63)
"""Keys of URLs and their parts."""


class CursorParts(NamedTuple):
    """The numbers of a cursor, and its text, empty if it has none."""

    numbers: tuple[int, ...]
    text: str = ""


class Cursor:
    """The syntax of a list's cursors: a number for each range, then a text of the pattern `text`, if one is given.

    No cursor is longer than its ranges and its pattern allow.
    """

    def __init__(self, *numbers: range, text: str = "") -> None:
        patterns = [f"({'-?' if bounds.start < 0 else ''}[0-9]{{1,{len(str(bounds[-1]))}}})" for bounds in numbers]
        self._pattern = re.compile(r"\.".join([*patterns, f"({text})"] if text else patterns), re.DOTALL)
        self._numbers = numbers

    def text_of(self, *parts: int | str) -> str:
        """The cursor with these numbers, and this text at the end."""
        return ".".join(map(str, parts))

    def parts_of(self, text: str) -> CursorParts | None:
        """The parts of a cursor, None if it does not have this syntax or a number is out of its range."""
        if (match := self._pattern.fullmatch(text)) is None:
            return None
        count = len(self._numbers)
        numbers = tuple(map(int, match.groups()[:count]))
        if not all(number in bounds for number, bounds in zip(numbers, self._numbers, strict=True)):
            return None
        return CursorParts(numbers, "".join(match.groups()[count:]))

    def parts_in(
        self, given: Parameters, name: str = "after", *, fits: Callable[[str], bool] = lambda _: True
    ) -> CursorParts | None:
        """The parts of the cursor in a request, None if it has none; raises Problem, also if its text does not fit."""
        if name not in given:
            return None
        parts = self.parts_of(given[name])
        if parts is None or not fits(parts.text):
            raise Problem(404, "after", name)
        return parts
