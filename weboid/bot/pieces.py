"""Applies edits, and finds the pieces of a text that repairs have changed, over all passes.

Outside of the pieces both texts are the same: the text is put together again from what lies between the pieces and
their `after`. Repairs that touch the same place share a piece.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from weboid.bot.parameters import TextEdit

_Span = tuple[int, int]


class EditedPiece(NamedTuple):
    """A piece of a text that begins at `start`, before and after the repair."""

    start: int
    before: str
    after: str


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with all edits; of edits that overlap (blanks that two of them take out) the later begins later."""
    parts, place = [], 0
    for edit in _apart(edits):
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join([*parts, text[place:]])


def pieces_of(
    text: str, repaired: str, passes: Sequence[Sequence[TextEdit]], spans: Sequence[Sequence[_Span]]
) -> list[EditedPiece]:
    """The piece that each span is in; `spans` are places in the text of each pass, as are its edits."""
    back: list[_Moved] = []
    grown: list[tuple[_Span, int]] = []
    first: list[_Span] = []
    for edits, of_pass in zip(passes, spans, strict=True):
        apart = _apart(edits)
        first += [_first(span, back) for span in of_pass]
        grown += [(_first((edit.start, edit.end), back), len(edit.text) - (edit.end - edit.start)) for edit in apart]
        back.append(_Moved(apart))
    grown += [(span, 0) for span in first]
    pieces: dict[int, EditedPiece] = {}
    shift = 0
    for start, end, growth in _joined(grown):
        begin = start + shift
        pieces[start] = EditedPiece(start, text[start:end], repaired[begin : begin + end - start + growth])
        shift += growth
    starts = sorted(pieces)
    return [pieces[starts[bisect_right(starts, start) - 1]] for start, _ in first]


class _Moved:
    """The places of a text after some edits, by their places before them."""

    def __init__(self, edits: Sequence[TextEdit]) -> None:
        self._edits = edits
        growth = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in edits)]
        self._growth = growth
        self._begins = [edit.start + grown for edit, grown in zip(edits, growth, strict=False)]

    def before(self, place: int, *, is_end: bool) -> int:
        """The place before the edits; of one inside of an edit where that begins, or its end."""
        at = bisect_right(self._begins, place) - 1
        if at < 0:
            return place
        edit = self._edits[at]
        if place - self._begins[at] < len(edit.text) or (is_end and place == self._begins[at] + len(edit.text)):
            return edit.end if is_end else edit.start
        return place - self._growth[at + 1]


def _first(span: _Span, back: Sequence[_Moved]) -> _Span:
    """The span of the first text from which a later one was made."""
    start, end = span
    for moved in reversed(back):
        start, end = moved.before(start, is_end=False), moved.before(end, is_end=True)
    return start, max(start, end)


def _joined(grown: Iterable[tuple[_Span, int]]) -> list[tuple[int, int, int]]:
    """The spans that touch or overlap as one, in order, each with the sum of what they grow by."""
    joined: list[tuple[int, int, int]] = []
    for (start, end), growth in sorted(grown):
        if joined and start <= joined[-1][1]:
            begin, last, before = joined[-1]
            joined[-1] = begin, max(last, end), before + growth
        else:
            joined.append((start, end, growth))
    return joined


def _apart(edits: Iterable[TextEdit]) -> list[TextEdit]:
    """The edits in order, without what two of them take out."""
    apart: list[TextEdit] = []
    place = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        start = max(edit.start, place)
        place = max(edit.end, place)
        apart.append(TextEdit(start, place, edit.text))
    return apart
