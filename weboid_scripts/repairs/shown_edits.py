"""Shows an edit to the operator: as pywikibot's difference of texts, or link by link where that takes too long.

Pywikibot compares changed lines letter by letter: 800 of them, or one with 400 links, take minutes (measured).
"""

from typing import Final

import pywikibot

from weboid.bot.repair import RepairedPage

_MOST_CHANGES: Final = 50
_MOST_LINE: Final = 10_000
"""Characters of a line. Both together take a second at most."""


def show_edit(before: str, repaired: RepairedPage) -> None:
    """Shows what becomes of the text `before`."""
    longest = max(map(len, before.splitlines()), default=0)
    if len(repaired.changes) <= _MOST_CHANGES and longest <= _MOST_LINE:
        pywikibot.showDiff(before, repaired.text)
        return
    for change in repaired.changes:
        pywikibot.info(f"{change.action.value}: {change.why}\n- {change.before}\n+ {change.after}")
