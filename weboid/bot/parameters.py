"""Writes parameters of a template by offset (B-5), in its own spacing; all else stays byte for byte."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from weboid.core.wikitext.nodes import BLANKS, COMMENT, ParameterNode, TemplateNode


class TextEdit(NamedTuple):
    """The replacement of the text between `start` and `end` by `text`."""

    start: int
    end: int
    text: str


class _Style(NamedTuple):
    """The blanks around a parameter: before ``|``, before and after its name, before its value; `name_width` = the
    names are padded to it, so that the ``=`` are in one column (0 = they are not)."""

    before: str
    lead: str
    before_equals: str
    after_equals: str
    name_width: int

    def written(self, name: str, value: str) -> str:
        padding = self.before_equals
        if self.name_width:
            padding = " " * max(self.name_width - len(name), min(1, len(self.before_equals)))
        return f"{self.before}|{self.lead}{name}{padding}={self.after_equals}{value}"


class TemplateEditor:
    """Collects the changes of one template."""

    def __init__(self, text: str, template: TemplateNode) -> None:
        self._text = text
        self._template = template
        self._style = _style(text, template)
        self._edits: list[TextEdit] = []
        self._added: list[str] = []
        self._removed: set[int] = set()

    def set(self, parameter: ParameterNode, value: str) -> bool:
        """Gives a parameter that is there a value; its comments stay. False if there is no one place or name for it."""
        raw = self._text[parameter.value_start : parameter.end]
        pieces = [found for found in _pieces(raw) if raw[found[0] : found[1]].strip(BLANKS)]
        if len(pieces) > 1 or (parameter.equals is None and "=" in value):
            return False
        if pieces:
            begin, end = pieces[0]
            piece = raw[begin:end]
            begin += len(piece) - len(piece.lstrip(BLANKS))
            end -= len(piece) - len(piece.rstrip(BLANKS))
            self._edits.append(TextEdit(parameter.value_start + begin, parameter.value_start + end, value))
            return True
        after = self._style.after_equals
        if "<!--" in raw:
            self._edits.append(TextEdit(parameter.value_start, parameter.value_start, after + value))
            return True
        begin = self._value_end(parameter)
        is_full = begin == parameter.end and begin < self._template.end - 2
        gap = self._style.before if is_full else ""
        self._edits.append(TextEdit(parameter.value_start, begin, after + value + gap))
        return True

    def rename(self, parameter: ParameterNode, name: str) -> None:
        """Gives a named parameter another name; the blanks around it stay."""
        assert parameter.equals is not None, "a number is no name"
        raw = self._text[parameter.start + 1 : parameter.equals]
        begin = parameter.start + 1 + len(raw) - len(raw.lstrip(BLANKS))
        self._edits.append(TextEdit(begin, begin + len(raw.strip(BLANKS)), name))

    def add(self, name: str, value: str) -> None:
        """Adds a parameter behind the last named one."""
        self._added.append(self._style.written(name, value))

    def remove(self, parameter: ParameterNode) -> None:
        """Removes a parameter with the blanks that belong to it."""
        self._removed.add(parameter.start)
        start, end = parameter.start, parameter.end
        if end == self._template.end - 2:
            # The blanks before the closing braces stay, those before the parameter go.
            start, end = start - _blanks_before(self._text, start), self._value_end(parameter)
        self._edits.append(TextEdit(start, end, ""))

    def edits(self) -> Iterator[TextEdit]:
        """The changes as edits of the text."""
        yield from self._edits
        if self._added:
            place = self._end_of_named()
            yield TextEdit(place, place, "".join(self._added))

    def _end_of_named(self) -> int:
        named = [each for each in self._template.parameters if each.equals is not None]
        kept = [each for each in named if each.start not in self._removed]
        if kept:
            return self._value_end(kept[-1])
        name = self._text[self._template.start : self._template.name_end]
        return self._template.start + len(name.rstrip(BLANKS))

    def _value_end(self, parameter: ParameterNode) -> int:
        """The end of a value; without one, the end of the blanks that lead to where it would be."""
        raw = self._text[parameter.value_start : parameter.end]
        value = raw.rstrip(BLANKS)
        if not value and raw.startswith(self._style.after_equals):
            value = self._style.after_equals
        return parameter.value_start + len(value)


def _style(text: str, template: TemplateNode) -> _Style:
    named = [each for each in template.parameters if each.equals is not None]
    before: Counter[str] = Counter()
    names: Counter[tuple[str, str]] = Counter()
    values: Counter[str] = Counter()
    columns = []
    for each in named:
        assert each.equals is not None, "they were chosen by it"
        before[_blanks(text, each.start)] += 1
        raw = text[each.start + 1 : each.equals]
        names[raw[: len(raw) - len(raw.lstrip(BLANKS))], raw[len(raw.rstrip(BLANKS)) :]] += 1
        columns.append(len(raw.lstrip(BLANKS)))
        value = text[each.value_start : each.end]
        lead = value[: len(value) - len(value.lstrip(BLANKS))]
        if value.strip(BLANKS) and "\n" not in lead:
            values[lead] += 1
    lead, before_equals = names.most_common(1)[0][0] if names else ("", "")
    after_equals = values.most_common(1)[0][0] if values else before_equals
    separator = before.most_common(1)[0][0] if before else ""
    return _Style(separator, lead, before_equals, after_equals, _column(columns, named))


def _column(columns: list[int], named: list[ParameterNode]) -> int:
    """The width of names with the blanks behind them, if it is the same for most though the names are not."""
    if len(columns) < 2:
        return 0
    width, times = Counter(columns).most_common(1)[0]
    aligned = {len(each.name) for each, column in zip(named, columns, strict=True) if column == width}
    return width if times * 2 > len(columns) and len(aligned) > 1 else 0


def _pieces(raw: str) -> Iterator[tuple[int, int]]:
    """The spans between the comments."""
    place = 0
    for comment in COMMENT.finditer(raw):
        yield place, comment.start()
        place = comment.end()
    yield place, len(raw)


def _blanks(text: str, end: int) -> str:
    return text[end - _blanks_before(text, end) : end]


def _blanks_before(text: str, end: int) -> int:
    start = end
    while start > 0 and text[start - 1] in BLANKS:
        start -= 1
    return end - start
