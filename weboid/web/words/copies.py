"""The words about copies in web archives: their dates and distances, why there is none (A-1, W-8).

Each state of the core has a message of its own, so that "none" is never shown if no archive answered.
"""

from collections.abc import Callable
from typing import Final

from markupsafe import Markup

from weboid.core.archive.choice import Note
from weboid.core.archive.copies import Copies, CopyOrigin, CopyState, DistanceTo, ShownSnapshot
from weboid.core.record.days import days_from_epoch
from weboid.core.url.archives import Snapshot
from weboid.core.verdict.link_report import LinkReport
from weboid.web.words.messages import Messages, Parameter, counted

_NOTES: Final = {
    Note.REDIRECTS: "weboid-copy-note-redirects",
    Note.AFTER: "weboid-copy-note-after",
    Note.SIMILAR: "weboid-copy-note-similar",
    Note.BEFORE: "weboid-copy-note-before",
}
_ORIGINS: Final = {CopyOrigin.SUGGESTED: "weboid-copy-suggested", CopyOrigin.CITED: "weboid-copy-cited"}
_ASKED_AGAIN: Final = frozenset({CopyState.UNKNOWN, CopyState.ERROR})


def snapshot_words(shown: ShownSnapshot, say: Messages) -> str:
    """The date of a copy and its archive."""
    if shown.taken is None:
        return say.text("weboid-copy-undated", shown.service.title)
    return say.text("weboid-copy", say.date(days_from_epoch(shown.taken)), shown.service.title)


def distance_words(shown: ShownSnapshot, say: Messages) -> str | None:
    """The time before or after the citation, or the day on which the link was first seen; None if that is not known."""
    days = shown.distance_days
    if days is None:
        return None
    seen = "" if shown.distance_to is DistanceTo.CITATION else "seen-"
    if days == 0:
        return say.text(f"weboid-copy-{seen}same-day")
    unit, count = counted(abs(days))
    return say.text(f"weboid-copy-{seen}{'before' if days < 0 else 'after'}-{unit}s", count)


def remarks(shown: ShownSnapshot, say: Messages) -> list[str]:
    """Remarks on the origin and quality of a copy, as sentences."""
    keys = [_ORIGINS.get(shown.origin), _NOTES.get(shown.remark)]
    return [say.text(key) for key in keys if key]


def state_words(copies: Copies, day: int, say: Messages, when: Callable[[int], Markup] | None = None) -> str | None:
    """The reason why there is no copy to show, as a sentence or two; None if there is one.

    As HTML, if `when` writes how far away a day is.
    """
    if copies.snapshots:
        return None
    if copies.withdrawn is not None:
        return say.text("weboid-copy-withdrawn", say.date(days_from_epoch(copies.withdrawn)))
    words = say.text(f"weboid-copy-{copies.state.value}")
    if copies.state in _ASKED_AGAIN and copies.again is not None:
        again = max(copies.again, day)
        if when is not None:
            return Markup(" ").join([words, say.html("weboid-copy-again", when(again))])
        return f"{words} {say.text('weboid-copy-again', say.distance(again - day))}"
    return words


def copy_summary(link: LinkReport, day: int, say: Messages) -> str | None:
    """The copy of a link that is shown first, or why there is none, in one line; None for a link that needs none."""
    if link.copies is None:
        return None
    shown = link.copies.first
    if shown is None:
        return state_words(link.copies, day, say)
    words, distance = snapshot_words(shown, say), distance_words(shown, say)
    return say.text("weboid-copy-only", words) if distance is None else say.text("weboid-copy-told", words, distance)


def copy_parameters(copy: Snapshot, original: Parameter, say: Messages) -> tuple[str, tuple[Parameter, ...]]:
    """The message about the address of a copy, and its parameters; `original` is the archived URL as shown."""
    title = copy.archive.title
    if copy.original is None:
        return "weboid-copy-somewhere", (title,)
    if copy.taken is None:
        return "weboid-copy-of", (original, title)
    return "weboid-copy-of-dated", (original, say.date(days_from_epoch(copy.taken)), title)
