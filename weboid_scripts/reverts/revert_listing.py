"""The table of reverts that operators read: one line each, in columns, safe for a terminal."""

from collections.abc import Iterable, Sequence
from typing import Final

from weboid.bot.reverts import RevertReason, RevertVerdict
from weboid_scripts.journal.journal import Edit, NotedRevert

_HEAD: Final = ("Reverted", "By", "Page", "Our revision", "Link", "How", "Probably because", "Reported")
_HOW: Final = {
    RevertVerdict.REVERTED: "as before",
    RevertVerdict.CHANGED: "otherwise",
    RevertVerdict.GONE: "removed",
}
_WHY: Final = {
    RevertReason.VANDALISM_REVERT: "others were meant",
    RevertReason.WHOLE_PAGE: "the whole edit was undone",
    RevertReason.LINK_WORKS: "the link works",
    RevertReason.WRONG_COPY: "the copy is wrong",
    RevertReason.STYLE: "it was written otherwise",
    RevertReason.LINK_REMOVED: "the link was removed",
    RevertReason.UNKNOWN: "unknown",
}
_WIDEST: Final = 60


def table_of(reverts: Iterable[tuple[Edit, NotedRevert]]) -> list[str]:
    """The lines of the table, with its head; none if there are no reverts."""
    rows = [_row(edit, revert) for edit, revert in reverts]
    if not rows:
        return []
    widths = [max(len(row[column]) for row in (_HEAD, *rows)) for column in range(len(_HEAD))]
    return [_line(row, widths) for row in (_HEAD, *rows)]


def printable(text: str) -> str:
    """A text of strangers on one line, without what a terminal or pywikibot's colours would obey."""
    return "".join(letter if letter.isprintable() else "�" for letter in text).replace("<<", "< <")


def _row(edit: Edit, revert: NotedRevert) -> tuple[str, ...]:
    cells = (
        revert.moment.strftime("%Y-%m-%d %H:%M"),
        revert.reverter or "(hidden)",
        edit.title,
        str(edit.revision),
        revert.url,
        _HOW.get(RevertVerdict(revert.verdict), revert.verdict),
        _WHY.get(RevertReason(revert.why), revert.why),
        _report_of(revert),
    )
    return tuple(_cut(printable(cell)) for cell in cells)


def _report_of(revert: NotedRevert) -> str:
    if revert.released is not None:
        return "released"
    if revert.state is not None:
        return revert.state
    if not revert.is_false_positive:
        return "no need"
    return "not yet" if revert.reverter else "cannot be"


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
