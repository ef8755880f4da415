"""Jobs for a process of its own, where the engine of ``weboid/bot`` does them: a repair, and a look at an edit."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from weboid.bot.answers import read_pages
from weboid.bot.choices import ChoiceRefused, with_choices
from weboid.bot.repair import BOT, RepairedPage, repair
from weboid.bot.reverts import changed_links
from weboid.core.wikitext.settings import WikiSettings
from weboid.mechanism.helper_process import serve

MOST_LEFT: Final = 2_000
"""Links that were left alone, of which an answer has no more."""
_MOST_SEEN: Final = 100
"""Links of an edit, and pieces of its text."""
_LONGEST: Final = 2_000
"""Characters of a piece."""
_AROUND: Final = 100
_CPU_S: Final = 10.0
_MEMORY_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class RepairJob:
    """A page to repair: `links` as answers of ``/api/page`` have them, `choices` by URL."""

    text: str
    settings: WikiSettings
    links: list[dict[str, Any]]
    choices: Mapping[str, str]
    only_chosen: bool
    now: datetime

    def done(self) -> RepairedPage | ChoiceRefused:
        """The repaired page, or the choice that was refused."""
        try:
            known = with_choices(
                read_pages([{"links": self.links}], self.now), self.choices, only_chosen=self.only_chosen
            )
        except ChoiceRefused as refused:
            return refused
        page = repair(self.text, self.settings, known, now=self.now, by_hand=True)
        return replace(page, left=tuple(dict.fromkeys(page.left))[:MOST_LEFT])


class SeenPiece(NamedTuple):
    """The difference between two texts in some lines, with a little of the text around it."""

    lead: str
    before: str
    after: str
    tail: str


@dataclass(frozen=True, slots=True)
class SeenEdit:
    """An edit as its texts show it: the links, by normal form, that it shows otherwise, and the pieces that differ."""

    links: tuple[str, ...]
    pieces: tuple[SeenPiece, ...]


@dataclass(frozen=True, slots=True)
class EditJob:
    """Two texts to compare; lines that differ are those of the wiki."""

    before: str
    after: str
    settings: WikiSettings

    def done(self) -> SeenEdit:
        """The edit as it is seen, within the bounds of a page for people."""
        links = changed_links(self.before, self.after, self.settings, BOT)
        old, new = self.before.split("\n"), self.after.split("\n")
        pieces = [
            _piece("\n".join(old[start:end]), "\n".join(new[begin:stop]))
            for word, start, end, begin, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
            if word != "equal"
        ]
        return SeenEdit(tuple(links[:_MOST_SEEN]), tuple(pieces[:_MOST_SEEN]))


def _piece(before: str, after: str) -> SeenPiece:
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    lead, tail = before[:start], before[len(before) - end :]
    old, new = (text[start : len(text) - end] for text in (before, after))
    return SeenPiece(
        lead if len(lead) <= _AROUND else f"…{lead[-_AROUND:]}",
        old if len(old) <= _LONGEST else f"{old[:_LONGEST]}…",
        new if len(new) <= _LONGEST else f"{new[:_LONGEST]}…",
        tail if len(tail) <= _AROUND else f"{tail[:_AROUND]}…",
    )


def _common(one: str, other: str) -> int:
    """The length of what two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _answer(job: bytes) -> bytes:
    return pickle.dumps(pickle.loads(job).done())


if __name__ == "__main__":
    serve(_answer, cpu_s=_CPU_S, memory_bytes=_MEMORY_BYTES)
