"""Shows dead links at a terminal: a line each in colour, and a table of counts at the end. Pure.

Text of strangers is shown as plain text: no control characters, no colours of theirs.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from weboid_scripts.weblinks.dead_links import LinkJudgement, LinkStanding
from weboid_scripts.weblinks.talk import TalkAction

_COLOURS: Final = {
    LinkStanding.DEAD: "lightred",
    LinkStanding.RECENT: "lightyellow",
    LinkStanding.FAILING: "lightyellow",
}
_COLOUR_TAG: Final = re.compile(r"<(?=<)")


@dataclass(slots=True)
class Counts:
    """The counts of a run."""

    pages: int = 0
    links: Counter[LinkStanding] = field(default_factory=Counter)
    talk: Counter[TalkAction] = field(default_factory=Counter)

    def table(self) -> str:
        """The counts as a table; of talk pages only what was done."""
        rows = [("pages", self.pages), ("links", self.links.total())]
        rows += [(f"  {standing.value}", self.links[standing]) for standing in LinkStanding]
        rows += [(f"reports {action.value}", self.talk[action]) for action in TalkAction if self.talk[action]]
        width = max(len(name) for name, _ in rows)
        digits = max(len(f"{count:,}") for _, count in rows)
        return "\n".join(f"{name:<{width}}  {count:>{digits},}" for name, count in rows)


def link_line(title: str, found: LinkJudgement) -> str | None:
    """The line of a link of a page, as weblinkchecker writes it, and more; None for one that is not shown."""
    colour = _COLOURS.get(found.standing)
    if colour is None:
        return None
    why = " ".join(filter(None, (str(found.http or ""), found.why))) or "no reason given"
    facts = [f"{found.standing.value}: {why}"]
    if found.since is not None:
        facts.append(f"since {found.since.isoformat()}")
    if found.link.has_copy:
        facts.append("the page has a copy")
    elif found.copies:
        facts.append(f"copies: {' '.join(found.copies)}")
    if found.link.is_tagged:
        facts.append("tagged")
    return f"*[[{shown(title)}]] links to <<{colour}>>{shown(found.link.url)}<<default>> - {shown(', '.join(facts))}"


def shown(text: str) -> str:
    """A stranger's text without what a terminal or pywikibot would take for more."""
    return _COLOUR_TAG.sub("<U+003C>", "".join(_visible(each) for each in text))


def _visible(character: str) -> str:
    return character if character.isprintable() else f"<U+{ord(character):04X}>"
